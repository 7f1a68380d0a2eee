import { invalidParameter } from '../errors.js';
import type { BlobSchedule } from '../ethereum/base-fee.js';
import type { HashScheme } from '../kernel/contracts.js';
import type { Hex } from '../primitives/hex.js';
import type { GasSearch } from './gas-searches.js';
import type { ModuleLimits } from './module-limits.js';

/** Forks in order of activation. `bpo1` to `bpo5` change blob parameters only. */
export const HARDFORKS = [
  'chainstart',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'muirGlacier',
  'berlin',
  'london',
  'arrowGlacier',
  'grayGlacier',
  'paris',
  'shanghai',
  'cancun',
  'prague',
  'osaka',
  'bpo1',
  'bpo2',
  'bpo3',
  'bpo4',
  'bpo5',
  'amsterdam',
] as const;

/** A fork by its name. */
export type Hardfork = (typeof HARDFORKS)[number];

/** When a fork becomes active: at a block number up to Paris, at a timestamp (seconds) after it. */
export interface ForkActivation {
  readonly hardfork: Hardfork;
  readonly block?: number;
  readonly timestamp?: number;
  /** Only for Paris: the block at which the chain splits its peers. It is part of the fork id (EIP-3675). */
  readonly netsplit?: number;
  /** Blob parameters from this fork on. Before the first fork with blob parameters, blob transactions are rejected. */
  readonly blobs?: BlobSchedule;
}

/** The operator puts its prices into each block header (docs/spec/fees.md 2, 3). */
export interface ExtraDataPricing {
  readonly model: 'extra-data';
  /** Prices as long as no header has prices, in wei. */
  readonly defaults: {
    readonly fixedCostWei: bigint;
    readonly variableCostWei: bigint;
    readonly minGasPriceWei: bigint;
  };
  /** Factor over cost in estimates. A double, as in the reference node. */
  readonly estimateMargin: number;
}

/** Prices follow from the cost of verification on layer 1 (docs/spec/fees.md 8). */
export interface VerificationCostPricing {
  readonly model: 'verification-cost';
  readonly variant: 'A' | 'B' | 'C';
  /** Layer-1 gas to verify one submission. */
  readonly verificationGasCost: number;
  /** Bytes of one submission. */
  readonly verificationCapacity: number;
  /** Layer-1 gas price, divided by the layer-2 gas price. */
  readonly gasPriceRatio: number;
  readonly gasPriceAdjustmentWei: bigint;
  readonly minGasPriceWei: bigint;
  readonly estimateMargin: number;
  /** If the fee is below `minGasPriceWei - baseFee`, it is raised to that. */
  readonly floor: boolean;
}

/** How a network prices transactions. */
export type PricingModel = ExtraDataPricing | VerificationCostPricing;

/** A compression dictionary by its checksum, and the addresses where the network publishes it. */
export interface DictionaryReference {
  readonly name: string;
  readonly sha256: Hex;
  readonly byteLength: number;
  readonly url?: string;
  /** More addresses of the same bytes. They are tried in order if `url` does not give the bytes. */
  readonly mirrors?: readonly string[];
}

/** Rules of the pool, in addition to the limits of its network. A rule that is left out is not applied. */
export interface PoolRules {
  /** Addresses that may not send, receive or appear in an authorization. */
  readonly deniedAddresses?: readonly Hex[];
  /** Rejects transactions of type 4 (EIP-7702) although the fork allows them. */
  readonly delegationsRefused?: boolean;
  /** The price must cover the cost of the transaction times this factor (docs/spec/fees.md 2.1). */
  readonly margin?: number;
}

/** Contracts that send tokens as messages to each other. */
export interface TokenBridge {
  /** On the rollup. */
  readonly address: Hex;
  readonly layerOne: Hex;
}

/** A deployment of the Ethereum Name Service. */
export interface NameService {
  /** The registry, which has the resolver of each name (ENSIP-1). */
  readonly registry: Hex;
}

/** The rollup contract on layer 1 (docs/spec/state-trie.md 9). */
export interface RollupContract {
  readonly address: Hex;
  /** Slot of `currentL2BlockNumber`. */
  readonly currentBlockSlot: bigint;
  /** Slot of the mapping `stateRootHashes`. */
  readonly stateRootsSlot: bigint;
  /**
   * Slot of the mapping `blockHashes`, if the contract stores block hashes and not state roots (docs/spec/rollup-versions.md). Both
   * are read, and the one that is there is used. If this slot is left out, only state roots are read.
   */
  readonly blockHashesSlot?: bigint;
  /** Slot of the mapping `l2MerkleRootsDepths`: roots of the trees of messages (docs/spec/messages.md 4). */
  readonly rootDepthsSlot?: bigint;
  /** Slot of the bits that say which messages were claimed. */
  readonly claimedSlot?: bigint;
}

/**
 * Blocks 1 to `lastBlock` carry the seal of one signer at the end of their extra data (EIP-225, docs/spec/json-rpc.md 5.2).
 */
export interface CliqueSealing {
  readonly signers: readonly Hex[];
  readonly lastBlock: number;
  /** Blocks divisible by this list the signers before their seal. */
  readonly epochLength: number;
}

/** Blocks are payloads of Maru's beacon blocks, which a quorum of these validators seals (docs/spec/json-rpc.md 5.3). */
export interface MaruSealing {
  /** Addresses, in any order. */
  readonly validators: readonly Hex[];
}

/** Sizes that a preset of the consensus specifications sets. */
export interface BeaconSizes {
  readonly slotsPerEpoch: number;
  /** Epochs of a sync-committee period. */
  readonly epochsPerPeriod: number;
  /** Members of a sync committee; a multiple of 8. */
  readonly committeeSize: number;
}

/** @source ethereum/consensus-specs@a08d8a6e presets/mainnet/altair.yaml, presets/mainnet/phase0.yaml, and those of presets/minimal */
export const BEACON_PRESETS: { readonly [Preset in 'mainnet' | 'minimal']: BeaconSizes } = {
  mainnet: { slotsPerEpoch: 32, epochsPerPeriod: 256, committeeSize: 512 },
  minimal: { slotsPerEpoch: 8, epochsPerPeriod: 8, committeeSize: 32 },
};

/** One fork of a beacon chain. */
export interface BeaconFork {
  /** Lower-case name, as in the member `version` of the beacon API. */
  readonly name: string;
  /** Left out if the fork is not scheduled yet. */
  readonly epoch?: number;
  /** 4 bytes. */
  readonly version: Hex;
}

/** A beacon chain: everything in which beacon chains differ. */
export interface BeaconNetwork {
  readonly name: string;
  /** Sizes of epochs, periods and committees, as the consensus specifications name them. */
  readonly preset: keyof typeof BEACON_PRESETS;
  readonly secondsPerSlot: number;
  /** Unix time of slot 0, in seconds. */
  readonly genesisTime: number;
  /** 32 bytes. */
  readonly genesisValidatorsRoot: Hex;
  /**
   * The forks from genesis on, with rising epochs. Forks without an epoch come last. You may list a fork that this release cannot
   * read. Its slots are then refused, and the error names the fork.
   */
  readonly forks: readonly BeaconFork[];
  /** Chain id of its execution chain, which is the layer 1. */
  readonly depositChainId: number;
}

/** A beacon chain that this release knows. */
export type LayerOneName = 'mainnet' | 'sepolia' | 'hoodi' | 'simulated';

/** Who seals the blocks of a network. */
export interface BlockSealing {
  readonly clique?: CliqueSealing;
  /** After the Clique blocks, if the network has them. */
  readonly maru?: MaruSealing;
}

/** The profile of a network: all its parameters, as plain data. You can write your own (docs/guides/network.md). */
export interface Network {
  readonly name: string;
  readonly chainId: number;
  /** Prefix of this network's own two methods: `linea` for `linea_estimateGas`. `l2_` always works too. */
  readonly methodPrefix: string;
  /** Base fee, constant or initial, wei. */
  readonly baseFeePerGas: bigint;
  /** In order of activation; the first is active from genesis. */
  readonly forks: readonly ForkActivation[];
  /** Blocks before Paris pay their miner as Ethereum's did: 5 ether, from Byzantium on 3, from Constantinople on 2. */
  readonly blockRewards?: boolean;
  /** Contract whose deposit events become requests of a block, from Prague on (EIP-6110). Default: none. */
  readonly depositContract?: Hex;
  /** Gas limit in the headers. */
  readonly blockGasLimit: bigint;
  /** Largest gas limit of a transaction that the pool accepts. */
  readonly txGasLimit: bigint;
  /** Largest calldata of one transaction, bytes. */
  readonly calldataLimit: number;
  readonly pool?: PoolRules;
  /**
   * Block building takes a transaction only if its price covers its cost times this factor, for its gas limit and for the gas that it
   * uses (docs/spec/fees.md 2.1). Default: it takes every transaction of the pool.
   */
  readonly blockMargin?: number;
  /** Largest gas limit of a simulated call. */
  readonly rpcGasCap: bigint;
  /** Seconds between blocks, for the simulated pending block. */
  readonly slotSeconds: number;
  /**
   * Whether a block may have the time of its parent, although the rules of execution forbid it. `allowed` is for chains of test tools
   * that make several blocks in one second, such as anvil by default. Default: `refused`.
   */
  readonly equalTimestamps?: 'allowed' | 'refused';
  /**
   * Whether the access list of a block, from Amsterdam on, names all that the block changes (EIP-7928). With `complete`, a light node
   * accepts lists as proofs: with the list, it carries what it holds to the next block. Set it only if nothing changes the state
   * outside of the lists, such as edits by methods of a test node. Default: each block is read with proofs.
   */
  readonly accessLists?: 'complete';
  /** Gas search of estimates, unless the options of a node or a request name another search. */
  readonly gasSearch: GasSearch;
  /**
   * What an estimate does with a nonce below the account's nonce. Default: `ignored` with the search `geth`, `refused` with the
   * others, as those clients do (docs/spec/fees.md 5.2, 5.3).
   */
  readonly pastNonces?: 'refused' | 'ignored';
  /**
   * Version of Besu whose rules are used if versions differ. From 26.9 on, a call without gas has no cap of 2^24, and an estimate
   * without data is exact (docs/spec/fees.md 5.2). Default: `26.8`.
   */
  readonly besuVersion?: '26.8' | '26.9';
  /** How a rollup prices transactions. Left out if the network is not a rollup: then only its blocks and their base fee set prices. */
  readonly pricing?: PricingModel;
  /**
   * Which bytes are compressed for the fee. `signed` is the older form: the signed transaction (docs/spec/compression.md 8). Default:
   * `current`.
   */
  readonly sizing?: 'current' | 'signed';
  /**
   * Hash scheme of the zk state by block: the last entry whose `fromBlock` is not above the block. If it is left out, there is no zk
   * state.
   */
  readonly hashSchemes?: readonly { readonly fromBlock: number; readonly scheme: HashScheme }[];
  /** The network's own compression dictionary. Default: plumbline's general one. */
  readonly dictionary?: DictionaryReference;
  /** Left out if the network is not a rollup, such as `ethereum`. Such a network is its own layer 1. */
  readonly rollup?: RollupContract;
  /**
   * Beacon chain of the network's layer 1, by its name or as data. The layer 1 may be the network itself. If this is left out, layer-1
   * consensus cannot be followed.
   */
  readonly layerOne?: LayerOneName | BeaconNetwork;
  /** Root of a finalized beacon block of layer 1 to start from, 32 bytes. It is used only if it is at most 14 days old. */
  readonly checkpoint?: Hex;
  /** When left out, seals are not checked. */
  readonly sealing?: BlockSealing;
  /** Prover limits of one block that an execution can count. If they are left out, they are not checked. */
  readonly moduleLimits?: ModuleLimits;
  /** Contract on layer 2 whose `MessageSent` events are sent to layer 1. */
  readonly messageService?: Hex;
  /** The token bridge. If it is left out, token messages are not decoded. */
  readonly tokenBridge?: TokenBridge;
  /** The Ethereum Name Service of a layer 1. If it is left out, names cannot be resolved. */
  readonly ens?: NameService;
}

/** The profile of a rollup. */
export interface RollupNetwork extends Network {
  readonly pricing: PricingModel;
  readonly hashSchemes: readonly { readonly fromBlock: number; readonly scheme: HashScheme }[];
  readonly rollup: RollupContract;
}

/** Whether a network is no rollup: it is its own layer 1. */
export function isLayerOne({ rollup }: Pick<Network, 'rollup'>): boolean {
  return rollup === undefined;
}

/**
 * The profile as that of a rollup.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a network that is none
 */
export function rollupOf(network: Network): RollupNetwork {
  const { rollup, pricing, hashSchemes = [] } = network;
  if (rollup !== undefined && pricing !== undefined && hashSchemes.length > 0) return network as RollupNetwork;
  const [missing] = Object.entries({ rollup, pricing, hashSchemes }).find(
    ([, given]) => !given || given === hashSchemes,
  )!;
  const reason = isLayerOne(network) ? `is missing: ${network.name} is no rollup` : 'is missing: a rollup needs it';
  throw invalidParameter(`network.${missing}`, reason);
}

/**
 * Scheme of the zk state after `block`.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a network without zk state
 * @example
 * ```ts
 * import { linea, schemeAt } from 'plumbline-l2/fees';
 *
 * schemeAt(linea, 0); // => 'mimc'
 * schemeAt(linea, Number.MAX_SAFE_INTEGER); // => 'poseidon2'
 * ```
 */
export function schemeAt(network: Pick<Network, 'hashSchemes'>, block: number): HashScheme {
  const [first] = network.hashSchemes ?? [];
  if (first === undefined) throw invalidParameter('network.hashSchemes', 'is missing: the network has no zk state');
  let { scheme } = first;
  for (const range of network.hashSchemes!) if (range.fromBlock <= block) scheme = range.scheme;
  return scheme;
}

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isAboveZero = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;
const isHexOf = (bytes: number) => (value: unknown) =>
  typeof value === 'string' && new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`, 'i').test(value);

type Rules<T> = { readonly [Name in keyof T]-?: readonly [holds: (value: unknown) => boolean, rule: string] };

const NETWORK_RULES: Rules<BeaconNetwork> = {
  name: [isText, 'must be text'],
  preset: [(value) => Object.hasOwn(BEACON_PRESETS, String(value)), "must be 'mainnet' or 'minimal'"],
  secondsPerSlot: [isAboveZero, 'must be a whole number above zero'],
  genesisTime: [isCount, 'must be a Unix time in whole seconds'],
  genesisValidatorsRoot: [isHexOf(32), 'must be hex of 32 bytes with 0x'],
  forks: [(value) => Array.isArray(value) && value.length > 0, 'must be a list of forks'],
  depositChainId: [isAboveZero, 'must be a whole number above zero'],
};

const FORK_RULES: Rules<BeaconFork> = {
  name: [isText, 'must be text'],
  epoch: [(value) => value === undefined || isCount(value), 'must be a whole number'],
  version: [isHexOf(4), 'must be hex of 4 bytes with 0x'],
};

function requireMembers(given: unknown, rules: Rules<Record<string, unknown>>, path: string): void {
  if (typeof given !== 'object' || given === null) throw invalidParameter(path, 'must be an object');
  for (const name of Object.keys(given))
    if (!Object.hasOwn(rules, name))
      throw invalidParameter(`${path}.${name}`, `is not a member; these are: ${Object.keys(rules).join(', ')}`);
  const members = given as Readonly<Record<string, unknown>>;
  for (const [name, [holds, rule]] of Object.entries(rules))
    if (!holds(members[name])) throw invalidParameter(`${path}.${name}`, rule);
}

/**
 * Checks a beacon chain of the caller's own.
 *
 * @param path - of the value, for errors
 * @throws PlumblineError `INVALID_PARAMETER` with the path of the member
 */
export function requireBeaconNetwork(given: unknown, path: string): asserts given is BeaconNetwork {
  requireMembers(given, NETWORK_RULES, path);
  let before = 0;
  let unscheduled: string | undefined;
  for (const [i, fork] of (given as BeaconNetwork).forks.entries()) {
    const at = `${path}.forks[${i}]`;
    requireMembers(fork, FORK_RULES, at);
    const { name, epoch } = fork;
    if (epoch === undefined) {
      unscheduled ??= name;
      continue;
    }
    if (unscheduled !== undefined)
      throw invalidParameter(`${at}.epoch`, `stands after ${unscheduled}, which has no epoch`);
    if (epoch < before)
      throw invalidParameter(`${at}.epoch`, `is ${epoch}, before epoch ${before} of the fork before it`);
    before = epoch;
  }
}
