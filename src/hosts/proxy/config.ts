import { PlumblineError } from '../../errors.js';
import type { NodeOptions } from '../options/options.js';
import { requireOptions } from '../options/require-options.js';

/** What `registerRpcProxy` is told. The node's own options are those of `createNode`; `storeName` has a default here. */
export interface RpcProxyOptions extends NodeOptions {
  /** URL of the built `plumbline-l2/service-worker` script, on the page's origin. */
  readonly scriptUrl: string | URL;
  /** Pages it controls; the folder of the script when left out. */
  readonly scope?: string;
  /** One more path, beside `paths`. */
  readonly path?: string;
  /**
   * Paths of the page's origin that it answers, such as `/rpc` and `/v3/*`; a star stands for one last segment. `/rpc` when
   * neither these nor `urls` are given.
   */
  readonly paths?: readonly string[];
  /** RPC addresses elsewhere that it answers in their place, such as `https://linea.example/v3/KEY` or `…/v3/*`. */
  readonly urls?: readonly string[];
  /**
   * Methods that the node does not have go to the address that the page asked, and their answers come back unchecked, named
   * `forwarded` in header `plumbline-answers`. True when left out; when false they are errors.
   */
  readonly forward?: boolean;
  /**
   * What happens to requests while the node cannot be opened: an error (`none`, when left out), or the address that the page
   * asked answers, unchecked (`network`). What an open node refuses stays an error either way.
   */
  readonly fallback?: 'network' | 'none';
  /** How long the script may take to come, and then the worker to answer for this page, in ms each. Default 15 000. */
  readonly timeoutMs?: number;
}

/** What the worker is told: plain data, defaults filled in. */
export interface ProxyConfig {
  /** Absolute, without fragment; a last segment `*` stands for any one. */
  readonly targets: readonly string[];
  readonly forward: boolean;
  readonly fallback: 'network' | 'none';
  readonly node: NodeOptions;
}

/**
 * In the query of the script's address: the kind of chain. Another kind is another worker, which loads what that needs. By
 * it a registration is known to be ours, so no other script is likely to have it.
 */
export const CHAIN_PARAMETER = 'plumbline-chain';

const STORE_NAME = 'plumbline-service-worker';

/**
 * The worker's part of the options.
 *
 * @param base - address of the page
 * @throws PlumblineError `INVALID_PARAMETER`, without the address, which may hold a key
 */
export function proxyConfig(options: RpcProxyOptions, base: string): ProxyConfig {
  const { scriptUrl, scope, timeoutMs, path, paths, urls, forward = true, fallback = 'none', ...node } = options;
  requireOptions(node);
  for (const [name, list] of [
    ['paths', paths],
    ['urls', urls],
  ] as const) {
    if (list !== undefined && !Array.isArray(list)) throw invalid(name, 'is no list');
  }
  const own = [...(path === undefined ? [] : [path]), ...(paths ?? [])];
  const { origin } = new URL(base);
  const targets = [
    ...(own.length === 0 && urls === undefined ? ['/rpc'] : own).map((text) => ownTarget(text, origin)),
    ...(urls ?? []).map((text) => target('urls', text)),
  ];
  if (targets.length === 0) throw invalid('urls', 'nothing to answer is given');
  if (fallback !== 'none' && fallback !== 'network') throw invalid('fallback', "is neither 'none' nor 'network'");
  return {
    targets: [...new Set(targets)],
    forward,
    fallback,
    node: { ...node, storeName: node.storeName ?? STORE_NAME },
  };
}

function ownTarget(path: string, origin: string): string {
  if (!path.startsWith('/')) throw invalid('paths', 'a path begins with /');
  const found = target('paths', path, origin);
  if (new URL(found).origin !== origin) throw invalid('paths', 'a path is of the page’s own origin');
  return found;
}

function target(parameter: 'paths' | 'urls', text: string, base?: string): string {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw invalid(parameter, 'an address is not absolute');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalid(parameter, 'an address is not http or https');
  if (url.username !== '' || url.password !== '')
    throw invalid(parameter, 'pages cannot ask addresses with a password');
  if (/\*(?!$)|[^/]\*/.test(url.pathname)) throw invalid(parameter, 'a star is the whole last segment of a path');
  url.hash = '';
  return url.href;
}

function invalid(parameter: string, reason: string): PlumblineError<'INVALID_PARAMETER'> {
  return new PlumblineError('INVALID_PARAMETER', `${parameter}: ${reason}`, { parameter, reason });
}
