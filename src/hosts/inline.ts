/**
 * Door `plumbline/inline`: the node in the calling thread, for Node programs and for workers of one's own.
 *
 * @module plumbline/inline
 */
import type { FetchHandlerOptions } from '../rpc/http.js';
import type { InlineExtras } from './inline-extras.js';
import { nodeHandle, type PlumblineNode } from './node-handle.js';
import { openInline } from './open-inline.js';
import type { NodeOptions } from './options.js';

export type { PlumblineNode } from './node-handle.js';
export type { NodeInfo, NodeOptions, OpenProgress } from './options.js';
export { ProviderRpcError } from './provider-error.js';

export interface InlineOptions extends NodeOptions, InlineExtras {
  readonly http?: FetchHandlerOptions;
}

/**
 * Opens a node in this thread. In a page, `createNode` of the main door keeps the page's thread free instead.
 *
 * @throws PlumblineError of whichever part does not open
 */
export async function createInlineNode(options: InlineOptions = {}): Promise<PlumblineNode> {
  const { onProgress, store, onError, upstreamObserver, clock, activity, replicaObserver, http, ...nodeOptions } =
    options;
  const extras = { onProgress, store, onError, upstreamObserver, clock, activity, replicaObserver };
  return nodeHandle(await openInline(nodeOptions, extras), http);
}
