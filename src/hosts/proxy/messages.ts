import { type ErrorCode, type ErrorDetails, messageOf, PlumblineError } from '../../errors.js';
import type { NodeInfo } from '../options/options.js';
import type { ProxyConfig } from './config.js';

/** A message of a page to the worker, sent with a port for the reply. */
export type PageMessage =
  | { readonly plumblineProxy: 'configure'; readonly config: ProxyConfig }
  /** Opens the node if it is not open. */
  | { readonly plumblineProxy: 'open' }
  /** Deletes the configuration and closes the node. */
  | { readonly plumblineProxy: 'stop' };

/** The worker asks its pages for the configuration, with a port for a `ProxyConfig`: after a restart it has no keys. */
export interface WorkerQuestion {
  readonly plumblineProxy: 'config?';
}

/** The value of the reply, by message. */
export interface MessageResults {
  configure: undefined;
  open: NodeInfo;
  stop: undefined;
}

/** The reply to a page: a value, or an error with its code. */
export type MessageReply =
  | { readonly value: unknown }
  | { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails[ErrorCode] };

/** Whether a message was sent by `registerRpcProxy`. */
export function isPageMessage(data: unknown): data is PageMessage {
  return isOurs(data) && ['configure', 'open', 'stop'].includes(data.plumblineProxy);
}

/** Whether a message is a question of the proxy's service worker. */
export function isWorkerQuestion(data: unknown): data is WorkerQuestion {
  return isOurs(data) && data.plumblineProxy === 'config?';
}

function isOurs(data: unknown): data is { plumblineProxy: string } {
  return typeof data === 'object' && data !== null && 'plumblineProxy' in data;
}

/** The reply for a thrown value. */
export function thrownReply(error: unknown): MessageReply {
  if (error instanceof PlumblineError) return { code: error.code, message: error.message, details: error.details };
  const { code, message, details } = serviceWorkerFailed(messageOf(error));
  return { code, message, details };
}

/**
 * Sends a message to a worker and waits for the reply.
 *
 * @throws PlumblineError that the worker threw; `WORKER_FAILED` when there is no reply in time
 */
export function ask<Message extends PageMessage>(
  worker: ServiceWorker,
  message: Message,
  timeoutMs: number,
): Promise<MessageResults[Message['plumblineProxy']]> {
  const { port1, port2 } = new MessageChannel();
  return new Promise<MessageResults[Message['plumblineProxy']]>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(serviceWorkerFailed(`it did not answer within ${timeoutMs} ms; try again, or load the page again`));
    }, timeoutMs);
    port1.onmessage = ({ data }: MessageEvent<MessageReply>) => {
      clearTimeout(timer);
      if ('code' in data) reject(new PlumblineError(data.code, data.message, data.details));
      else resolve(data.value as MessageResults[Message['plumblineProxy']]);
    };
    worker.postMessage(message, [port2]);
  }).finally(() => port1.close());
}

export function serviceWorkerFailed(reason: string, cause?: unknown): PlumblineError<'WORKER_FAILED'> {
  return new PlumblineError('WORKER_FAILED', `the service worker failed: ${reason}`, { reason }, { cause });
}
