import { readFile } from 'node:fs/promises';
import { invalidParameter, messageOf } from '../../errors.js';
import { devnet } from '../../networks/devnet.js';
import { GAS_SEARCHES } from '../../networks/gas-searches.js';
import { HARDFORKS, type Network } from '../../networks/network.js';

/** Members of a profile that are bigints in the code; the file holds a number, or decimal or hex text. */
const BIG = new Set([
  'baseFeePerGas',
  'blockGasLimit',
  'txGasLimit',
  'rpcGasCap',
  'fixedCostWei',
  'variableCostWei',
  'minGasPriceWei',
  'gasPriceAdjustmentWei',
  'currentBlockSlot',
  'stateRootsSlot',
  'baseFeeUpdateFraction',
]);

/** Type of a member of a profile. */
type Kind = 'string' | 'number' | 'bigint' | 'boolean' | 'array' | 'object';

const KINDS: { readonly [Member in keyof Required<Network>]: Kind } = {
  name: 'string',
  chainId: 'number',
  methodPrefix: 'string',
  baseFeePerGas: 'bigint',
  forks: 'array',
  blockRewards: 'boolean',
  depositContract: 'string',
  blockGasLimit: 'bigint',
  txGasLimit: 'bigint',
  calldataLimit: 'number',
  pool: 'object',
  rpcGasCap: 'bigint',
  slotSeconds: 'number',
  gasSearch: 'string',
  pricing: 'object',
  sizing: 'string',
  hashSchemes: 'array',
  dictionary: 'object',
  rollup: 'object',
  sealing: 'object',
  moduleLimits: 'object',
  messageService: 'string',
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  gasSearch: GAS_SEARCHES,
  sizing: ['current', 'signed'],
  model: ['extra-data', 'verification-cost'],
  scheme: ['poseidon2', 'mimc'],
  hardfork: HARDFORKS,
};

/**
 * Reads a network profile: the members of `Network` as JSON, over those of the devnet's profile.
 *
 * @throws PlumblineError `INVALID_PARAMETER`, which names the member
 */
export async function readNetwork(path: string): Promise<Network> {
  let profile: unknown;
  try {
    profile = JSON.parse(await readFile(path, 'utf8'), revive);
  } catch (error) {
    throw invalidParameter(
      '--network',
      `is neither the name of a network nor a file with a profile: ${messageOf(error)}`,
    );
  }
  if (kindOf(profile) !== 'object') throw wrong('the file', 'must be an object');
  for (const [member, value] of Object.entries(profile as object)) {
    const kind = Object.hasOwn(KINDS, member) ? KINDS[member as keyof Network] : undefined;
    if (kind === undefined) throw wrong(member, 'is not a member of a profile');
    if (kindOf(value) !== kind) throw wrong(member, `must be of type ${kind}`);
  }
  const network = { ...devnet(), ...(profile as Partial<Network>) };
  if (network.forks.length === 0) throw wrong('forks', 'must name at least one fork');
  if (network.hashSchemes.length === 0) throw wrong('hashSchemes', 'must name at least one scheme');
  return network;
}

/** Reads big integers, and refuses words that are not among the choices of their member. */
function revive(member: string, value: unknown): unknown {
  const choices = Object.hasOwn(CHOICES, member) ? CHOICES[member] : undefined;
  if (choices !== undefined && !choices.includes(value as string))
    throw new Error(`${member} must be one of ${choices.join(', ')}`);
  if (!BIG.has(member)) return value;
  if (typeof value === 'string' && /^(0x[0-9a-f]+|\d+)$/i.test(value)) return BigInt(value);
  if (Number.isSafeInteger(value) && (value as number) >= 0) return BigInt(value as number);
  throw new Error(`${member} must be an integer from 0 on, as a number or as decimal or hex text`);
}

function kindOf(value: unknown): Kind | 'other' {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? 'number' : 'other';
  if (value === null || typeof value === 'undefined') return 'other';
  return typeof value as Kind;
}

function wrong(member: string, reason: string) {
  return invalidParameter('--network', `does not hold a network profile: ${member} ${reason}`);
}
