import { transferHandlers } from 'comlink';
import { type ErrorCode, type ErrorDetails, PlumblineError } from '../../errors.js';
import type { Reply } from '../../rpc/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo, NodeOptions, OpenProgress } from '../options/options.js';
import type { RemoteRequest } from '../provider/transport.js';
import type { PageFetch } from './page-fetch.js';

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

/**
 * comlink transfers name, message and stack of a thrown error, and drops `code`, `details` and `cause`. This module replaces its
 * `throw` handler. Both sides of a worker have to install it.
 */

interface ThrownValue {
  readonly value: unknown;
}

interface SerializedError {
  readonly kind: 'plumbline' | 'error';
  readonly message: string;
  readonly stack: string | undefined;
  readonly name: string;
  readonly code?: ErrorCode;
  readonly details?: ErrorDetails[ErrorCode];
  readonly cause?: Serialized;
}

/** A thrown value in a form that `postMessage` can send. */
type Serialized = SerializedError | { readonly kind: 'value'; readonly value: unknown };

/** Converts a thrown value for `postMessage`. */
export function serialize(value: unknown, depth = 0): Serialized {
  if (!(value instanceof Error)) return { kind: 'value', value: cloneable(value) };
  const { name, message, stack } = value;
  const cause = value.cause === undefined || depth > 4 ? {} : { cause: serialize(value.cause, depth + 1) };
  if (value instanceof PlumblineError) {
    return { kind: 'plumbline', name, message, stack, code: value.code, details: cloneable(value.details), ...cause };
  }
  return { kind: 'error', name, message, stack, ...cause };
}

/** The value if structured cloning accepts it, otherwise its text. */
function cloneable<Value>(value: Value): Value {
  try {
    return structuredClone(value);
  } catch {
    return String(value) as Value;
  }
}

/** The thrown value, from a message. */
export function deserialize(serialized: Serialized): unknown {
  if (serialized.kind === 'value') return serialized.value;
  const options = serialized.cause === undefined ? undefined : { cause: deserialize(serialized.cause) };
  const error =
    serialized.kind === 'plumbline'
      ? new PlumblineError(serialized.code!, serialized.message, serialized.details!, options)
      : Object.assign(new Error(serialized.message, options), { name: serialized.name });
  if (serialized.stack !== undefined) error.stack = serialized.stack;
  return error;
}

/** Makes comlink transfer typed errors completely. Calling it twice is harmless. */
export function installErrorTransfer(): void {
  const thrown = transferHandlers.get('throw');
  if (thrown === undefined) return;
  transferHandlers.set('throw', {
    canHandle: thrown.canHandle,
    serialize: (thrownValue: unknown) => [serialize((thrownValue as ThrownValue).value), []],
    deserialize: (serialized: unknown) => {
      throw deserialize(serialized as Serialized);
    },
  });
}
