import type { DevnetChainOptions } from '../../chain/devnet/options.js';
import type { ForkChainOptions } from '../../chain/fork/fork-options.js';
import type { LightChainOptions } from '../../chain/light/light-options.js';
import type { ReplicaChainOptions, ReplicaProgress } from '../../chain/replica/settings.js';
import type { HashScheme, KernelBuild } from '../../kernel/contracts.js';
import { GAS_SEARCHES, type GasSearch } from '../../networks/gas-searches.js';
import type { Hex } from '../../primitives/hex.js';
import { type TableOf, type WithDefaults, withDefaults } from '../../primitives/option-table.js';
import type { DictionaryReport } from '../../rpc/schema/answers.js';
import type { Activity } from '../../scheduling/activity.js';
import type { Clock } from '../../scheduling/clock.js';
import type { Durability, PageStore } from '../../store/page-store.js';
import type { UpstreamObserver } from '../../upstream/endpoint.js';

const MIB = 2 ** 20;

/** Limits of the stored data by kind, in bytes of keys and values. */
export interface StorageBudgets {
  /** Block headers of a light node. Default 8 MiB, about 14 000 headers. */
  readonly headers?: number;
  /** Finalizations read from layer 1. Default 256 KiB. */
  readonly finalizations?: number;
  /** Zk proofs of a light node. The same number of bytes is kept in memory. Default 8 MiB, about 600 proofs of an account with a slot. */
  readonly proofs?: number;
  /** Code of contracts, by hash. Default 16 MiB. */
  readonly codes?: number;
  /** Compression dictionaries, 64 KiB each. Default 1 MiB. */
  readonly dictionaries?: number;
  /**
   * Blocks and state of a devnet. Default: no limit, because a devnet's data cannot be fetched again. With a limit, old blocks first
   * lose their state changes: balances and slots after them can no longer be read. Then they lose their transactions and receipts, and
   * are `BLOCK_PRUNED`. Headers stay, about 600 bytes each. Blocks that are newer than the stored state, or must stay provable, also
   * stay. If the limit is below the size of these, it is exceeded.
   */
  readonly devnet?: number;
}

/** Budgets and durability of a store. */
export interface StorageOptions {
  /** The least recently used data is deleted first. */
  readonly budgets?: StorageBudgets;
  /**
   * When a commit counts as done. `relaxed`, the default: a commit survives a crash of the page or the browser, but a power failure
   * may lose the newest commits, each as a whole. `strict`: a commit waits for the disk. This makes every block of a devnet some
   * milliseconds slower.
   *
   * A devnet commits a block before it answers with the hash of a transaction in it. A light node writes verified data in the
   * background: after at most a second, when 1 MiB is waiting, and when the node is closed.
   */
  readonly durability?: Durability;
  /**
   * What happens if the store cannot be opened, or fails while the node opens. `error`, the default of devnets and replicas: the node
   * does not open, with the store's error. `memory`, the default of light nodes: the node runs in memory, and leaves the store as it
   * is. `storage().status` and the event `storage` say so.
   *
   * A store that fails later does not end the node: see `StoreStatus`.
   */
  readonly fallback?: 'error' | 'memory';
}

/** What each budget is. */
export const BUDGET_OPTIONS = {
  headers: { is: 'count', or: 8 * MIB },
  finalizations: { is: 'count', or: MIB / 4 },
  proofs: { is: 'count', or: 8 * MIB },
  codes: { is: 'count', or: 16 * MIB },
  dictionaries: { is: 'count', or: MIB },
  devnet: { is: 'count' },
} as const satisfies TableOf<StorageBudgets>;

/** What each option of a store is. */
export const STORAGE_OPTIONS = {
  budgets: { is: BUDGET_OPTIONS, or: {} },
  durability: { is: ['default', 'strict', 'relaxed'], or: 'relaxed' },
  // Its default goes by the kind of chain.
  fallback: { is: ['error', 'memory'] },
} as const satisfies TableOf<StorageOptions>;

/** Budgets of tables, with defaults. */
export type Budgets = Omit<WithDefaults<StorageBudgets, typeof BUDGET_OPTIONS>, 'devnet'>;

/** Budgets of tables, with defaults. */
export function budgetsOf({ budgets = {} }: StorageOptions): Budgets {
  const { devnet: _, ...ofTables } = withDefaults(BUDGET_OPTIONS, budgets);
  return ofTables;
}

/**
 * Where the compression dictionary of estimates comes from. Bytes and downloads are checked against the length and sha256 in the
 * network profile. If a download fails, the general dictionary is used, and the evidence of estimates says why.
 */
export type DictionarySource =
  /** plumbline's general dictionary, for devnets. */
  | { readonly kind: 'general' }
  /** The network's dictionary, as bytes. If the bytes are not the network's, the node does not open. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The network's dictionary, from this URL unless the store has it. */
  | { readonly kind: 'url'; readonly url: string };

/** Options of a node. They are plain data, so they can be sent to a worker. */
export interface NodeOptions {
  readonly chain?: DevnetChainOptions | ForkChainOptions | LightChainOptions | ReplicaChainOptions;
  /**
   * Use it and not `chain` to open light nodes of several networks as one node, with one store. A request goes to the first network,
   * unless you use `node.chain(chainId)`, or the caller has switched (`wallet_switchEthereumChain`). If a rollup in this list has no
   * `layerOne`, it reads its contract through the chain in this list that is its layer 1, at the finalized block that the consensus of
   * that chain proves. The consensus is followed once for both.
   */
  readonly chains?: readonly LightChainOptions[];
  /**
   * Keeps the chain in the IndexedDB database of this name. Default: the chain is in memory. Nodes of an origin with the same name
   * share the chain. One of them is the writer and answers for the others. If it ends, another becomes the writer. All must have the
   * same `chain` (only its endpoints may differ), gas search and dictionary.
   */
  readonly storeName?: string;
  /**
   * How the stored state of a devnet is compared with its roots when it is loaded. `sampled`, the default: all hashes of its tries and
   * some of the values. `full`: every byte.
   */
  readonly storeCheck?: 'sampled' | 'full';
  /** Budgets and durability of the store. */
  readonly storage?: StorageOptions;
  /** Default: the network's dictionary, from the store or the profile's URL. If the network has none, the general dictionary. */
  readonly dictionary?: DictionarySource;
  /**
   * What a light node or a replica does if endpoints give no right answer when it opens. `background`, the default: it opens, and
   * `status()` and the event `status` say which endpoints answer. `wait`: it waits until each endpoint has answered or failed, 8 s at
   * most. If no layer-2 endpoint gives a right answer, it does not open.
   */
  readonly openCheck?: 'wait' | 'background';
  /** Build of the WebAssembly kernels. Default: `auto`. */
  readonly kernelBuild?: KernelBuild;
  /** Time limit of a request, ms. Default 60 000. */
  readonly requestTimeoutMs?: number;
  /** Gas search of estimates. Default: the one of the network profile. */
  readonly gasSearch?: GasSearch;
  /**
   * Gas that all executions of one request may spend together: calls, estimates, simulations, and transactions that a devnet executes
   * for it. A batch is one request. Default 10 000 000 000. A single call runs out of its own gas before that. A search, a simulation
   * or a batch with many long runs can reach the budget. It then ends with `GAS_BUDGET_EXCEEDED`.
   */
  readonly gasBudget?: number;
  /**
   * Gas that all requests of one connection may spend together within a minute. Default 20 000 000 000. A connection is an HTTP
   * connection, a WebSocket, or a page that uses a worker. `node.request` in the node's own thread has no connection. Requests that
   * need more gas get -32005 until the minute is over. Requests that execute nothing are not affected.
   */
  readonly connectionGasBudget?: number;
  /** Most requests of a batch. Default 1024. */
  readonly maxBatch?: number;
  /** Most subscriptions of one provider or one WebSocket. Default 128. */
  readonly maxSubscriptions?: number;
  /**
   * Most filters of one provider, one WebSocket, or one address of HTTP clients. Default 128. All clients together have at most 1024.
   * Above that, the client with the most filters loses the filter that was not used for the longest time.
   */
  readonly maxFilters?: number;
  /**
   * Most bytes of an answer, or of all answers to a batch, as JSON. Default 33 554 432 (32 MiB). An answer that does not fit is
   * replaced by the error -32003. It also limits the return data and logs of all executions of one request.
   */
  readonly maxAnswerBytes?: number;
}

/** What each option of a node is. */
export const NODE_OPTIONS = {
  chain: { is: 'chain', or: { kind: 'devnet' } },
  chains: { is: 'chains' },
  storeName: { is: 'text' },
  storeCheck: { is: ['sampled', 'full'], or: 'sampled' },
  storage: { is: STORAGE_OPTIONS, or: {} },
  dictionary: { is: 'dictionary' },
  openCheck: { is: ['wait', 'background'], or: 'background' },
  kernelBuild: { is: ['auto', 'simd', 'scalar'], or: 'auto' },
  requestTimeoutMs: { is: 'aboveZero', or: 60_000 },
  gasSearch: { is: GAS_SEARCHES },
  gasBudget: { is: 'aboveZero', or: 10_000_000_000 },
  connectionGasBudget: { is: 'aboveZero', or: 20_000_000_000 },
  maxBatch: { is: 'aboveZero', or: 1024 },
  maxSubscriptions: { is: 'aboveZero', or: 128 },
  maxFilters: { is: 'wholeAboveZero', or: 128 },
  maxAnswerBytes: { is: 'wholeAboveZero', or: 32 * MIB },
} as const satisfies TableOf<NodeOptions>;

/** Options of a node, with defaults. */
export type NodeSettings = WithDefaults<NodeOptions, typeof NODE_OPTIONS>;

/**
 * Progress of a node that opens. Three stages go on when the node already answers, so they are also reported after `ready`. `state`: a
 * devnet loads its stored state. `layer-one`: a light node fetches the sync committees of layer 1 since its checkpoint. `sync`: a
 * replica follows its network.
 */
export interface OpenProgress {
  readonly stage: 'kernels' | 'dictionary' | 'store' | 'genesis' | 'blocks' | 'state' | 'ready' | 'layer-one' | 'sync';
  /** Between 0 and 1, within the stage. */
  readonly fraction: number;
  /** With `sync`: the newest applied block. */
  readonly block?: number;
  /** With `sync`: the newest block that layer 1 has finalized, where the replica waits. */
  readonly target?: number;
}

/** Facts about an open node. */
export interface NodeInfo {
  readonly chainId: number;
  readonly networkName: string;
  /** Hash scheme of the zk state after the newest block. Left out if the network is not a rollup. */
  readonly hashScheme?: HashScheme;
  /** Rollup contract on layer 1. Left out if the network is not a rollup. */
  readonly rollupAddress?: Hex;
  readonly kernelBuild: 'simd' | 'scalar';
  /** The dictionary of fee estimates. `reason` says why the network's own dictionary is not used. */
  readonly dictionary: DictionaryReport;
  /** Only for a node with several chains: the same facts for each chain, in the order of the option `chains`. */
  readonly chains?: readonly NodeInfo[];
}

/** Text by which plain data, such as options, is compared: equal for equal data with members in the same order. */
export function textOf(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Uint8Array ? Array.from(value) : value;
  });
}

/** Follows the progress of a replica. */
export interface ReplicaObserver {
  progress?(progress: ReplicaProgress): void;
  /** Also called for errors that may pass. After `REPLICA_DIVERGED`, the replica has stopped. */
  error?(error: unknown): void;
}

/** Options that cannot be sent to a worker. */
export interface InlineExtras {
  readonly onProgress?: ((progress: OpenProgress) => void) | undefined;
  /** Instead of IndexedDB. */
  readonly store?: PageStore | undefined;
  /** Why the store did not open, where the caller has tried. */
  readonly storeFailure?: unknown;
  /** Receives the requests and responses between a light node and its endpoints. */
  readonly upstreamObserver?: UpstreamObserver | undefined;
  /** Makes the HTTP requests to the endpoints of a light node or a replica. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Clock of a light node. Default: the clock of the system. */
  readonly clock?: Clock | undefined;
  /** Whether a light node should keep polling. Default: as long as the page is visible and the device is online. */
  readonly activity?: Activity | undefined;
  /** Receives the progress and the errors of a replica. */
  readonly replicaObserver?: ReplicaObserver | undefined;
  /** Receives every error that a method throws. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}
