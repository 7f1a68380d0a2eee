import type { EndpointSource } from '../../upstream/options.js';
import type { NodeOptions } from '../options/options.js';

type Path = readonly (string | number)[];

/** A text in the node's options that may be a key, and its path. */
export interface Secret {
  readonly path: Path;
  readonly value: string;
}

/** Options that hold endpoints. */
const LISTS = ['endpoints', 'layerOne', 'maru', 'trieLogs', 'stateManager'] as const;

/** The texts in the options that may hold a key: URLs with more than an origin, API keys, headers. */
export function optionSecretsOf({ chain, dictionary }: NodeOptions): Secret[] {
  const secrets: Secret[] = [];
  const lists = (chain ?? {}) as Partial<Record<(typeof LISTS)[number], readonly EndpointSource[]>>;
  for (const name of LISTS) {
    for (const [i, endpoint] of (lists[name] ?? []).entries())
      secrets.push(...ofEndpoint(endpoint, ['chain', name, i]));
  }
  if (dictionary?.kind === 'url') secrets.push(...ofAddress(dictionary.url, ['dictionary', 'url']));
  return secrets;
}

function ofEndpoint(endpoint: EndpointSource, path: Path): Secret[] {
  if (typeof endpoint === 'string') return ofAddress(endpoint, path);
  if ('provider' in endpoint) return [];
  const { url, apiKey, headers = {} } = endpoint;
  return [
    ...ofAddress(url, [...path, 'url']),
    ...(apiKey === undefined ? [] : [{ path: [...path, 'apiKey'], value: apiKey }]),
    ...Object.entries(headers).map(([name, value]) => ({ path: [...path, 'headers', name], value })),
  ];
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

/** A copy of the options with only the origin of each secret at its path. */
export function withoutSecrets(options: NodeOptions, secrets: readonly Secret[]): NodeOptions {
  return withSecrets(
    options,
    secrets.map(({ path, value }) => ({ path, value: urlOf(value)?.origin ?? '' })),
  );
}
