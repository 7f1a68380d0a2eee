import { readFile } from 'node:fs/promises';
import { invalidParameter, messageOf, type PlumblineError } from '../../errors.js';
import { devnet } from '../../networks/devnet.js';
import { GAS_SEARCHES } from '../../networks/gas-searches.js';
import { HARDFORKS, type Network, requireBeaconNetwork } from '../../networks/network.js';
import { NETWORKS } from '../../networks/networks.js';
import { hexToBytes } from '../../primitives/hex.js';

/** Checks one value of a profile, and gives it as the code has it. @throws PlumblineError that names the path */
type Read = (value: unknown, path: string) => unknown;

const text: Read = (value, path) => {
  if (typeof value !== 'string') throw wrong(path, 'must be text');
  return value;
};

const flag: Read = (value, path) => {
  if (typeof value !== 'boolean') throw wrong(path, 'must be true or false');
  return value;
};

/** A count, a size, a number of a block or a time. */
const whole =
  (least = 0): Read =>
  (value, path) => {
    if (!Number.isSafeInteger(value) || (value as number) < least) {
      throw wrong(path, `must be a whole number from ${least} to 2^53 - 1`);
    }
    return value;
  };

const factor: Read = (value, path) => {
  if (!Number.isFinite(value) || (value as number) <= 0) throw wrong(path, 'must be a number above 0');
  return value;
};

/** A bigint in the code: a number, or decimal or hex text in the file. */
const amount =
  (bits: number): Read =>
  (value, path) => {
    const digits = typeof value === 'string' && /^(0x[0-9a-f]{1,64}|\d{1,78})$/i.test(value);
    const number = digits || (Number.isSafeInteger(value) && (value as number) >= 0) ? BigInt(value as string) : -1n;
    if (number >= 0n && number >> BigInt(bits) === 0n) return number;
    throw wrong(path, `must be an integer from 0 to 2^${bits} - 1, as a number or as decimal or hex text`);
  };

const hex =
  (length: number): Read =>
  (value, path) => {
    try {
      hexToBytes(value as string, length);
      return value;
    } catch (cause) {
      throw wrong(path, `must be hex of ${length} bytes with 0x`, cause);
    }
  };

const oneOf =
  (...names: readonly string[]): Read =>
  (value, path) => {
    if (!names.includes(value as string)) throw wrong(path, `must be one of ${names.join(', ')}`);
    return value;
  };

const listOf =
  (item: Read, least = 0): Read =>
  (value, path) => {
    if (!Array.isArray(value) || value.length < least) throw wrong(path, `must be a list of at least ${least} items`);
    return value.map((inner, i) => item(inner, `${path}[${i}]`));
  };

/** An object with these members: `required` ones, `optional` ones, no others. */
const members =
  (required: Readonly<Record<string, Read>>, optional: Readonly<Record<string, Read>> = {}): Read =>
  (value, path) => {
    const at = (name: string) => (path === '' ? name : `${path}.${name}`);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw wrong(path === '' ? 'the file' : path, 'must be an object');
    }
    for (const name of Object.keys(required)) if (!Object.hasOwn(value, name)) throw wrong(at(name), 'is missing');
    const reads = { ...required, ...optional };
    const entries = Object.entries(value).map(([name, inner]) => {
      if (!Object.hasOwn(reads, name)) throw wrong(at(name), 'is not a member of a profile');
      return [name, reads[name]!(inner, at(name))];
    });
    return Object.fromEntries(entries);
  };

const gas = amount(63);
const wei = amount(256);
const prices = { fixedCostWei: wei, variableCostWei: wei, minGasPriceWei: wei };

const PRICING: Readonly<Record<string, Read>> = {
  'extra-data': members({ model: text, defaults: members(prices), estimateMargin: factor }),
  'verification-cost': members({
    model: text,
    variant: oneOf('A', 'B', 'C'),
    verificationGasCost: factor,
    verificationCapacity: factor,
    gasPriceRatio: factor,
    gasPriceAdjustmentWei: wei,
    minGasPriceWei: wei,
    estimateMargin: factor,
    floor: flag,
  }),
};

const PROFILE: { readonly [Member in keyof Required<Network>]: Read } = {
  name: text,
  chainId: whole(1),
  methodPrefix: text,
  baseFeePerGas: wei,
  forks: listOf(
    members(
      { hardfork: oneOf(...HARDFORKS) },
      {
        block: whole(),
        timestamp: whole(),
        netsplit: whole(),
        blobs: members({ target: whole(), max: whole(), baseFeeUpdateFraction: wei }),
      },
    ),
    1,
  ),
  blockRewards: flag,
  depositContract: hex(20),
  blockGasLimit: gas,
  txGasLimit: gas,
  calldataLimit: whole(),
  pool: members({}, { deniedAddresses: listOf(hex(20)), delegationsRefused: flag, margin: factor }),
  blockMargin: factor,
  rpcGasCap: gas,
  slotSeconds: whole(1),
  gasSearch: oneOf(...GAS_SEARCHES),
  pastNonces: oneOf('refused', 'ignored'),
  besuVersion: oneOf('26.8', '26.9'),
  equalTimestamps: oneOf('allowed', 'refused'),
  accessLists: oneOf('complete'),
  pricing(value, path) {
    const { model } = Object(value) as { model?: unknown };
    oneOf(...Object.keys(PRICING))(model, `${path}.model`);
    return PRICING[model as string]!(value, path);
  },
  sizing: oneOf('current', 'signed'),
  hashSchemes: listOf(members({ fromBlock: whole(), scheme: oneOf('poseidon2', 'mimc') }), 1),
  dictionary: members({ name: text, sha256: hex(32), byteLength: whole(1) }, { url: text, mirrors: listOf(text) }),
  layerOne(value, path) {
    if (typeof value !== 'object') return oneOf('mainnet', 'sepolia', 'hoodi', 'simulated')(value, path);
    try {
      requireBeaconNetwork(value, path);
    } catch (cause) {
      const { parameter, reason } = (cause as PlumblineError<'INVALID_PARAMETER'>).details;
      throw wrong(parameter, reason, cause);
    }
    return value;
  },
  rollup: members(
    { address: hex(20), currentBlockSlot: wei, stateRootsSlot: wei },
    { blockHashesSlot: wei, rootDepthsSlot: wei, claimedSlot: wei },
  ),
  checkpoint: hex(32),
  sealing: members(
    {},
    {
      clique: members({ signers: listOf(hex(20), 1), lastBlock: whole(), epochLength: whole(1) }),
      maru: members({ validators: listOf(hex(20), 1) }),
    },
  ),
  moduleLimits(value, path) {
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    return members({}, Object.fromEntries(names.map((name) => [name, whole()])))(value, path);
  },
  messageService: hex(20),
  tokenBridge: members({ address: hex(20), layerOne: hex(20) }),
  ens: members({ registry: hex(20) }),
};

/**
 * Reads a network profile: the members of `Network` as JSON, over those of the devnet's profile. One that is null is left out.
 *
 * @throws PlumblineError `INVALID_PARAMETER`, which names the member
 */
export async function readNetwork(path: string): Promise<Network> {
  let profile: unknown;
  try {
    profile = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw invalidParameter(
      '--network',
      `is neither the name of a network nor a file with a profile: ${messageOf(error)}`,
    );
  }
  const removed = Object.entries(Object(profile) as object).flatMap(([name, value]) => (value === null ? [name] : []));
  const kept = (network: object) =>
    Object.fromEntries(Object.entries(network).filter(([name]) => !removed.includes(name)));
  const own = members({}, PROFILE)(removed.length > 0 ? kept(profile as object) : profile, '');
  return { ...kept(devnet()), ...(own as object) } as unknown as Network;
}

/** The profile of a network by its name, or of a file. @throws PlumblineError as `readNetwork` */
export async function namedNetwork(name: string): Promise<Network> {
  return Object.hasOwn(NETWORKS, name) ? NETWORKS[name as keyof typeof NETWORKS] : readNetwork(name);
}

function wrong(member: string, reason: string, cause?: unknown) {
  return invalidParameter('--network', `does not hold a network profile: ${member} ${reason}`, { cause });
}
