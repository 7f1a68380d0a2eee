import type { Reply } from '../../rpc/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo, NodeOptions, OpenProgress } from '../options/options.js';
import type { RemoteRequest } from '../provider/transport.js';
import type { PageFetch } from './page-fetch.js';
import type { Serialized } from './transfer.js';

/**
 * What the worker offers to the main thread through comlink. `call` numbers a dispatch so that it can be aborted. `session` of a
 * request is the number of the session that it belongs to. A session begins with its first dispatch. Only layer 2 has sessions.
 */
export interface WorkerApi {
  /** Has the worker send its greeting again, for a page that listens only since its worker is ready. */
  greet(): void;
  open(options: NodeOptions, onProgress?: (progress: OpenProgress) => void, fetch?: PageFetch): Promise<NodeInfo>;
  dispatch(request: RemoteRequest, call: number): Promise<Reply>;
  closeSession(session: number): void;
  abort(call: number): void;
  /** Sets whether the page is visible and online. */
  setActive(isActive: boolean): void;
  close(): Promise<void>;
}

/**
 * First message of a worker, before comlink: its script has run. Sent again when a page asks for it. The worker holds the lock until it ends. The main thread waits
 * for the same lock, and so detects an end that sends no event. `lock` is undefined without Web Locks.
 */
export interface WorkerGreeting {
  readonly plumblineWorker: 'ready';
  readonly lock: string | undefined;
}

/** Whether a message is the greeting of a plumbline worker. */
export function isGreeting(message: unknown): message is WorkerGreeting {
  return typeof message === 'object' && message !== null && 'plumblineWorker' in message;
}

/** A subscription message. Sent on the channel of comlink's replies, so that it arrives after the reply with the subscription's id. */
export interface WorkerMessage {
  readonly plumblineSession: number;
  readonly message: SubscriptionMessage;
}

/** Sent when the node has failed. */
export interface WorkerFailure {
  readonly plumblineFailure: Serialized;
}

/** Whether a message says that the node has failed. */
export function isWorkerFailure(message: unknown): message is WorkerFailure {
  return typeof message === 'object' && message !== null && 'plumblineFailure' in message;
}

/** The status of the store. Sent before the node is open, and at each change. */
export interface WorkerStoreStatus {
  readonly plumblineStore: StoreStatus | undefined;
}

/** Whether a message is a store status. */
export function isWorkerStoreStatus(message: unknown): message is WorkerStoreStatus {
  return typeof message === 'object' && message !== null && 'plumblineStore' in message;
}

/** Whether a message is a subscription message. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return typeof message === 'object' && message !== null && 'plumblineSession' in message;
}
