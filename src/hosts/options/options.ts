import type { FinalityOptions } from '../../chain/devnet/layer-one/finality.js';
import type { MiningMode } from '../../chain/devnet/options.js';
import type { GenesisAlloc } from '../../chain/devnet/state/genesis.js';
import type { GenesisJson } from '../../chain/devnet/state/genesis-json.js';
import type { Prices } from '../../fees/prices.js';
import type { HashScheme, KernelBuild } from '../../kernel/contracts.js';
import type { GasSearch } from '../../networks/gas-searches.js';
import type { Network } from '../../networks/network.js';
import type { Hex } from '../../primitives/hex.js';
import type { LightChainOptions } from './light-options.js';
import type { ReplicaChainOptions } from './replica-options.js';
import type { StorageOptions } from './storage-options.js';

/** Time a single request may take where options do not say, ms. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Jump destinations and calls that the executions of one request may pass through where options do not say. */
export const STEP_BUDGET = 5_000_000;

/** The chain a node runs. The embedded devnet is the default; every member has a default. */
export interface DevnetChainOptions {
  readonly kind: 'devnet';
  /** Profile to run; `devnet()` when left out. */
  readonly network?: Network;
  /** Hash scheme of the zk state, where the profile is the default one. */
  readonly scheme?: HashScheme;
  /**
   * A genesis file in geth's form, parsed from JSON: its accounts, header and forks take the place of the devnet's own, and
   * there is no `network` beside it.
   */
  readonly genesis?: GenesisJson;
  /** Blocks to import on top of genesis, as RLP laid end to end. Those that are held already are passed over. */
  readonly importBlocks?: Uint8Array;
  /** Accounts besides the dev accounts and the test token, or besides those of `genesis`, by address. */
  readonly alloc?: GenesisAlloc;
  /** When blocks are sealed: for each transaction (`auto`, the default), by `evm_mine` alone, or every so many seconds. */
  readonly mining?: MiningMode;
  readonly finality?: FinalityOptions;
  /** Prices that headers carry. */
  readonly prices?: Prices;
}

/**
 * Where the compression dictionary of estimates comes from. Bytes and addresses are checked against the length and sha256
 * that the profile names. When no address gives it, the general one stands in and the evidence of estimates says why.
 */
export type DictionarySource =
  /** plumbline's own general dictionary, for devnets. */
  | { readonly kind: 'general' }
  /** The network's own, from bytes; others do not open. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The network's own, from this address unless the store holds it already. */
  | { readonly kind: 'url'; readonly url: string };

/** Options of every host; plain data, so that they travel to a worker. */
export interface NodeOptions {
  readonly chain?: DevnetChainOptions | LightChainOptions | ReplicaChainOptions;
  /**
   * Keep the chain in IndexedDB under this name; in memory when left out. Nodes of an origin that name the same share it: one
   * of them writes and answers for the others, which take over when it ends. `chain`, the gas search and the dictionary have to
   * be the same for all of them, but for where data comes from.
   */
  readonly storeName?: string;
  /**
   * How the stored state of a devnet is compared with its roots as it is loaded: all hashes of its tries and some of the
   * values (`sampled`, the default), or every byte (`full`).
   */
  readonly storeCheck?: 'sampled' | 'full';
  /** How much is kept, and how safely. */
  readonly storage?: StorageOptions;
  /** When left out: the store's copy or the profile's address; the general one where the network names none. */
  readonly dictionary?: DictionarySource;
  /** Kernel build; `auto` when left out. */
  readonly kernelBuild?: KernelBuild;
  /** Time a single request may take, in ms. Default 60 000. */
  readonly requestTimeoutMs?: number;
  /** Gas search of estimates; the one of the network profile when left out. */
  readonly gasSearch?: GasSearch;
  /**
   * Jump destinations and calls that the executions of one request may pass through, all together. Default 5 000 000: an
   * endless loop runs out of gas first, a search over many long runs does not.
   */
  readonly stepBudget?: number;
  /** Most requests of a batch. Default 1024. */
  readonly maxBatch?: number;
  /** Most subscriptions of one provider or one WebSocket. Default 128. */
  readonly maxSubscriptions?: number;
}

/**
 * What a node tells while it opens. Two stages go on behind a node that answers, so they are told after `ready` too: `state`,
 * the loading of a stored devnet's state, and `sync`, a replica that follows its network.
 */
export interface OpenProgress {
  readonly stage: 'kernels' | 'dictionary' | 'store' | 'genesis' | 'blocks' | 'state' | 'ready' | 'sync';
  /** Between 0 and 1, within the stage. */
  readonly fraction: number;
  /** With `sync`: the block that was applied last. */
  readonly block?: number;
  /** With `sync`: the block that layer 1 finalized last, where following ends for now. */
  readonly target?: number;
}

/** What is known of a node once it is open. */
export interface NodeInfo {
  readonly chainId: number;
  readonly networkName: string;
  /** Of the zk state after the newest block. */
  readonly hashScheme: HashScheme;
  /** Rollup contract on layer 1. */
  readonly rollupAddress: Hex;
  readonly kernelBuild: 'simd' | 'scalar';
}

/** Text by which plain data, such as options, is compared: equal for equal data with members in the same order. */
export function textOf(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Uint8Array ? Array.from(value) : value;
  });
}
