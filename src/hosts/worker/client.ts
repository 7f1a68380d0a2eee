import { proxy, type Remote, releaseProxy, wrap } from 'comlink';
import { PlumblineError } from '../../errors.js';
import type { Reply } from '../../rpc/envelope.js';
import type { FetchHandlerOptions } from '../../rpc/http/http.js';
import { surroundingActivity } from '../../scheduling/activity.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import type { NodeInfo, NodeOptions, OpenProgress } from '../options/options.js';
import { isNotPlain, notSendable } from '../options/sendable.js';
import { nodeHandle, type PlumblineNode } from '../provider/node-handle.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';
import { deserialize, installErrorTransfer } from './transfer.js';
import { isGreeting, isWorkerFailure, isWorkerMessage, isWorkerStoreStatus, type WorkerApi } from './worker-api.js';

/** Options of a page's node, with what only the page itself can use. */
export interface ClientOptions extends NodeOptions {
  /**
   * A worker of the caller's own making that runs `plumbline-l2/worker`, for bundlers that do not follow worker URLs. The node
   * of a SharedWorker is one for all pages that give the same options, and is closed when the last of them closes it.
   */
  readonly worker?: Worker | SharedWorker;
  /** How long the worker's script may take to load, in ms. Default 15 000. */
  readonly loadTimeoutMs?: number;
  readonly onProgress?: (progress: OpenProgress) => void;
  readonly http?: FetchHandlerOptions;
}

/**
 * Starts a node in a module Worker and resolves when it can answer.
 *
 * @throws PlumblineError `WORKER_FAILED` where there are no workers, or the worker's script does not load; `INVALID_PARAMETER`
 *   for options that no message carries to it, such as a provider in place of an endpoint's address; whatever opening throws
 */
export async function createNode(options: ClientOptions = {}): Promise<PlumblineNode> {
  const { worker, http, chain } = options;
  if (worker === undefined && typeof Worker === 'undefined') {
    throw failed('there are no workers here; `createInlineNode` of plumbline-l2/inline needs none');
  }
  installErrorTransfer();
  let transport: WorkerTransport | undefined;
  if (worker === undefined && (chain?.kind ?? 'devnet') === 'devnet') transport = await openOwnDevnet(options);
  if (transport === undefined) {
    transport = new WorkerTransport(worker ?? new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }));
    await openOn(transport, options);
  }
  return nodeHandle(transport, http);
}

/**
 * A devnet in the worker that is made for one.
 *
 * @returns undefined where the script of that worker is not there: not every bundler follows the address
 */
async function openOwnDevnet(options: ClientOptions): Promise<WorkerTransport | undefined> {
  const worker = new Worker(new URL('./worker-devnet.js', import.meta.url), { type: 'module' });
  const transport = new WorkerTransport(worker);
  try {
    await openOn(transport, options);
    return transport;
  } catch (error) {
    if (transport.isMissing) return undefined;
    throw error;
  }
}

/** Opens the node of a worker; terminates the worker when it does not open. */
async function openOn(transport: WorkerTransport, options: ClientOptions): Promise<void> {
  const { worker: _, loadTimeoutMs = 15_000, onProgress, http: __, ...nodeOptions } = options;
  try {
    await transport.ready(loadTimeoutMs);
    await transport.open(nodeOptions, onProgress);
  } catch (error) {
    transport.terminate();
    throw error;
  }
}

function failed(reason: string): PlumblineError<'WORKER_FAILED'> {
  return new PlumblineError('WORKER_FAILED', `the node's worker failed: ${reason}`, { reason });
}

/** The calls of one worker. When it dies, or is closed, every call still waiting is rejected. */
class WorkerTransport implements NodeTransport {
  private readonly remote: Remote<WorkerApi>;
  private readonly waiting = new Set<(error: Error) => void>();
  private readonly failureListeners = new Set<(error: Error) => void>();
  private readonly storeListeners = new Set<StoreStatusListener>();
  storeStatus: StoreStatus | undefined;
  private opened: NodeInfo | undefined;
  private ended: Error | undefined;
  private greeted = false;
  private missing = false;
  private readonly unwatch = new AbortController();
  private readonly sessions = new Map<number, SessionListener>();
  private nextCall = 1;
  private nextSession = 1;

  /** Where messages go through. */
  private readonly port: Worker | MessagePort;

  constructor(private readonly worker: Worker | SharedWorker) {
    this.port = 'port' in worker ? worker.port : worker;
    this.remote = wrap<WorkerApi>(this.port);
    const onError = (event: Event) => {
      const { message } = event as Partial<ErrorEvent>;
      this.missing ||= !this.greeted && !message;
      this.fail(failed(message || 'its script does not load'));
    };
    worker.addEventListener('error', onError);
    this.port.addEventListener('messageerror', () => this.fail(failed('a message could not be read')));
    this.port.addEventListener('message', (event) => {
      const { data } = event as MessageEvent;
      if (isWorkerMessage(data)) this.sessions.get(data.plumblineSession)?.(data.message);
      if (isWorkerFailure(data)) this.fail(deserialize(data.plumblineFailure) as Error);
      if (isWorkerStoreStatus(data)) this.tellStore(data.plumblineStore);
    });
  }

  get info(): NodeInfo {
    return this.opened!;
  }

  /** Its script did not load. */
  get isMissing(): boolean {
    return this.missing;
  }

  async ready(timeoutMs: number): Promise<void> {
    let stop = () => {};
    const loaded = new Promise<void>((resolve, reject) => {
      const onMessage = (event: Event) => {
        const { data } = event as MessageEvent;
        if (!isGreeting(data)) return;
        this.greeted = true;
        this.watch(data.lock);
        resolve();
      };
      this.port.addEventListener('message', onMessage);
      if ('start' in this.port) this.port.start();
      const timer = setTimeout(() => reject(failed(`its script did not start within ${timeoutMs} ms`)), timeoutMs);
      stop = () => {
        clearTimeout(timer);
        this.port.removeEventListener('message', onMessage);
      };
    });
    await this.orEnd(() => loaded).finally(stop);
  }

  async open(options: NodeOptions, onProgress?: (progress: OpenProgress) => void): Promise<void> {
    const listener = onProgress === undefined ? undefined : proxy(onProgress);
    this.opened = await this.orEnd(() => this.remote.open(options, listener)).catch((error: unknown) => {
      throw isNotPlain(error) ? notSendable('a worker', error) : error;
    });
    this.reportActivity();
  }

  /** Tells the worker, which cannot see it, whether the page is visible. */
  private reportActivity(): void {
    const activity = surroundingActivity();
    const tell = () => {
      if (this.ended === undefined) void this.remote.setActive(activity.isActive).catch(() => {});
    };
    this.unwatch.signal.addEventListener('abort', activity.onChange(tell), { once: true });
    if (!activity.isActive) tell();
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    return this.answer(layer, payload, signal);
  }

  openSession(listener: SessionListener): NodeSession {
    const session = this.nextSession++;
    this.sessions.set(session, listener);
    return {
      dispatch: (payload, signal) => this.answer('l2', payload, signal, session),
      close: () => {
        if (!this.sessions.delete(session) || this.ended !== undefined) return;
        void this.orEnd(() => this.remote.closeSession(session)).catch(() => {});
      },
    };
  }

  private async answer(layer: Layer, payload: unknown, signal?: AbortSignal, session?: number): Promise<Reply> {
    const call = this.nextCall++;
    const answer = this.orEnd(() => this.remote.dispatch(layer, payload, call, session));
    if (signal === undefined) return answer;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (this.ended === undefined) void this.remote.abort(call).catch(() => {});
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  async close(): Promise<void> {
    if (this.ended !== undefined) return;
    try {
      await this.orEnd(() => this.remote.close());
    } finally {
      this.terminate();
    }
  }

  terminate(): void {
    this.end(new PlumblineError('NODE_CLOSED', 'the node was closed', {}));
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    this.storeListeners.add(listener);
    return () => this.storeListeners.delete(listener);
  }

  private tellStore(status: StoreStatus | undefined): void {
    this.storeStatus = status;
    if (status === undefined || this.opened === undefined) return;
    for (const listener of this.storeListeners) listener(status);
  }

  onFailure(listener: (error: Error) => void): () => void {
    this.failureListeners.add(listener);
    return () => this.failureListeners.delete(listener);
  }

  /** Waits for the lock the worker holds: it is granted when the worker is gone. */
  private watch(lock: string | undefined): void {
    if (lock === undefined || navigator.locks === undefined) return;
    navigator.locks.request(lock, { signal: this.unwatch.signal }, () => this.fail(failed('it ended'))).catch(() => {});
  }

  private fail(error: Error): void {
    if (this.ended !== undefined) return;
    this.end(error);
    for (const listener of this.failureListeners) listener(error);
  }

  private end(error: Error): void {
    if (this.ended !== undefined) return;
    this.ended = error;
    this.unwatch.abort();
    this.remote[releaseProxy]();
    if ('terminate' in this.worker) this.worker.terminate();
    else this.worker.port.close();
    for (const reject of this.waiting) reject(error);
    this.waiting.clear();
  }

  /** The promise, or the worker's end, whichever comes first: a dead worker answers nothing. */
  private orEnd<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.ended !== undefined) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      this.waiting.add(reject);
      work()
        .then(resolve, reject)
        .finally(() => this.waiting.delete(reject));
    });
  }
}
