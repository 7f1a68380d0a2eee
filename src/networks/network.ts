import type { BlobSchedule } from '../ethereum/blob-gas.js';
import type { HashScheme } from '../kernel/contracts.js';
import type { Hex } from '../primitives/hex.js';
import type { ModuleLimits } from './module-limits.js';

/** Forks in the order of their beginning. Forks that change blob parameters alone are `bpo1` and so on. */
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
] as const;

/** A fork by its name. */
export type Hardfork = (typeof HARDFORKS)[number];

/** When the rules of a fork begin: by block number up to Paris, by timestamp (seconds) after it. */
export interface ForkActivation {
  readonly hardfork: Hardfork;
  readonly block?: number;
  readonly timestamp?: number;
  /** Blob parameters from this fork on; until a fork names some, no blob transactions are let in. */
  readonly blobs?: BlobSchedule;
}

/** The operator's prices stand in each block header (docs/spec/fees.md 2, 3). */
export interface ExtraDataPricing {
  readonly model: 'extra-data';
  /** Prices until a header has brought some, in wei. */
  readonly defaults: {
    readonly fixedCostWei: bigint;
    readonly variableCostWei: bigint;
    readonly minGasPriceWei: bigint;
  };
  /** Margin over cost in estimates; a double, because the node keeps a double. */
  readonly estimateMargin: number;
}

/** Prices follow from the cost of verifying on layer 1 (docs/spec/fees.md 8). */
export interface VerificationCostPricing {
  readonly model: 'verification-cost';
  readonly variant: 'A' | 'B' | 'C';
  /** Layer-1 gas to verify one submission. */
  readonly verificationGasCost: number;
  /** Bytes of one submission. */
  readonly verificationCapacity: number;
  /** Layer-1 gas price over layer-2 gas price. */
  readonly gasPriceRatio: number;
  readonly gasPriceAdjustmentWei: bigint;
  readonly minGasPriceWei: bigint;
  readonly estimateMargin: number;
  /** Raise the fee to `minGasPriceWei - baseFee` where it is below. */
  readonly floor: boolean;
}

/** How a network prices transactions. */
export type PricingModel = ExtraDataPricing | VerificationCostPricing;

/** Identity of a compression dictionary, and where the network publishes it. */
export interface DictionaryReference {
  readonly name: string;
  readonly sha256: Hex;
  readonly byteLength: number;
  readonly url?: string;
}

/** What the pool asks of a transaction beside the limits of its network. What is left out is not asked. */
export interface PoolRules {
  /** Addresses that may neither send nor receive, nor stand in an authorization. */
  readonly deniedAddresses?: readonly Hex[];
  /** Type 4 is refused although the fork has it. */
  readonly delegationsRefused?: boolean;
  /** The price has to cover the cost of the transaction, times this factor (docs/spec/fees.md 2.1). */
  readonly margin?: number;
}

/** The rollup contract on layer 1 (docs/spec/state-trie.md 9). */
export interface RollupContract {
  readonly address: Hex;
  /** Slot of `currentL2BlockNumber`. */
  readonly currentBlockSlot: bigint;
  /** Slot of the mapping `stateRootHashes`. */
  readonly stateRootsSlot: bigint;
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

/** Who vouches for the blocks of a network. */
export interface BlockSealing {
  readonly clique?: CliqueSealing;
  /** After the blocks of Clique, where there were some. */
  readonly maru?: MaruSealing;
}

/** Everything that distinguishes one network from another, as plain data. A user can write their own. */
export interface Network {
  readonly name: string;
  readonly chainId: number;
  /** Prefix of the two methods of this network: `linea` for `linea_estimateGas`. `l2_` always works too. */
  readonly methodPrefix: string;
  /** Base fee the network holds, or begins with, wei. */
  readonly baseFeePerGas: bigint;
  /** In order of activation; the first holds from genesis. */
  readonly forks: readonly ForkActivation[];
  /** Blocks before Paris pay their miner as Ethereum's did: 5 ether, from Byzantium on 3, from Constantinople on 2. */
  readonly blockRewards?: boolean;
  /** Contract whose deposit events are requests of a block from Prague on (EIP-6110); none when left out. */
  readonly depositContract?: Hex;
  /** Limit that headers carry. */
  readonly blockGasLimit: bigint;
  /** Largest gas limit of one transaction that the pool takes. */
  readonly txGasLimit: bigint;
  /** Largest calldata of one transaction, bytes. */
  readonly calldataLimit: number;
  readonly pool?: PoolRules;
  /** Cap on gas of a simulated call. */
  readonly rpcGasCap: bigint;
  /** Seconds between blocks, for the simulated pending block. */
  readonly slotSeconds: number;
  readonly gasSearch: 'besu' | 'geth' | 'exact';
  readonly pricing: PricingModel;
  /** Older form: bytes of the signed transaction (docs/spec/compression.md 8). */
  readonly sizing: 'current' | 'signed';
  /** Hash scheme by block: the last entry whose `fromBlock` is not above the block. */
  readonly hashSchemes: readonly { readonly fromBlock: number; readonly scheme: HashScheme }[];
  /** The network's own dictionary; plumbline's general one when left out. */
  readonly dictionary?: DictionaryReference;
  readonly rollup: RollupContract;
  /** No seals are asked for when left out. */
  readonly sealing?: BlockSealing;
  /** What the prover can carry of one block, as far as an execution can count it; nothing is checked when left out. */
  readonly moduleLimits?: ModuleLimits;
  /** Contract of layer 2 whose `MessageSent` events go to layer 1. */
  readonly messageService?: Hex;
}

/** Scheme of the zk state after `block`. */
export function schemeAt(network: Network, block: number): HashScheme {
  let scheme = network.hashSchemes[0]!.scheme;
  for (const range of network.hashSchemes) if (range.fromBlock <= block) scheme = range.scheme;
  return scheme;
}
