import { PlumblineError } from '../../errors.js';
import type { NodeInfo } from '../options/options.js';
import { notSendable } from '../options/sendable.js';
import { CHAIN_PARAMETER, type ProxyConfig, proxyConfig, type RpcProxyOptions } from './config.js';
import { ask, isWorkerQuestion } from './messages.js';

export type { RpcProxyOptions } from './config.js';

/** A service worker that answers this page's RPC requests. */
export interface RpcProxy {
  readonly registration: ServiceWorkerRegistration;
  /**
   * Opens the worker's node now and not with the first request, and says what it is.
   *
   * @throws PlumblineError of whatever does not open
   */
  open(): Promise<NodeInfo>;
  /** As `unregisterRpcProxy`. */
  stop(options?: StopOptions): Promise<void>;
}

export interface StopOptions {
  /** Leave the service worker in place, for one that does other things as well. False when left out. */
  readonly keepRegistration?: boolean;
}

const TIMEOUT_MS = 15_000;
const LOOK_MS = 20;
/** A worker that is between two states is there again at the next look. */
const LOOKS_UNTIL_GONE = 5;

/** Of this page, by scope: what ends the answers to the worker's question. */
const answering = new Map<string, AbortController>();

/**
 * Registers the service worker and resolves when it answers for this page: from then on a `fetch` of the configured
 * addresses is answered by the worker's node. Every page that calls it with other options gives them to all pages of the scope.
 *
 * The worker keeps the options, but no keys of endpoints: after it was ended and started again it has those from the address
 * of a request or from a page, so each page has to call this when it loads.
 *
 * @throws PlumblineError `WORKER_FAILED` where there are no service workers, or the script does not come, install or answer
 *   for this page, with the reason; `INVALID_PARAMETER` for options that are not sound or cannot be sent, such as a provider
 *   in place of an endpoint's address; `STORE_UNAVAILABLE`
 */
export async function registerRpcProxy(options: RpcProxyOptions): Promise<RpcProxy> {
  const container = serviceWorkers();
  const { timeoutMs = TIMEOUT_MS } = options;
  const config = sendable(proxyConfig(options, location.href));
  const url = addressOf(options.scriptUrl);
  url.searchParams.set(CHAIN_PARAMETER, config.node.chain?.kind ?? 'devnet');
  const registration = await inTime(register(container, url, options.scope), timeoutMs);
  if (!location.href.startsWith(registration.scope)) {
    throw failed(`this page is outside of ${registration.scope}, where the worker answers`);
  }
  answerQuestions(container, registration.scope, url.href, config);
  await configured(container, registration, url.href, config, timeoutMs);
  return {
    registration,
    open: () => ask(activeOf(registration), { plumblineProxy: 'open' }, OPEN_TIMEOUT_MS),
    stop: (stopOptions) => stopProxy(registration, stopOptions),
  };
}

/** A stored chain may take long to open. */
const OPEN_TIMEOUT_MS = 120_000;

/**
 * Switches the proxy off: requests under way are answered, later ones go to the network. The node's database stays, and so
 * do service workers that are none of ours.
 *
 * @param options.scope - as it was registered; the scope of this page when left out
 */
export async function unregisterRpcProxy(options: StopOptions & { readonly scope?: string } = {}): Promise<void> {
  const registration = await serviceWorkers().getRegistration(options.scope);
  if (registration !== undefined) await stopProxy(registration, options);
}

async function stopProxy(registration: ServiceWorkerRegistration, { keepRegistration = false }: StopOptions = {}) {
  if (!isOurs(registration)) return;
  answering.get(registration.scope)?.abort();
  answering.delete(registration.scope);
  const { active } = registration;
  try {
    if (active !== null) await ask(active, { plumblineProxy: 'stop' }, OPEN_TIMEOUT_MS);
  } finally {
    if (!keepRegistration) await registration.unregister();
  }
}

/** Registered by `registerRpcProxy`: the script's address says so. */
function isOurs({ active, waiting, installing }: ServiceWorkerRegistration): boolean {
  return [active, waiting, installing].some(
    (worker) => worker !== null && new URL(worker.scriptURL).searchParams.has(CHAIN_PARAMETER),
  );
}

function serviceWorkers(): ServiceWorkerContainer {
  const serviceWorker = globalThis.navigator?.serviceWorker;
  if (serviceWorker === undefined) throw failed('this page cannot have service workers; they need https or localhost');
  return serviceWorker;
}

/** @throws PlumblineError `INVALID_PARAMETER` */
function addressOf(scriptUrl: string | URL): URL {
  try {
    if (scriptUrl !== undefined) return new URL(scriptUrl, location.href);
  } catch {
    // As one that is missing.
  }
  const reason = 'is no address';
  throw new PlumblineError('INVALID_PARAMETER', `scriptUrl: ${reason}`, { parameter: 'scriptUrl', reason });
}

async function register(
  container: ServiceWorkerContainer,
  url: URL,
  scope: string | undefined,
): Promise<ServiceWorkerRegistration> {
  try {
    return await container.register(url, { updateViaCache: 'none', ...(scope !== undefined && { scope }) });
  } catch (error) {
    throw failed(`its script cannot be registered (${error instanceof Error ? error.message : String(error)})`, error);
  }
}

/** @throws PlumblineError `WORKER_FAILED` when it takes longer: a browser waits for minutes for a script that does not come */
async function inTime<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed(`its script does not come within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Resolves when the worker in charge has taken the options over and controls this page. */
async function configured(
  container: ServiceWorkerContainer,
  registration: ServiceWorkerRegistration,
  scriptUrl: string,
  config: ProxyConfig,
  timeoutMs: number,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  let asked: ServiceWorker | undefined;
  let told = false;
  let refused: unknown;
  let gone = 0;
  while (!told || container.controller?.scriptURL !== scriptUrl) {
    const { active, waiting, installing } = registration;
    gone = [active, waiting, installing].some((worker) => worker?.scriptURL === scriptUrl) ? 0 : gone + 1;
    if (gone > LOOKS_UNTIL_GONE) {
      throw failed('its script could not be installed; the files beside it have to be served as well');
    }
    // A version that stands in for the one that was asked is asked as well.
    if (active !== null && active !== asked && active.scriptURL === scriptUrl) {
      asked = active;
      ask(active, { plumblineProxy: 'configure', config }, timeoutMs).then(
        () => {
          told = true;
        },
        (error: unknown) => {
          refused = asked === active ? error : undefined;
        },
      );
    }
    if (refused !== undefined) throw refused;
    if (performance.now() > end) {
      const late = `after ${timeoutMs} ms`;
      if (asked !== undefined && !told) throw failed(`${late} its script has not answered: is it plumbline’s?`);
      const other = told && container.controller !== null ? '; another one does, of a narrower scope' : '';
      throw failed(`it does not control this page ${late}${other}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Gives the options to the worker whenever it asks for them. */
function answerQuestions(
  container: ServiceWorkerContainer,
  scope: string,
  scriptUrl: string,
  config: ProxyConfig,
): void {
  answering.get(scope)?.abort();
  const controller = new AbortController();
  answering.set(scope, controller);
  container.addEventListener(
    'message',
    (event: MessageEvent) => {
      const source = event.source as ServiceWorker | null;
      if (isWorkerQuestion(event.data) && source?.scriptURL === scriptUrl) event.ports[0]?.postMessage(config);
    },
    { signal: controller.signal },
  );
  // Without this, messages wait until the document is parsed.
  container.startMessages();
}

function activeOf(registration: ServiceWorkerRegistration): ServiceWorker {
  if (registration.active === null) throw failed('it was unregistered');
  return registration.active;
}

/** @throws PlumblineError `INVALID_PARAMETER` for what no message can carry */
function sendable(config: ProxyConfig): ProxyConfig {
  try {
    return structuredClone(config);
  } catch (error) {
    throw notSendable('a service worker', error);
  }
}

function failed(reason: string, cause?: unknown): PlumblineError<'WORKER_FAILED'> {
  return new PlumblineError('WORKER_FAILED', `the service worker failed: ${reason}`, { reason }, { cause });
}
