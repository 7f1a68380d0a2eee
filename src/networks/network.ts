import type { HashScheme } from '../kernel/contracts.js';
import type { Hex } from '../primitives/hex.js';

export type Hardfork = 'london' | 'paris' | 'shanghai' | 'cancun' | 'prague' | 'osaka';

/** When the rules of a fork begin: by block number up to Paris, by timestamp (seconds) after it. */
export interface ForkActivation {
  readonly hardfork: Hardfork;
  readonly block?: number;
  readonly timestamp?: number;
}

/** The operator's prices stand in each block header (spec/fees.md 2, 3). */
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

/** Prices follow from the cost of verifying on layer 1 (spec/fees.md 8). */
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

export type PricingModel = ExtraDataPricing | VerificationCostPricing;

/** Identity of a compression dictionary, and where the network publishes it. */
export interface DictionaryReference {
  readonly name: string;
  readonly sha256: Hex;
  readonly byteLength: number;
  readonly url?: string;
}

/** The rollup contract on layer 1 (spec/state-trie.md 9). */
export interface RollupContract {
  readonly address: Hex;
  /** Slot of `currentL2BlockNumber`. */
  readonly currentBlockSlot: bigint;
  /** Slot of the mapping `stateRootHashes`. */
  readonly stateRootsSlot: bigint;
}

/** Everything that distinguishes one network from another, as plain data. A user can write their own. */
export interface Network {
  readonly name: string;
  readonly chainId: number;
  /** Prefix of the two methods of this network: `linea` for `linea_estimateGas`. `l2_` always works too. */
  readonly methodPrefix: string;
  /** Base fee the network holds, wei. */
  readonly baseFeePerGas: bigint;
  /** In order of activation; the first holds from genesis. */
  readonly forks: readonly ForkActivation[];
  /** Limit that headers carry. */
  readonly blockGasLimit: bigint;
  /** Largest gas limit of one transaction that the pool takes. */
  readonly txGasLimit: bigint;
  /** Largest calldata of one transaction, bytes. */
  readonly calldataLimit: number;
  /** Cap on gas of a simulated call. */
  readonly rpcGasCap: bigint;
  /** Seconds between blocks, for the simulated pending block. */
  readonly slotSeconds: number;
  readonly gasSearch: 'besu' | 'geth' | 'exact';
  readonly pricing: PricingModel;
  /** Older form: bytes of the signed transaction (spec/compression.md 8). */
  readonly sizing: 'current' | 'signed';
  /** Hash scheme by block: the last entry whose `fromBlock` is not above the block. */
  readonly hashSchemes: readonly { readonly fromBlock: number; readonly scheme: HashScheme }[];
  /** The network's own dictionary; plumbline's general one when left out. */
  readonly dictionary?: DictionaryReference;
  readonly rollup: RollupContract;
}

/** Scheme of the zk state after `block`. */
export function schemeAt(network: Network, block: number): HashScheme {
  let scheme = network.hashSchemes[0]!.scheme;
  for (const range of network.hashSchemes) if (range.fromBlock <= block) scheme = range.scheme;
  return scheme;
}
