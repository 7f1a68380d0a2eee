import type { HashScheme } from '../kernel/contracts.js';
import { LINEA_MODULE_LIMITS } from './module-limits.js';
import type {
  ExtraDataPricing,
  Network,
  PoolRules,
  PricingModel,
  RollupNetwork,
  VerificationCostPricing,
} from './network.js';

/** Prices in every header of the devnet: those of mainnet in January 2026 (docs/spec/fees.md 3). */
export const DEVNET_EXTRA_DATA_PRICING: ExtraDataPricing = {
  model: 'extra-data',
  defaults: { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000_000n, minGasPriceWei: 41_904_000n },
  estimateMargin: 1.2,
};

/** The other pricing model: the last variant of its published defaults (docs/spec/fees.md 8.1), with a minimum of 0.1 gwei. */
export const DEVNET_VERIFICATION_COST_PRICING: VerificationCostPricing = {
  model: 'verification-cost',
  variant: 'C',
  verificationGasCost: 1_200_000,
  verificationCapacity: 90_000,
  gasPriceRatio: 15,
  gasPriceAdjustmentWei: 0n,
  minGasPriceWei: 100_000_000n,
  estimateMargin: 1.0,
  floor: true,
};

/** Options of a devnet profile. */
export interface DevnetOptions {
  /** 59139 when left out. */
  chainId?: number;
  /** Prefix of the two methods of the network. Default: `linea`. */
  methodPrefix?: string;
  /** Hash scheme of the zk state. Default: `poseidon2`. */
  scheme?: HashScheme;
  /** A pricing model, or the name of a model to use with the devnet's parameters. Default: `extra-data`. */
  pricing?: PricingModel | PricingModel['model'];
  /** The fork that is active from genesis on. Default: `osaka`. */
  hardfork?: 'osaka' | 'amsterdam';
  gasSearch?: Network['gasSearch'];
  sizing?: Network['sizing'];
  /** Rules of the pool. Default: the price must be 0.8 times the cost, as on Linea's networks. */
  pool?: PoolRules;
}

/**
 * Profile of the embedded development network: Linea's rules with every fork up to Osaka at genesis, and plumbline's own dictionary.
 *
 * @example
 * ```ts
 * import { devnet } from 'plumbline-l2/fees';
 *
 * devnet({ chainId: 1337 }).chainId; // => 1337
 * ```
 */
export function devnet(options: DevnetOptions = {}): RollupNetwork {
  return {
    name: 'devnet',
    chainId: options.chainId ?? 59_139,
    methodPrefix: options.methodPrefix ?? 'linea',
    baseFeePerGas: 7n,
    forks: [{ hardfork: options.hardfork ?? 'osaka', block: 0, timestamp: 0 }],
    blockGasLimit: 2_000_000_000n,
    txGasLimit: 24_000_000n,
    calldataLimit: 60_000,
    pool: options.pool ?? { margin: 0.8 },
    rpcGasCap: 50_000_000n,
    slotSeconds: 1,
    // Edits are in the list of the next block, at index 0.
    accessLists: 'complete',
    gasSearch: options.gasSearch ?? 'besu',
    // As anvil and geth: tools estimate several transactions before the first is mined (docs/decisions.md 3).
    pastNonces: 'ignored',
    pricing: pricingOf(options.pricing ?? 'extra-data'),
    sizing: options.sizing ?? 'current',
    hashSchemes: [{ fromBlock: 0, scheme: options.scheme ?? 'poseidon2' }],
    layerOne: 'simulated',
    rollup: {
      // `plumbline` in ASCII, and the chain id 0xe703.
      address: '0x706c756d626c696e65000000000000000000e703',
      currentBlockSlot: 281n,
      stateRootsSlot: 282n,
      rootDepthsSlot: 336n,
      claimedSlot: 335n,
    },
    // `plumbline messages` in ASCII, and the chain id.
    messageService: '0x706c756d626c696e65206d65737361676573e703',
    moduleLimits: LINEA_MODULE_LIMITS,
  };
}

/** Options of the layer 1 of a devnet. */
export interface DevnetLayerOneOptions {
  /** Its beacon chain. Default: the one that devnets simulate. */
  layerOne?: Network['layerOne'];
  /** Time of the Amsterdam fork, in seconds. Default: never. */
  amsterdam?: number;
}

/**
 * Profile of the layer 1 of a devnet: Ethereum's rules with every fork up to Osaka at genesis. A light node with this profile follows
 * the simulated consensus.
 *
 * @example
 * ```ts
 * import { layerOneOfDevnet } from 'plumbline-l2/fees';
 *
 * layerOneOfDevnet().chainId; // => 1337
 * ```
 */
export function layerOneOfDevnet({ layerOne = 'simulated', amsterdam }: DevnetLayerOneOptions = {}): Network {
  return {
    name: 'devnet-layer-1',
    chainId: 1337,
    methodPrefix: 'linea',
    baseFeePerGas: 1_000_000_000n,
    forks: [
      { hardfork: 'osaka', block: 0, timestamp: 0 },
      ...(amsterdam === undefined ? [] : [{ hardfork: 'amsterdam' as const, timestamp: amsterdam }]),
    ],
    blockGasLimit: 60_000_000n,
    txGasLimit: 60_000_000n,
    calldataLimit: 131_072,
    rpcGasCap: 50_000_000n,
    slotSeconds: 1,
    accessLists: 'complete',
    gasSearch: 'geth',
    pastNonces: 'ignored',
    layerOne,
  };
}

function pricingOf(pricing: NonNullable<DevnetOptions['pricing']>): PricingModel {
  if (typeof pricing !== 'string') return pricing;
  return pricing === 'extra-data' ? DEVNET_EXTRA_DATA_PRICING : DEVNET_VERIFICATION_COST_PRICING;
}
