import type { Reply } from '../rpc/envelope.js';
import type { NodeInfo, NodeOptions, OpenProgress } from './options.js';
import type { Layer } from './transport.js';

/** What the worker offers to the main thread through comlink. `call` names a dispatch so that it can be aborted. */
export interface WorkerApi {
  open(options: NodeOptions, onProgress?: (progress: OpenProgress) => void): Promise<NodeInfo>;
  dispatch(layer: Layer, payload: unknown, call: number): Promise<Reply>;
  abort(call: number): void;
  close(): Promise<void>;
}

/**
 * First message of a worker, before comlink: its script has run. The lock is held for as long as the worker lives, so
 * that the main thread, waiting for the same lock, learns of a death that sends no event; absent without Web Locks.
 */
export interface WorkerGreeting {
  readonly plumblineWorker: 'ready';
  readonly lock: string | undefined;
}

export function isGreeting(message: unknown): message is WorkerGreeting {
  return typeof message === 'object' && message !== null && 'plumblineWorker' in message;
}
