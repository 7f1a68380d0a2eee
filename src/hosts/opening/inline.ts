/**
 * Entry point `plumbline-l2/inline`: the node in the calling thread, for Node programs and for your own workers.
 *
 * @module plumbline-l2/inline
 */
import type { TableOf } from '../../primitives/option-table.js';
import type { FetchHandlerOptions } from '../../rpc/http.js';
import type { InlineExtras, NodeOptions } from '../options/options.js';
import { nodeHandle, type PlumblineNode } from '../provider/node-handle.js';
import { openNode } from './open-inline.js';

export type { ReplicaProgress } from '../../chain/replica/settings.js';
export { type ErrorCode, type ErrorDetails, isPlumblineError, PlumblineError } from '../../errors.js';
export { devnet } from '../../networks/devnet.js';
export { ethereum, hoodi, sepolia } from '../../networks/ethereum.js';
export { linea, lineaSepolia } from '../../networks/linea.js';
export type { Network, RollupNetwork } from '../../networks/network.js';
export { NETWORKS, type NetworkName } from '../../networks/networks.js';
export type { Activity } from '../../scheduling/activity.js';
export type { Clock } from '../../scheduling/clock.js';
export type { Clearing, Commit, Key, PageStore } from '../../store/page-store.js';
export type { StoreHealth } from '../../store/store-status.js';
export type { EndpointEvent, ExchangeRecord, UpstreamObserver } from '../../upstream/endpoint.js';
export type { NodeInfo, NodeOptions, OpenProgress, ReplicaObserver } from '../options/options.js';
export type { PlumblineNode } from '../provider/node-handle.js';
export type { UntypedMethod } from '../provider/provider.js';
export { isProviderRpcError, ProviderRpcError } from '../provider/provider-error.js';

/** Options of a node in this thread. Some of them cannot be sent to a worker. */
export interface InlineOptions extends NodeOptions, Omit<InlineExtras, 'storeFailure'> {
  readonly http?: FetchHandlerOptions;
}

/** What each option is that `NodeOptions` does not have. */
const INLINE_OPTIONS = {
  onProgress: { is: 'function' },
  store: { is: 'store' },
  onError: { is: 'function' },
  upstreamObserver: { is: 'object' },
  fetch: { is: 'function' },
  clock: { is: 'clock' },
  activity: { is: 'object' },
  replicaObserver: { is: 'object' },
  http: { is: 'http' },
} as const satisfies TableOf<Omit<InlineOptions, keyof NodeOptions>>;

/**
 * Opens a node in this thread. With a `storeName`, it shares its store with all other nodes of that name, in this thread and in
 * others. One of them is the writer, and answers for all. In a page, use `createNode` of `plumbline-l2`, which runs the node in a
 * worker and keeps the page's thread free.
 *
 * @throws PlumblineError `INVALID_PARAMETER` if options cannot be used; the error of the part that does not open
 */
export async function createInlineNode(options: InlineOptions = {}): Promise<PlumblineNode> {
  (await import('../options/require-known.js')).requireKnown(options, INLINE_OPTIONS);
  const {
    onProgress,
    store,
    onError,
    upstreamObserver,
    fetch,
    clock,
    activity,
    replicaObserver,
    http,
    ...nodeOptions
  } = options;
  const extras = { onProgress, store, onError, upstreamObserver, fetch, clock, activity, replicaObserver };
  return nodeHandle(await openNode(nodeOptions, extras), http);
}
