import type { BlockOverrides } from '../evm/block-context.js';
import type { AccountOverride, StateOverrides, StorageOverride } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import {
  optional,
  parseAddress,
  parseBytes,
  parseHash,
  parseIndex,
  parseQuantity,
  requireMembers,
  requireObject,
} from './parse-params.js';
import { invalidParams } from './rpc-errors.js';

const SUBJECT = 'state override params';
const MEMBERS = ['balance', 'nonce', 'code', 'state', 'stateDiff', 'movePrecompileToAddress'];

/**
 * A state override set: an object from addresses to new values for members of the account. Slots and their values
 * have 32 bytes. Null in place of an account's members overrides nothing. The same address or slot in two spellings is refused.
 *
 * @param options.strict - unknown members are refused, too; otherwise they are ignored
 * @returns an empty list where the parameter is missing or null
 * @throws RpcError -32602 that names the address, and the member or slot
 * @source docs/spec/interface.md 2.4, docs/spec/fees.md 5.6
 */
export function parseStateOverrides(
  value: unknown,
  parameter = 'stateOverride',
  options: { readonly strict?: boolean } = {},
): StateOverrides {
  if (value === undefined || value === null) return [];
  const seen = new Set<string>();
  return Object.entries(requireObject(value, parameter, SUBJECT)).map(([key, entry]) => {
    const at = `${parameter}.${excerpt(key)}`;
    const address = parseAddress(key, at, SUBJECT);
    refuseTwice(seen, address, at);
    const members = optional(entry, (present) => requireObject(present, at, SUBJECT)) ?? {};
    if (options.strict === true) requireMembers(members, MEMBERS, at, SUBJECT);
    return parseAccountOverride(address, members, at);
  });
}

function parseAccountOverride(
  address: Uint8Array,
  entry: Readonly<Record<string, unknown>>,
  at: string,
): AccountOverride {
  const member = <K extends keyof AccountOverride>(
    name: string,
    as: K,
    parse: (present: unknown, parameter: string) => Exclude<AccountOverride[K], undefined>,
  ): Partial<Pick<AccountOverride, K>> => {
    const parsed = optional(entry[name], (present) => parse(present, `${at}.${name}`));
    return parsed === undefined ? {} : ({ [as]: parsed } as unknown as Pick<AccountOverride, K>);
  };
  return {
    address,
    ...member('balance', 'balance', (present, path) => parseQuantity(present, path, SUBJECT)),
    ...member('nonce', 'nonce', (present, path) => parseQuantity(present, path, SUBJECT, 64)),
    ...member('code', 'code', (present, path) => parseBytes(present, path, SUBJECT)),
    ...member('state', 'state', parseStorage),
    ...member('stateDiff', 'stateDiff', parseStorage),
    ...member('movePrecompileToAddress', 'movePrecompileTo', (present, path) => parseAddress(present, path, SUBJECT)),
  };
}

function parseStorage(value: unknown, at: string): StorageOverride {
  const seen = new Set<string>();
  return Object.entries(requireObject(value, at, SUBJECT)).map(([key, content]) => {
    const path = `${at}.${excerpt(key)}`;
    const slot = parseHash(key, path, SUBJECT);
    refuseTwice(seen, slot, path);
    return [slot, parseHash(content, path, SUBJECT)];
  });
}

function refuseTwice(seen: Set<string>, bytes: Uint8Array, at: string): void {
  const name = bytesToHex(bytes);
  if (seen.has(name)) throw invalidParams(at, 'is given twice', SUBJECT);
  seen.add(name);
}

/** The key, cut so that the length of a message does not depend on the input. */
function excerpt(key: string): string {
  return key.length > 80 ? `${key.slice(0, 80)}…` : key;
}

const OF_BLOCKS = 'block override params';
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
  const object = requireObject(value, PARAMETER, OF_BLOCKS);
  const member = <K extends keyof BlockOverrides>(
    name: K,
    parse: (present: unknown, path: string, subject: string) => Exclude<BlockOverrides[K], undefined>,
  ): Pick<BlockOverrides, K> | Record<never, never> => {
    const parsed = optional(object[name], (present) => parse(present, `${PARAMETER}.${name}`, OF_BLOCKS));
    return parsed === undefined ? {} : { [name]: parsed };
  };
  for (const name of UNSUPPORTED) {
    if (object[name] !== undefined && object[name] !== null) {
      throw invalidParams(`${PARAMETER}.${name}`, 'is not supported', OF_BLOCKS);
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
