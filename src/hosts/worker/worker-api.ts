import type { Reply } from '../../rpc/protocol/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions/subscriptions.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo, NodeOptions, OpenProgress } from '../options/options.js';
import type { Layer } from '../provider/transport.js';
import type { Serialized } from './transfer.js';

/**
 * What the worker offers to the main thread through comlink. `call` names a dispatch so that it can be aborted. `session`
 * names the caller the dispatch is for; a session begins with its first dispatch and only layer 2 has them.
 */
export interface WorkerApi {
  open(options: NodeOptions, onProgress?: (progress: OpenProgress) => void): Promise<NodeInfo>;
  dispatch(layer: Layer, payload: unknown, call: number, session?: number): Promise<Reply>;
  closeSession(session: number): void;
  abort(call: number): void;
  /** Whether the page is there to be kept up to date: visible, and online. */
  setActive(isActive: boolean): void;
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

/** Whether it is the greeting of a worker of ours. */
export function isGreeting(message: unknown): message is WorkerGreeting {
  return typeof message === 'object' && message !== null && 'plumblineWorker' in message;
}

/** Sent past comlink, over the channel of its replies, so that a message comes after the reply that names its subscription. */
export interface WorkerMessage {
  readonly plumblineSession: number;
  readonly message: SubscriptionMessage;
}

/** Sent past comlink when the node cannot go on. */
export interface WorkerFailure {
  readonly plumblineFailure: Serialized;
}

/** Whether a worker says that its node has failed. */
export function isWorkerFailure(message: unknown): message is WorkerFailure {
  return typeof message === 'object' && message !== null && 'plumblineFailure' in message;
}

/** Sent past comlink before the node is open, and whenever it changes. */
export interface WorkerStoreStatus {
  readonly plumblineStore: StoreStatus | undefined;
}

/** Whether a worker tells how its store is. */
export function isWorkerStoreStatus(message: unknown): message is WorkerStoreStatus {
  return typeof message === 'object' && message !== null && 'plumblineStore' in message;
}

/** Whether a worker sends a message of a session. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return typeof message === 'object' && message !== null && 'plumblineSession' in message;
}
