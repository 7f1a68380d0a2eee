import { type ErrorCode, type ErrorDetails, invalidParameter, messageOf, PlumblineError } from '../../errors.js';
import { type TableOf, withDefaults } from '../../primitives/option-table.js';
import type { NodeInfo, NodeOptions } from '../options/options.js';
import { requireEndpoints } from '../options/require-endpoints.js';
import { requireOptions } from '../options/require-options.js';
import type { ScriptUrl } from '../options/script-url.js';

/** Options of `registerRpcProxy`: those of `createNode`, with a default for `storeName`, and those of the proxy. */
export interface RpcProxyOptions extends NodeOptions {
  /**
   * URL of the built `plumbline-l2/service-worker` script, on the page's origin. A `TrustedScriptURL` has the kind of the chain as
   * parameter, because it cannot be added: `/service-worker.js?plumbline-chain=devnet`.
   */
  readonly scriptUrl: ScriptUrl;
  /** Path of the pages that it controls. The folder of the script when left out. */
  readonly scope?: string;
  /** One more path, added to `paths`. */
  readonly path?: string;
  /**
   * Paths of the page's origin that it answers, such as `/rpc` and `/v3/*`. A star matches any one last segment. `/rpc` when no
   * path and no URL is given.
   */
  readonly paths?: readonly string[];
  /** URLs of RPC endpoints that it answers in their place, such as `https://linea.example/v3/KEY` or `…/v3/*`. */
  readonly urls?: readonly string[];
  /**
   * For a node with `chains`: paths and URLs of each chain, by its chain id, in the forms of `paths` and `urls`. `/rpc/<chain id>` for each
   * chain when left out. What `path`, `paths` and `urls` name is answered by the first chain.
   */
  readonly byChain?: Readonly<Record<number, readonly string[]>>;
  /**
   * Whether requests for methods that the node does not have are sent to the requested URL. Their answers are not verified, and
   * marked `forwarded` in header `plumbline-answers`. True when left out. When false, such requests are errors.
   */
  readonly forward?: boolean;
  /**
   * How requests are answered while the node cannot be opened. `none` (when left out): with an error. `network`: by the
   * requested URL, not verified. An error of an open node is never replaced.
   */
  readonly fallback?: 'network' | 'none';
  /** How long the script may take to load, and then the worker to control this page, in ms each. Default 60 000. */
  readonly timeoutMs?: number;
}

/** The configuration of the worker: plain data with defaults filled in. */
export interface ProxyConfig {
  /** Absolute URLs without fragment. A last segment `*` matches any segment. */
  readonly targets: readonly string[];
  /** The chain of each target that is not of the first one, by the target. */
  readonly chainOf?: Readonly<Record<string, number>>;
  readonly forward: boolean;
  readonly fallback: 'network' | 'none';
  readonly node: NodeOptions;
}

/**
 * Query parameter of the script's URL with the kind of chain. For a node with several it is `chains`. The worker of another kind loads other code. The parameter also
 * identifies registrations of plumbline.
 */
export const CHAIN_PARAMETER = 'plumbline-chain';

const STORE_NAME = 'plumbline-service-worker';

/** What each option of a proxy is that `NodeOptions` does not have. */
export const PROXY_OPTIONS = {
  scriptUrl: { is: 'scriptUrl', needed: true },
  scope: { is: 'text' },
  timeoutMs: { is: 'aboveZero', or: 60_000 },
  path: { is: 'text' },
  paths: { is: 'texts' },
  urls: { is: 'texts' },
  byChain: { is: 'textListsByName' },
  forward: { is: 'flag', or: true },
  fallback: { is: ['network', 'none'], or: 'none' },
} as const satisfies TableOf<Omit<RpcProxyOptions, keyof NodeOptions>>;

/**
 * The configuration of the worker, from the options.
 *
 * @param base - URL of the page
 * @throws PlumblineError `INVALID_PARAMETER`; its message does not quote URLs, which may hold keys
 */
export function proxyConfig(options: RpcProxyOptions, base: string): ProxyConfig {
  const { scriptUrl, scope, timeoutMs, path, paths, urls, byChain, forward, fallback, ...node } = withDefaults(
    PROXY_OPTIONS,
    options,
  );
  requireOptions(node);
  if (node.chain?.kind === 'devnet' && node.chain.fork !== undefined)
    throw invalidParameter('chain.fork', 'cannot be opened in a service worker; open it with createNode');
  for (const [name, list] of [
    ['paths', paths],
    ['urls', urls],
  ] as const) {
    if (list !== undefined && !Array.isArray(list)) throw invalidParameter(name, 'is not an array');
  }
  const own = [...(path === undefined ? [] : [path]), ...(paths ?? [])];
  const { origin } = new URL(base);
  const ofFirst = [
    ...(own.length === 0 && urls === undefined ? ['/rpc'] : own).map((text) => ownTarget(text, origin)),
    ...(urls ?? []).map((text) => target('urls', text)),
  ];
  const chainOf = chainsOf(node, byChain, origin);
  for (const text of ofFirst)
    if (text in chainOf)
      throw invalidParameter(
        'byChain',
        'has a path or a URL that is also in paths or urls, which belong to the first chain',
      );
  const targets = [...ofFirst, ...Object.keys(chainOf)];
  if (targets.length === 0) throw invalidParameter('urls', 'is empty, and there are no paths; give at least one');
  requireFallback(fallback);
  return {
    targets: [...new Set(targets)],
    ...(Object.keys(chainOf).length > 0 && { chainOf }),
    forward,
    fallback,
    node: { ...node, storeName: node.storeName ?? STORE_NAME },
  };
}

/** The targets of each chain of a node with several. @throws PlumblineError `INVALID_PARAMETER` */
function chainsOf(
  { chains = [] }: NodeOptions,
  byChain: RpcProxyOptions['byChain'],
  origin: string,
): Record<string, number> {
  const ids = chains.map(({ network }) => network.chainId);
  const given = byChain ?? Object.fromEntries(ids.map((id) => [id, [`/rpc/${id}`]]));
  const found: Record<string, number> = {};
  for (const [name, list] of Object.entries(given)) {
    const id = Number(name);
    if (!ids.includes(id)) throw invalidParameter('byChain', `names ${name}, which is the id of none of chains`);
    for (const text of list) {
      const one = text.startsWith('/') ? ownTarget(text, origin) : target('byChain', text);
      if ((found[one] ?? id) !== id) throw invalidParameter('byChain', 'has the same path or URL for two chains');
      found[one] = id;
    }
  }
  return found;
}

/**
 * Checks a configuration that came as a message: any script of the origin can send one.
 *
 * @throws PlumblineError `INVALID_PARAMETER`; its message does not quote URLs, which may hold keys
 */
export function requireConfig(config: ProxyConfig): void {
  const { targets, chainOf = {}, forward, fallback, node } = (config ?? {}) as Partial<ProxyConfig>;
  if (!Array.isArray(targets) || targets.length === 0)
    throw invalidParameter('config.targets', 'must be a list of URLs');
  for (const text of targets) target('urls', text);
  if (typeof chainOf !== 'object' || !Object.values(chainOf).every(Number.isSafeInteger))
    throw invalidParameter('config.chainOf', 'must have a chain id for each target');
  if (typeof forward !== 'boolean') throw invalidParameter('config.forward', 'must be true or false');
  requireFallback(fallback);
  if (typeof node !== 'object' || node === null) throw invalidParameter('config.node', 'must be an object');
  requireOptions(node);
  if (node.chain !== undefined && node.chain.kind !== 'devnet') requireEndpoints('chain', node.chain);
  for (const [i, chain] of (node.chains ?? []).entries()) requireEndpoints(`chains[${i}]`, chain);
}

function requireFallback(fallback: unknown): void {
  if (fallback !== 'none' && fallback !== 'network') throw invalidParameter('fallback', "must be 'none' or 'network'");
}

function ownTarget(path: string, origin: string): string {
  if (!path.startsWith('/')) throw invalidParameter('paths', 'each path must begin with /');
  const found = target('paths', path, origin);
  if (new URL(found).origin !== origin)
    throw invalidParameter('paths', "each path must be on the page's origin; use urls for other origins");
  return found;
}

function target(parameter: 'paths' | 'urls' | 'byChain', text: string, base?: string): string {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw invalidParameter(parameter, 'each URL must be absolute, such as https://host/path');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalidParameter(parameter, 'each URL must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw invalidParameter(parameter, 'a URL has a user name or password, which browsers do not request; remove it');
  if (/\*(?!$)|[^/]\*/.test(url.pathname))
    throw invalidParameter(parameter, 'a star must be the whole last segment of a path');
  url.hash = '';
  return url.href;
}

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
interface MessageResults {
  configure: undefined;
  open: NodeInfo;
  stop: undefined;
}

/** The reply to a page: a value, or an error with its code. */
export type MessageReply =
  | { readonly value: unknown }
  | {
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: ErrorDetails[ErrorCode];
      /** Message of the cause. */
      readonly cause?: string;
    };

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
  const { code, message, details, cause } =
    error instanceof PlumblineError ? error : serviceWorkerFailed(messageOf(error));
  return { code, message, details, ...(cause !== undefined && { cause: messageOf(cause) }) };
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
      if ('code' in data) {
        const options = data.cause === undefined ? undefined : { cause: new Error(data.cause) };
        reject(new PlumblineError(data.code, data.message, data.details, options));
      } else resolve(data.value as MessageResults[Message['plumblineProxy']]);
    };
    worker.postMessage(message, [port2]);
  }).finally(() => port1.close());
}

export function serviceWorkerFailed(reason: string, cause?: unknown): PlumblineError<'WORKER_FAILED'> {
  return new PlumblineError('WORKER_FAILED', `the service worker failed: ${reason}`, { reason }, { cause });
}
