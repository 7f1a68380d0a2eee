import type { Reply } from '../rpc/envelope.js';
import type { NodeInfo } from './options.js';

/** What a payload is for: the chain, the devnet's simulated layer 1, or what the library alone may ask. */
export type Layer = 'l2' | 'l1' | 'inspect';

/** An open node, wherever it runs: parsed JSON-RPC payloads in, replies out. It never throws for a failing method. */
export interface NodeTransport {
  readonly info: NodeInfo;
  /** @throws PlumblineError `NODE_CLOSED`, `WORKER_FAILED`; the signal's reason when aborted */
  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply>;
  close(): Promise<void>;
  /** Told once when the node dies without being closed. @returns a function that ends the subscription */
  onFailure(listener: (error: Error) => void): () => void;
}
