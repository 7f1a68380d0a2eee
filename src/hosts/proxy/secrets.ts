import { LINEA_DICTIONARY } from '../../networks/linea.js';
import type { EndpointSource, UrlEndpoint } from '../../upstream/options.js';
import { isFollowed, LAYER_ONE_LISTS } from '../options/layer-one-options.js';
import type { NodeOptions } from '../options/options.js';

type Path = readonly (string | number)[];

/** A part of the node's options that may hold a key, and its path. The path itself holds none. */
export interface Secret {
  readonly path: Path;
  readonly value: unknown;
}

/** Options that hold endpoints. */
const LISTS = ['endpoints', 'layerOne', 'maru', 'trieLogs', 'stateManager'] as const;

/** Members of an endpoint that hold no key. One with a member that is not known is a secret as a whole, names included. */
const LIMITS: readonly string[] = [
  'timeoutMs',
  'ratePerSecond',
  'burst',
  'concurrency',
  'batchLimit',
  'maxResponseBytes',
] satisfies (keyof UrlEndpoint)[];

/** URLs of dictionaries that every user of a network has. */
const PUBLIC_DICTIONARIES: readonly (string | undefined)[] = [
  LINEA_DICTIONARY.url,
  ...(LINEA_DICTIONARY.mirrors ?? []),
];

/** The parts of the options that may hold a key: URLs with more than an origin, API keys, names and values of headers. */
export function optionSecretsOf({ chain, dictionary }: NodeOptions): Secret[] {
  const secrets = ofLists(chain ?? {}, LISTS, ['chain']);
  const layerOne = chain !== undefined && 'layerOne' in chain ? chain.layerOne : undefined;
  if (isFollowed(layerOne)) secrets.push(...ofLists(layerOne, Object.keys(LAYER_ONE_LISTS), ['chain', 'layerOne']));
  if (dictionary?.kind === 'url') secrets.push(...ofDictionary(dictionary.url, ['dictionary', 'url']));
  const { url, mirrors = [] } = chain?.network?.dictionary ?? {};
  const path = ['chain', 'network', 'dictionary'];
  secrets.push(...ofDictionary(url, [...path, 'url']));
  secrets.push(...mirrors.flatMap((mirror, i) => ofDictionary(mirror, [...path, 'mirrors', i])));
  return secrets;
}

/** Of members of the options that are lists of endpoints. */
function ofLists(options: object, names: readonly string[], path: Path): Secret[] {
  return names.flatMap((name) => {
    const list = (options as Readonly<Record<string, unknown>>)[name];
    if (!Array.isArray(list)) return [];
    return list.flatMap((endpoint: EndpointSource, i) => ofEndpoint(endpoint, [...path, name, i]));
  });
}

function ofEndpoint(endpoint: EndpointSource, path: Path): Secret[] {
  if (typeof endpoint === 'string') return ofAddress(endpoint, path);
  if ('provider' in endpoint) return [];
  const { url, apiKey, headers, ...rest } = endpoint;
  const isKnown = Object.entries(rest).every(([name, value]) => LIMITS.includes(name) && typeof value === 'number');
  if (!isKnown) return [{ path, value: endpoint }];
  return [
    ...ofAddress(url, [...path, 'url']),
    ...(apiKey === undefined ? [] : [{ path: [...path, 'apiKey'], value: apiKey }]),
    ...(headers === undefined ? [] : [{ path: [...path, 'headers'], value: headers }]),
  ];
}

function ofDictionary(url: string | undefined, path: Path): Secret[] {
  return url === undefined || PUBLIC_DICTIONARIES.includes(url) ? [] : ofAddress(url, path);
}

function ofAddress(value: string, path: Path): Secret[] {
  const url = urlOf(value);
  const extra = url === undefined ? value : url.search + url.hash + url.username + url.password;
  return url?.pathname === '/' && extra === '' ? [] : [{ path, value }];
}

/** The text as a URL. Undefined if it is not one. */
export function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** A copy of the options with each secret at its path. */
export function withSecrets(options: NodeOptions, secrets: readonly Secret[]): NodeOptions {
  const copy = structuredClone(options);
  for (const { path, value } of secrets) {
    let at = copy as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
    at[path.at(-1)!] = value;
  }
  return copy;
}

/** A copy of the options with only the origin of each secret at its path, and without headers. */
export function withoutSecrets(options: NodeOptions, secrets: readonly Secret[]): NodeOptions {
  return withSecrets(
    options,
    secrets.map(({ path, value }) => ({ path, value: path.at(-1) === 'headers' ? {} : originOf(value) })),
  );
}

/** Of a URL, or of an endpoint. */
function originOf(value: unknown): string {
  const url = typeof value === 'string' ? value : (value as Partial<UrlEndpoint>).url;
  return urlOf(String(url))?.origin ?? '';
}
