/**
 * Door `plumbline/inline`: the node in the calling thread, for Node programs and for workers of one's own.
 *
 * @module plumbline/inline
 */
import type { FetchHandlerOptions } from '../rpc/http.js';
import type { InlineExtras } from './inline-extras.js';
import { nodeHandle, type PlumblineNode } from './node-handle.js';
import { openNode } from './open-node.js';
import type { NodeOptions } from './options.js';

export type { Activity } from '../chain/light/activity.js';
export type { ReplicaProgress } from '../chain/replica/settings.js';
export { type ErrorCode, type ErrorDetails, isPlumblineError, PlumblineError } from '../errors.js';
export type { Clearing, Commit, Key, PageStore } from '../store/page-store.js';
export type { StoreHealth } from '../store/store-status.js';
export type { Clock } from '../upstream/clock.js';
export type { EndpointEvent, ExchangeRecord, UpstreamObserver } from '../upstream/observer.js';
export type { PlumblineNode } from './node-handle.js';
export type { ReplicaObserver } from './open-replica.js';
export type { NodeInfo, NodeOptions, OpenProgress } from './options.js';
export { ProviderRpcError } from './provider-error.js';

/** Options of a node in this thread, with what cannot travel to a worker. */
export interface InlineOptions extends NodeOptions, Omit<InlineExtras, 'storeFailure'> {
  readonly http?: FetchHandlerOptions;
}

/**
 * Opens a node in this thread. One with a `storeName` shares its store with the other nodes of that name, in this thread
 * and elsewhere: another may be the one that writes, and answer for it. In a page, `createNode` of the main door keeps the
 * page's thread free instead.
 *
 * @throws PlumblineError of whichever part does not open
 */
export async function createInlineNode(options: InlineOptions = {}): Promise<PlumblineNode> {
  const { onProgress, store, onError, upstreamObserver, clock, activity, replicaObserver, http, ...nodeOptions } =
    options;
  const extras = { onProgress, store, onError, upstreamObserver, clock, activity, replicaObserver };
  return nodeHandle(await openNode(nodeOptions, extras), http);
}
