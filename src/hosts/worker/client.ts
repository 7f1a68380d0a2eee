import { proxy, type Remote, releaseProxy, wrap } from 'comlink';
import { type ErrorDetails, invalidParameter, isPlumblineError, PlumblineError } from '../../errors.js';
import { type TableOf, withDefaults } from '../../primitives/option-table.js';
import type { Reply } from '../../rpc/envelope.js';
import type { FetchHandlerOptions } from '../../rpc/http.js';
import { surroundingActivity } from '../../scheduling/activity.js';
import { type LateSignal, signalOf } from '../../scheduling/deadline.js';
import { Listeners } from '../../scheduling/listeners.js';
import { webLocks } from '../../store/browser-storage.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import type { NodeInfo, NodeOptions, OpenProgress } from '../options/options.js';
import { notSendable } from '../options/require-options.js';
import { isScriptUrl, type ScriptUrl } from '../options/script-url.js';
import { nodeHandle, type PlumblineNode } from '../provider/node-handle.js';
import { ProviderRpcError } from '../provider/provider-error.js';
import type { RemoteRequest } from '../provider/transport.js';
import {
  type ChainCaller,
  type Layer,
  type NodeSession,
  type NodeTransport,
  nodeClosed,
  type SessionListener,
} from '../provider/transport.js';
import {
  deserialize,
  installErrorTransfer,
  isGreeting,
  isWorkerFailure,
  isWorkerMessage,
  isWorkerStoreStatus,
  type WorkerApi,
} from './worker-api.js';

/** Options of a node in a page. Some of them only work in the page itself. */
export interface ClientOptions extends NodeOptions {
  /**
   * A worker that runs `plumbline-l2/worker`, for bundlers that do not follow worker URLs. Or the URL of a module script that runs it,
   * which may be a `TrustedScriptURL`. All pages that use a SharedWorker with the same options use one node. This node is closed when
   * the last page closes it.
   */
  readonly worker?: Worker | SharedWorker | ScriptUrl;
  /** How long the worker's script may take to load, in ms. Default 60 000. */
  readonly loadTimeoutMs?: number;
  readonly onProgress?: (progress: OpenProgress) => void;
  /**
   * Makes the HTTP requests to the endpoints of a light node or a replica, in the page. Default: the worker's own `fetch`. Answers are
   * read as a whole, up to 64 MiB. It cannot be used with a SharedWorker, which lives longer than the page.
   */
  readonly fetch?: typeof fetch;
  readonly http?: FetchHandlerOptions;
}

/** What each option is that `NodeOptions` does not have. */
const CLIENT_OPTIONS = {
  worker: { is: 'worker' },
  loadTimeoutMs: { is: 'aboveZero', or: 60_000 },
  onProgress: { is: 'function' },
  fetch: { is: 'function' },
  http: { is: 'http' },
} as const satisfies TableOf<Omit<ClientOptions, keyof NodeOptions>>;

/**
 * Starts a node in a module Worker and resolves when it can answer.
 *
 * @throws PlumblineError `WORKER_FAILED` if there are no workers, or if the worker's script does not load; `INVALID_PARAMETER` if
 *   `postMessage` cannot send an option, such as a provider where an endpoint's URL is needed, and for `fetch` with a SharedWorker;
 *   the errors of opening the node
 *
 * @example
 * ```ts
 * import { createNode } from 'plumbline-l2';
 *
 * const node = await createNode({ chain: { kind: 'devnet', mining: 'manual' } });
 * console.log(await node.request({ method: 'eth_blockNumber' }));
 * await node.close();
 * ```
 */
export async function createNode(options: ClientOptions = {}): Promise<PlumblineNode> {
  installErrorTransfer();
  // Before the first wait, so that no error of the caller's worker is missed. Options that are none are refused after it.
  const given = options?.worker;
  let transport = isWorker(given) ? new WorkerTransport(given) : undefined;
  (await import('../options/require-known.js')).requireKnown(options, CLIENT_OPTIONS);
  const { worker, http, chain, chains, fetch } = options;
  if (transport === undefined && typeof Worker === 'undefined') {
    throw failed('this environment has no workers; use `createInlineNode` of plumbline-l2/inline, which needs none');
  }
  if (fetch !== undefined && isWorker(worker) && 'port' in worker)
    throw invalidParameter('fetch', 'cannot be used with a SharedWorker, which lives longer than the page');
  const isOwnDevnet =
    chains === undefined && (chain === undefined || (chain.kind === 'devnet' && chain.fork === undefined));
  if (worker === undefined && isOwnDevnet) {
    const devnet = await openOwnDevnet(options);
    if (devnet !== undefined) return nodeHandle(devnet, http);
  }
  const create = isScriptUrl(worker)
    ? () => new Worker(worker as URL, { type: 'module' })
    : () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  const sinceMs = performance.now();
  transport ??= await started(create);
  try {
    await openOn(transport, options);
  } catch (error) {
    if (transport.hasStarted) throw error;
    throw await notStarted(error, transport, worker === undefined || isScriptUrl(worker) ? create : undefined, sinceMs);
  }
  return nodeHandle(transport, http);
}

function isWorker(given: ClientOptions['worker']): given is Worker | SharedWorker {
  return typeof (given as Partial<Worker> | undefined)?.addEventListener === 'function';
}

/**
 * Opens a devnet in `worker-devnet.js`.
 *
 * @returns undefined when the script of that worker does not load: not every bundler follows its URL
 */
async function openOwnDevnet(options: ClientOptions): Promise<WorkerTransport | undefined> {
  const transport = await started(() => new Worker(new URL('./worker-devnet.js', import.meta.url), { type: 'module' }));
  try {
    await openOn(transport, options);
    return transport;
  } catch (error) {
    if (transport.isMissing) return undefined;
    throw error;
  }
}

/** Opens the node of a worker. Terminates the worker if that fails. */
async function openOn(transport: WorkerTransport, options: ClientOptions): Promise<void> {
  const {
    worker: _,
    loadTimeoutMs,
    onProgress,
    fetch,
    http: __,
    ...nodeOptions
  } = withDefaults(CLIENT_OPTIONS, options);
  try {
    await transport.ready(loadTimeoutMs);
    await transport.open(nodeOptions, onProgress, fetch);
  } catch (error) {
    transport.terminate();
    throw error;
  }
}

/** @throws PlumblineError `WORKER_FAILED` for a script that the browser refuses at once: by Trusted Types, or of another origin */
async function started(create: () => Worker): Promise<WorkerTransport> {
  try {
    return new WorkerTransport(create());
  } catch (cause) {
    const { whyRefused, urlGivenBy } = await import('./script-failure.js');
    throw failed(whyRefused(cause, urlGivenBy(create)), cause);
  }
}

/**
 * The error of a worker whose script did not start, with all that the page can find out.
 *
 * @param create - undefined for a worker of the caller, whose URL is not known
 */
async function notStarted(
  error: unknown,
  { forbidden, isMissing }: WorkerTransport,
  create: (() => Worker) | undefined,
  sinceMs: number,
): Promise<unknown> {
  if (!isPlumblineError(error, 'WORKER_FAILED')) return error;
  // Offline, or after a new version of the site, the file may be missing too.
  const found = await import('./script-failure.js').catch(() => undefined);
  const url = forbidden ?? (create && found?.urlGivenBy(create));
  if (!isMissing || forbidden !== undefined)
    return failed({ ...error.details, ...(url !== undefined && { url }) }, error.cause);
  return failed((await found?.whyNotStarted(url, sinceMs)) ?? error.details, error.cause);
}

function failed(details: string | ErrorDetails['WORKER_FAILED'], cause?: unknown): PlumblineError<'WORKER_FAILED'> {
  const given = typeof details === 'string' ? { reason: details } : details;
  return new PlumblineError('WORKER_FAILED', `the node's worker failed: ${given.reason}`, given, { cause });
}

/** The node of one worker. When the worker ends or is closed, all waiting calls are rejected. */
class WorkerTransport implements NodeTransport {
  private readonly remote: Remote<WorkerApi>;
  private readonly waiting = new Set<(error: Error) => void>();
  private readonly failureListeners = new Listeners<Error>();
  private readonly storeListeners = new Listeners<StoreStatus>();
  storeStatus: StoreStatus | undefined;
  private opened: NodeInfo | undefined;
  private ended: Error | undefined;
  hasStarted = false;
  /** Its script did not load. */
  isMissing = false;
  /** The script that the page's Content-Security-Policy forbids. */
  forbidden: string | undefined;
  private readonly unwatch = new AbortController();
  private readonly sessions = new Map<number, SessionListener>();
  private nextCall = 1;
  private closing: Promise<void> | undefined;
  private nextSession = 1;

  /** Sends and receives messages. */
  private readonly port: Worker | MessagePort;

  constructor(private readonly worker: Worker | SharedWorker) {
    this.port = 'port' in worker ? worker.port : worker;
    this.remote = wrap<WorkerApi>(this.port);
    const onError = (event: Event) => {
      const { message } = event as Partial<ErrorEvent>;
      this.isMissing ||= !this.hasStarted && !message;
      const { forbidden } = this;
      this.fail(
        failed(
          message ||
            (forbidden === undefined
              ? 'its script does not load; check its URL'
              : `worker-src of the page's Content-Security-Policy forbids its script ${forbidden}`),
        ),
      );
    };
    worker.addEventListener('error', onError);
    // Arrives before the error of the worker, which says nothing.
    globalThis.document?.addEventListener(
      'securitypolicyviolation',
      ({ effectiveDirective, blockedURI }) => {
        if (effectiveDirective === 'worker-src' && !this.hasStarted) this.forbidden = blockedURI;
      },
      { signal: this.unwatch.signal },
    );
    this.port.addEventListener('messageerror', () => this.fail(failed('a message could not be read')));
    this.port.addEventListener('message', (event) => {
      const { data } = event as MessageEvent;
      if (isWorkerMessage(data)) this.sessions.get(data.plumblineSession)?.(data.message);
      if (isWorkerFailure(data)) this.fail(deserialize(data.plumblineFailure) as Error);
      if (isWorkerStoreStatus(data)) this.setStoreStatus(data.plumblineStore);
    });
  }

  get info(): NodeInfo {
    return this.opened!;
  }

  async ready(timeoutMs: number): Promise<void> {
    let stop = () => {};
    const loaded = new Promise<void>((resolve, reject) => {
      const onMessage = (event: Event) => {
        const { data } = event as MessageEvent;
        if (!isGreeting(data)) return;
        this.hasStarted = true;
        this.watch(data.lock);
        resolve();
      };
      this.port.addEventListener('message', onMessage);
      if ('start' in this.port) this.port.start();
      // A worker that was ready before this listener was there is asked to say so again.
      void this.remote.greet().catch(() => {});
      const timer = setTimeout(
        () => reject(failed(`its script did not start within ${timeoutMs} ms; check its URL, or raise loadTimeoutMs`)),
        timeoutMs,
      );
      stop = () => {
        clearTimeout(timer);
        this.port.removeEventListener('message', onMessage);
      };
    });
    await this.orEnd(() => loaded).finally(stop);
  }

  async open(
    options: NodeOptions,
    onProgress?: (progress: OpenProgress) => void,
    fetch?: ClientOptions['fetch'],
  ): Promise<void> {
    const listener = onProgress && proxy(onProgress);
    const pageFetch = fetch && proxy((await import('./page-fetch.js')).answering(fetch));
    this.opened = await this.orEnd(() => this.remote.open(options, listener, pageFetch)).catch((error: unknown) => {
      throw isNotPlain(error) ? notSendable('a worker', error) : error;
    });
    this.reportActivity();
  }

  /** Tells the worker whether the page is visible, which a worker cannot detect. */
  private reportActivity(): void {
    const activity = surroundingActivity();
    const report = () => {
      if (this.ended === undefined) void this.remote.setActive(activity.isActive).catch(() => {});
    };
    this.unwatch.signal.addEventListener('abort', activity.onChange(report), { once: true });
    if (!activity.isActive) report();
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller?: ChainCaller): Promise<Reply> {
    return this.answer({ layer, payload, chain: caller?.chain }, signalOf(signal));
  }

  openSession(listener: SessionListener, _?: object, chain?: number): NodeSession {
    const session = this.nextSession++;
    this.sessions.set(session, listener);
    return {
      dispatch: (payload, signal) => this.answer({ layer: 'l2', payload, session, chain }, signalOf(signal)),
      close: () => {
        if (!this.sessions.delete(session) || this.ended !== undefined) return;
        void this.orEnd(() => this.remote.closeSession(session)).catch(() => {});
      },
    };
  }

  private async answer(request: RemoteRequest, signal?: AbortSignal): Promise<Reply> {
    signal?.throwIfAborted();
    const call = this.nextCall++;
    const answer = this.orEnd(() => this.remote.dispatch(request, call)).catch(notCopied);
    if (signal === undefined) return answer;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (this.ended === undefined) void this.remote.abort(call).catch(() => {});
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  /** Each call waits for the same end: the worker must not be terminated while it stores. */
  async close(): Promise<void> {
    if (this.ended === undefined)
      this.closing ??= this.orEnd(() => this.remote.close()).finally(() => this.terminate());
    await this.closing;
  }

  terminate(): void {
    this.end(nodeClosed());
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    return this.storeListeners.add(listener);
  }

  private setStoreStatus(status: StoreStatus | undefined): void {
    this.storeStatus = status;
    if (status === undefined || this.opened === undefined) return;
    this.storeListeners.notify(status);
  }

  onFailure(listener: (error: Error) => void): () => void {
    return this.failureListeners.add(listener);
  }

  /** Waits for the lock that the worker holds. It is granted when the worker has ended. */
  private watch(lock: string | undefined): void {
    if (lock === undefined) return;
    webLocks()
      ?.request(lock, { signal: this.unwatch.signal }, () => this.fail(failed('it ended; open the node again')))
      .catch(() => {});
  }

  private fail(error: Error): void {
    if (this.ended !== undefined) return;
    this.end(error);
    this.failureListeners.notify(error);
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

  /** Rejects when the worker ends, because a worker that has ended never answers. */
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

/** Whether a browser could not copy what was to be sent. */
const isNotPlain = (error: unknown) => error instanceof Error && error.name === 'DataCloneError';

/** Throws the error of a request. @throws ProviderRpcError `INVALID_PARAMETER` if a browser cannot copy the parameters */
function notCopied(error: unknown): never {
  if (!isNotPlain(error)) throw error;
  const { code: reason, message, details } = notSendable('a worker', error, 'params');
  throw new ProviderRpcError({ code: -32602, message, reason, details }, { cause: error });
}
