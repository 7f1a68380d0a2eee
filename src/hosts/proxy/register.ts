import { invalidParameter, messageOf } from '../../errors.js';
import { withDefaults } from '../../primitives/option-table.js';
import type { NodeInfo } from '../options/options.js';
import { notSendable } from '../options/require-options.js';
import { isTrusted, type ScriptUrl, trustedTypesDirective } from '../options/script-url.js';
import {
  ask,
  CHAIN_PARAMETER,
  isWorkerQuestion,
  PROXY_OPTIONS,
  type ProxyConfig,
  proxyConfig,
  type RpcProxyOptions,
  serviceWorkerFailed,
} from './config.js';

export type { RpcProxyOptions } from './config.js';

/** A service worker that answers this page's RPC requests. */
export interface RpcProxy {
  readonly registration: ServiceWorkerRegistration;
  /**
   * Opens the service worker's node now, and not with the first request.
   *
   * @throws PlumblineError of opening the node
   */
  open(): Promise<NodeInfo>;
  /** As `unregisterRpcProxy`. */
  stop(options?: StopOptions): Promise<void>;
}

export interface StopOptions {
  /** Keeps the service worker registered, because it also does other work. Default: false. */
  readonly keepRegistration?: boolean;
}

const LOOK_MS = 20;
/** After this time without control of the page, the worker claims it again. */
const CLAIM_AGAIN_MS = 1_000;
/** A worker between two states is missing for one look. After so many looks it counts as gone. */
const LOOKS_UNTIL_GONE = 5;

/** By scope: stops this page from answering the worker's requests for the configuration. */
const answering = new Map<string, AbortController>();

/**
 * Registers the service worker. It resolves when the service worker controls this page. From then on, the node in the service worker
 * answers each `fetch` of the configured URLs. If a page calls this function with other options, these apply to all pages of the
 * scope.
 *
 * The service worker stores the options, but not the API keys of endpoints. After a restart, it gets the keys from the URL of a
 * request or from a page. So each page must call this function when it loads.
 *
 * @throws PlumblineError `WORKER_FAILED`, with the reason, if there are no service workers, or if the script does not load, install,
 *   answer or control this page; `INVALID_PARAMETER` if options are invalid or `postMessage` cannot send them, such as a provider
 *   where an endpoint's URL is needed; `STORE_IN_USE` if another page has a proxy of another chain on the same store (that proxy stays
 *   as it is); `STORE_UNAVAILABLE`
 *
 * @example
 * ```ts
 * import { registerRpcProxy } from 'plumbline-l2';
 *
 * const proxy = await registerRpcProxy({ scriptUrl: '/service-worker.js', paths: ['/rpc'] });
 * const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
 * console.log(await (await fetch('/rpc', { method: 'POST', body })).json());
 * await proxy.stop();
 * ```
 */
export async function registerRpcProxy(options: RpcProxyOptions): Promise<RpcProxy> {
  (await import('../options/require-known.js')).requireKnown(options, PROXY_OPTIONS);
  const container = serviceWorkers();
  const { timeoutMs } = withDefaults(PROXY_OPTIONS, options);
  const config = sendable(proxyConfig(options, location.href));
  const { scriptUrl } = options;
  const url = addressOf(scriptUrl);
  const { chain, chains } = config.node;
  const kind = chains === undefined ? (chain?.kind ?? 'devnet') : 'chains';
  if (!isTrusted(scriptUrl)) url.searchParams.set(CHAIN_PARAMETER, kind);
  else if (url.searchParams.get(CHAIN_PARAMETER) !== kind)
    throw invalidParameter(
      'scriptUrl',
      `needs the parameter ${CHAIN_PARAMETER}=${kind}, which a TrustedScriptURL must have already`,
    );
  // Before the worker of another chain replaces that of an open page.
  const scope = new URL(options.scope ?? new URL('.', url), location.href).href;
  const settleClaim = await (await storeClaims()).claimProxyStore(scope, config.node);
  let registration: ServiceWorkerRegistration;
  try {
    registration = await inTime(register(container, isTrusted(scriptUrl) ? scriptUrl : url, options.scope), timeoutMs);
    if (!location.href.startsWith(registration.scope)) {
      throw serviceWorkerFailed(
        `this page is outside of the worker's scope ${registration.scope}; set "scope" to one that contains it`,
      );
    }
    answerQuestions(container, registration.scope, url.href, config);
    await configured(container, registration, url.href, config, timeoutMs);
  } catch (error) {
    settleClaim(false);
    throw error;
  }
  settleClaim(true);
  return {
    registration,
    open: () => ask(activeOf(registration), { plumblineProxy: 'open' }, OPEN_TIMEOUT_MS),
    stop: (stopOptions) => stopProxy(registration, stopOptions),
  };
}

/** Opening a stored chain may take long. */
const OPEN_TIMEOUT_MS = 120_000;

/**
 * Switches the proxy off. Open requests are still answered. Later requests go to the network. The node's database and the service
 * workers of other software are kept.
 *
 * @param options.scope - the scope that was registered. Default: the scope of this page
 *
 * @example
 * ```ts
 * import { registerRpcProxy, unregisterRpcProxy } from 'plumbline-l2';
 *
 * await registerRpcProxy({ scriptUrl: '/service-worker.js' });
 * await unregisterRpcProxy();
 * ```
 */
export async function unregisterRpcProxy(options: StopOptions & { readonly scope?: string } = {}): Promise<void> {
  const registration = await serviceWorkers().getRegistration(options.scope);
  if (registration !== undefined) await stopProxy(registration, options);
}

async function stopProxy(registration: ServiceWorkerRegistration, { keepRegistration = false }: StopOptions = {}) {
  if (!isOurs(registration)) return;
  answering.get(registration.scope)?.abort();
  answering.delete(registration.scope);
  (await storeClaims()).endProxyClaim(registration.scope);
  const { active } = registration;
  try {
    if (active !== null) await ask(active, { plumblineProxy: 'stop' }, OPEN_TIMEOUT_MS);
  } finally {
    if (!keepRegistration) await registration.unregister();
  }
}

/** A chunk of its own: pages without a proxy do not load it. */
const storeClaims = () => import('./store-claim.js');

/** Whether `registerRpcProxy` registered it. The script's URL shows it. */
function isOurs({ active, waiting, installing }: ServiceWorkerRegistration): boolean {
  return [active, waiting, installing].some(
    (worker) => worker !== null && new URL(worker.scriptURL).searchParams.has(CHAIN_PARAMETER),
  );
}

function serviceWorkers(): ServiceWorkerContainer {
  let serviceWorker: ServiceWorkerContainer | undefined;
  try {
    serviceWorker = globalThis.navigator?.serviceWorker;
  } catch (error) {
    throw serviceWorkerFailed(`this page cannot use service workers (${messageOf(error)})`, error);
  }
  if (serviceWorker === undefined)
    throw serviceWorkerFailed('this page cannot use service workers; load it over https or from localhost');
  return serviceWorker;
}

/** @throws PlumblineError `INVALID_PARAMETER` */
function addressOf(scriptUrl: ScriptUrl): URL {
  try {
    if (scriptUrl !== undefined) return new URL(String(scriptUrl), location.href);
  } catch {
    // Handled like a missing URL.
  }
  throw invalidParameter('scriptUrl', 'must be the URL of the built plumbline-l2/service-worker script');
}

async function register(
  container: ServiceWorkerContainer,
  url: ScriptUrl,
  scope: string | undefined,
): Promise<ServiceWorkerRegistration> {
  try {
    return await container.register(url as URL, { updateViaCache: 'none', ...(scope !== undefined && { scope }) });
  } catch (error) {
    const directive = trustedTypesDirective(error);
    throw serviceWorkerFailed(
      directive === undefined
        ? `its script cannot be registered (${messageOf(error)})`
        : `${directive} forbids its script ${url}; give a TrustedScriptURL of it as scriptUrl`,
      error,
    );
  }
}

/** @throws PlumblineError `WORKER_FAILED` after the timeout, because a browser waits minutes for a script that does not load */
async function inTime<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          serviceWorkerFailed(`its script did not load within ${timeoutMs} ms; check scriptUrl, or raise timeoutMs`),
        ),
      timeoutMs,
    );
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Resolves when the active worker has taken the options and controls this page. */
async function configured(
  container: ServiceWorkerContainer,
  registration: ServiceWorkerRegistration,
  scriptUrl: string,
  config: ProxyConfig,
  timeoutMs: number,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  let asked: ServiceWorker | undefined;
  let askedAt = end;
  let isConfigured = false;
  let refused: unknown;
  let gone = 0;
  while (!isConfigured || container.controller?.scriptURL !== scriptUrl) {
    const { active, waiting, installing } = registration;
    gone = [active, waiting, installing].some((worker) => worker?.scriptURL === scriptUrl) ? 0 : gone + 1;
    if (gone > LOOKS_UNTIL_GONE) {
      throw serviceWorkerFailed('its script could not be installed; serve the files beside it as well');
    }
    // If another version of the worker has become active since, it is asked too. One that has answered, and does not control the page,
    // claims it again: a page that was being taken from the worker before it may have missed the first time.
    const isMissed = isConfigured && performance.now() - askedAt > CLAIM_AGAIN_MS;
    if (active !== null && (active !== asked || isMissed) && active.scriptURL === scriptUrl) {
      asked = active;
      askedAt = performance.now();
      ask(active, { plumblineProxy: 'configure', config }, timeoutMs).then(
        () => {
          isConfigured = true;
        },
        (error: unknown) => {
          refused = asked === active ? error : undefined;
        },
      );
    }
    if (refused !== undefined) throw refused;
    if (performance.now() > end) {
      const late = `after ${timeoutMs} ms`;
      if (asked !== undefined && !isConfigured) {
        throw serviceWorkerFailed(
          `${late} its script has not answered; check that scriptUrl is plumbline's service worker`,
        );
      }
      const isOther = isConfigured && container.controller !== null;
      const advice = isOther ? 'another worker with a narrower scope does; unregister it' : 'raise timeoutMs';
      throw serviceWorkerFailed(`it does not control this page ${late}; ${advice}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Sends the options to the worker each time it asks for them. */
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
  // Otherwise messages wait until the document is parsed.
  container.startMessages();
}

function activeOf(registration: ServiceWorkerRegistration): ServiceWorker {
  if (registration.active === null) throw serviceWorkerFailed('it was unregistered; call registerRpcProxy again');
  return registration.active;
}

/** @throws PlumblineError `INVALID_PARAMETER` for a configuration that `postMessage` cannot send */
function sendable(config: ProxyConfig): ProxyConfig {
  try {
    return structuredClone(config);
  } catch (error) {
    throw notSendable('a service worker', error);
  }
}
