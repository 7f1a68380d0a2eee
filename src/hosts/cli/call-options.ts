import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { invalidParameter, messageOf } from '../../errors.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { Arguments } from './arguments.js';

/** Options that describe a call. */
export const CALL_OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  value: { type: 'string' },
  data: { type: 'string' },
  gas: { type: 'string' },
  nonce: { type: 'string' },
  'gas-price': { type: 'string' },
  'max-fee': { type: 'string' },
  'priority-fee': { type: 'string' },
  call: { type: 'string' },
} as const;

export const CALL_HELP = ` the call
  --from HEX --to HEX   sender and recipient, 20 bytes; without --to, a contract is created
  --value AMOUNT        wei, or an amount with its unit: 0.1ether, 5gwei
  --data HEX            calldata
  --gas N --nonce N     gas limit and nonce that will be signed
  --max-fee AMOUNT --priority-fee AMOUNT, or --gas-price AMOUNT
                        prices that will be signed, per gas
  --call FILE           a JSON file with the call, in the form of eth_call; - reads standard input`;

type Values = Arguments<typeof CALL_OPTIONS>['values'];

const UNITS: Readonly<Record<string, number>> = { '': 0, wei: 0, gwei: 9, ether: 18, eth: 18 };

/** Wei of `12`, `0x0c`, `5gwei` or `0.1ether`. @throws PlumblineError `INVALID_PARAMETER` */
function amount(option: string, given: string): bigint {
  const [, hex, whole = '', fraction = '', unit = ''] =
    /^(?:(0x[0-9a-f]{1,64})|(\d{1,78})(?:\.(\d{1,18}))?(wei|gwei|ether|eth)?)$/i.exec(given) ?? [];
  if (hex !== undefined) return BigInt(hex);
  const places = UNITS[unit.toLowerCase()]!;
  if (whole !== '' && fraction.length <= places) return BigInt(whole + fraction.padEnd(places, '0'));
  throw invalidParameter(`--${option}`, `must be wei, or an amount with wei, gwei or ether, got ${given}`);
}

/**
 * The call of the options, or what the file of `--call` holds. The node checks its members.
 *
 * @returns undefined where no option describes a call
 * @throws PlumblineError `INVALID_PARAMETER`
 */
export async function readCall(values: Values): Promise<object | undefined> {
  const { call, from, to, data, gas, nonce } = values;
  const quantity = (option: keyof typeof CALL_OPTIONS, member: string) => {
    const given = values[option];
    return given === undefined ? {} : { [member]: toQuantity(amount(option, given)) };
  };
  const described = {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(data !== undefined && { data }),
    ...(gas !== undefined && quantity('gas', 'gas')),
    ...(nonce !== undefined && quantity('nonce', 'nonce')),
    ...quantity('value', 'value'),
    ...quantity('gas-price', 'gasPrice'),
    ...quantity('max-fee', 'maxFeePerGas'),
    ...quantity('priority-fee', 'maxPriorityFeePerGas'),
  };
  const isDescribed = Object.keys(described).length > 0;
  if (call === undefined) return isDescribed ? described : undefined;
  if (isDescribed) throw invalidParameter('--call', 'cannot be given with the other options of the call');
  const parsed = await readJson('--call', call);
  if (typeof parsed === 'object' && parsed !== null) return parsed;
  throw invalidParameter('--call', 'must hold a JSON object');
}

/** Parsed JSON of a file, or of standard input for `-`. @throws PlumblineError `INVALID_PARAMETER` */
export async function readJson(name: string, path: string): Promise<unknown> {
  try {
    return JSON.parse(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'));
  } catch (error) {
    throw invalidParameter(name, `cannot be read: ${messageOf(error)}`);
  }
}

/**
 * The block of `--block` as a parameter: a number as a quantity, anything else as it is. The node checks it.
 *
 * @returns `latest` where the option was left out
 */
export function blockParameter(block: string | undefined): string {
  return block !== undefined && /^\d{1,15}$/.test(block) ? toQuantity(Number(block)) : (block ?? 'latest');
}
