import type { BlockOverrides } from '../../evm/block-overrides.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { optional, parseAddress, parseHash, parseIndex, parseQuantity, requireObject } from './parse-params.js';

const SUBJECT = 'block override params';
const PARAMETER = 'blockOverrides';

/** Members of block overrides. */
export const BLOCK_OVERRIDES: readonly string[] = [
  ...['number', 'time', 'gasLimit', 'difficulty', 'feeRecipient', 'prevRandao', 'baseFeePerGas', 'blobBaseFee'],
];

/** Members that geth knows and refuses here. */
const UNSUPPORTED = ['beaconRoot', 'withdrawals'];

/**
 * The block overrides of `eth_call` and `eth_estimateGas`. Unknown members are ignored.
 *
 * @returns undefined where the parameter is missing or null
 * @throws RpcError -32602 that names the member
 * @source docs/spec/fees.md 5.6
 */
export function parseBlockOverrides(value: unknown): BlockOverrides | undefined {
  if (value === undefined || value === null) return undefined;
  const object = requireObject(value, PARAMETER, SUBJECT);
  const member = <K extends keyof BlockOverrides>(
    name: K,
    parse: (present: unknown, path: string, subject: string) => Exclude<BlockOverrides[K], undefined>,
  ): Pick<BlockOverrides, K> | Record<never, never> => {
    const parsed = optional(object[name], (present) => parse(present, `${PARAMETER}.${name}`, SUBJECT));
    return parsed === undefined ? {} : { [name]: parsed };
  };
  for (const name of UNSUPPORTED) {
    if (object[name] !== undefined && object[name] !== null) {
      throw invalidParams(`${PARAMETER}.${name}`, 'is not supported', SUBJECT);
    }
  }
  return {
    ...member('number', parseIndex),
    ...member('time', parseIndex),
    ...member('gasLimit', (present, path, subject) => parseQuantity(present, path, subject, 64)),
    ...member('difficulty', parseQuantity),
    ...member('feeRecipient', parseAddress),
    ...member('prevRandao', parseHash),
    ...member('baseFeePerGas', parseQuantity),
    ...member('blobBaseFee', parseQuantity),
  };
}
