import { type ErrorCode, type ErrorDetails, messageOf, PlumblineError } from '../../errors.js';
import type { NodeInfo } from '../options/options.js';
import type { ProxyConfig } from './config.js';

/** What a page asks of the worker, with a port for the answer. */
export type PageMessage =
  | { readonly plumblineProxy: 'configure'; readonly config: ProxyConfig }
  /** Opens the node, if it is not open. */
  | { readonly plumblineProxy: 'open' }
  /** Forgets the configuration and closes the node. */
  | { readonly plumblineProxy: 'stop' };

/** What the worker asks of its pages after it was started again, with a port for a `ProxyConfig`: it keeps no keys. */
export interface WorkerQuestion {
  readonly plumblineProxy: 'config?';
}

/** What the worker gives back, by message. */
export interface MessageResults {
  configure: undefined;
  open: NodeInfo;
  stop: undefined;
}

/** What the service worker answers a page: a value, or an error with its code. */
export type MessageReply =
  | { readonly value: unknown }
  | { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails[ErrorCode] };

/** Whether it is a message of `registerRpcProxy`. */
export function isPageMessage(data: unknown): data is PageMessage {
  return isOurs(data) && ['configure', 'open', 'stop'].includes(data.plumblineProxy);
}

/** Whether it is a question of the proxy's service worker. */
export function isWorkerQuestion(data: unknown): data is WorkerQuestion {
  return isOurs(data) && data.plumblineProxy === 'config?';
}

function isOurs(data: unknown): data is { plumblineProxy: string } {
  return typeof data === 'object' && data !== null && 'plumblineProxy' in data;
}

/** What is sent for something that was thrown. */
export function thrownReply(error: unknown): MessageReply {
  if (error instanceof PlumblineError) return { code: error.code, message: error.message, details: error.details };
  const reason = messageOf(error);
  return { code: 'WORKER_FAILED', message: `the service worker failed: ${reason}`, details: { reason } };
}

/**
 * Asks a worker.
 *
 * @throws PlumblineError as the worker threw it; `WORKER_FAILED` when it says nothing in time
 */
export function ask<Message extends PageMessage>(
  worker: ServiceWorker,
  message: Message,
  timeoutMs: number,
): Promise<MessageResults[Message['plumblineProxy']]> {
  const { port1, port2 } = new MessageChannel();
  return new Promise<MessageResults[Message['plumblineProxy']]>((resolve, reject) => {
    const timer = setTimeout(() => {
      const reason = `no answer in ${timeoutMs} ms`;
      reject(new PlumblineError('WORKER_FAILED', `the service worker failed: ${reason}`, { reason }));
    }, timeoutMs);
    port1.onmessage = ({ data }: MessageEvent<MessageReply>) => {
      clearTimeout(timer);
      if ('code' in data) reject(new PlumblineError(data.code, data.message, data.details));
      else resolve(data.value as MessageResults[Message['plumblineProxy']]);
    };
    worker.postMessage(message, [port2]);
  }).finally(() => port1.close());
}
