import type { Reply } from '../../rpc/protocol/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions/subscriptions.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import type { NodeInfo } from '../options/options.js';

/** What a payload is for: the chain, the devnet's simulated layer 1, or what the library alone may ask. */
export type Layer = 'l2' | 'l1' | 'inspect';

/** One caller of the chain that can be sent messages, with subscriptions of its own: a provider, a WebSocket. */
export interface NodeSession {
  /** As `NodeTransport.dispatch`, with `eth_subscribe` and `eth_unsubscribe`. */
  dispatch(payload: unknown, signal?: AbortSignal): Promise<Reply>;
  /** Ends its subscriptions. */
  close(): void;
}

/** Told of each event of a session's subscriptions, after the reply that named the subscription. */
export type SessionListener = (message: SubscriptionMessage) => void;

/** An open node, wherever it runs: parsed JSON-RPC payloads in, replies out. It never throws for a failing method. */
export interface NodeTransport {
  readonly info: NodeInfo;
  /** @throws PlumblineError `NODE_CLOSED`, `WORKER_FAILED`; the signal's reason when aborted */
  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply>;
  openSession(listener: SessionListener): NodeSession;
  /**
   * Whether what the node learns is stored, as far as it is known here; undefined while another page's node is on its way
   * to answer.
   */
  readonly storeStatus?: StoreStatus | undefined;
  /** Told of each change of it. @returns a function that ends the subscription */
  onStoreStatus?(listener: StoreStatusListener): () => void;
  close(): Promise<void>;
  /** Told once when the node dies without being closed. @returns a function that ends the subscription */
  onFailure(listener: (error: Error) => void): () => void;
}
