import { invalidParameter } from '../../errors.js';
import type { NodeOptions } from '../options/options.js';
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
  readonly forward: boolean;
  readonly fallback: 'network' | 'none';
  readonly node: NodeOptions;
}

/**
 * Query parameter of the script's URL with the kind of chain. The worker of another kind loads other code. The parameter also
 * identifies registrations of plumbline.
 */
export const CHAIN_PARAMETER = 'plumbline-chain';

const STORE_NAME = 'plumbline-service-worker';

/** Names of the options of a proxy that `NodeOptions` does not have. */
export const PROXY_OPTIONS = {
  scriptUrl: true,
  scope: true,
  timeoutMs: true,
  path: true,
  paths: true,
  urls: true,
  forward: true,
  fallback: true,
} as const;

/**
 * The configuration of the worker, from the options.
 *
 * @param base - URL of the page
 * @throws PlumblineError `INVALID_PARAMETER`; its message does not quote URLs, which may hold keys
 */
export function proxyConfig(options: RpcProxyOptions, base: string): ProxyConfig {
  const { scriptUrl, scope, timeoutMs, path, paths, urls, forward = true, fallback = 'none', ...node } = options;
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
  const targets = [
    ...(own.length === 0 && urls === undefined ? ['/rpc'] : own).map((text) => ownTarget(text, origin)),
    ...(urls ?? []).map((text) => target('urls', text)),
  ];
  if (targets.length === 0) throw invalidParameter('urls', 'is empty, and there are no paths; give at least one');
  requireFallback(fallback);
  return {
    targets: [...new Set(targets)],
    forward,
    fallback,
    node: { ...node, storeName: node.storeName ?? STORE_NAME },
  };
}

/**
 * Checks a configuration that came as a message: any script of the origin can send one.
 *
 * @throws PlumblineError `INVALID_PARAMETER`; its message does not quote URLs, which may hold keys
 */
export function requireConfig(config: ProxyConfig): void {
  const { targets, forward, fallback, node } = (config ?? {}) as Partial<ProxyConfig>;
  if (!Array.isArray(targets) || targets.length === 0)
    throw invalidParameter('config.targets', 'must be a list of URLs');
  for (const text of targets) target('urls', text);
  if (typeof forward !== 'boolean') throw invalidParameter('config.forward', 'must be true or false');
  requireFallback(fallback);
  if (typeof node !== 'object' || node === null) throw invalidParameter('config.node', 'must be an object');
  requireOptions(node);
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

function target(parameter: 'paths' | 'urls', text: string, base?: string): string {
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
