/**
 * What a service worker keeps of its proxy across restarts: the configuration, without keys. Whatever may be a key in an address or a
 * header is taken out before anything is stored, and put back when the page gives it again.
 */

import { openDB } from 'idb';
import { isFollowed, LAYER_ONE_OPTIONS } from '../../chain/light/light-options.js';
import { REPLICA_OPTIONS } from '../../chain/replica/settings.js';
import { PlumblineError } from '../../errors.js';
import { LINEA_DICTIONARY } from '../../networks/linea.js';
import { concatBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { endpointLists } from '../../primitives/option-table.js';
import type { EndpointSource, UrlEndpoint } from '../../upstream/options.js';
import type { NodeOptions } from '../options/options.js';
import type { ProxyConfig } from './config.js';

/** A configuration as the worker stores it: without keys. */
export interface StoredConfig {
  readonly format: typeof FORMAT;
  /** 16 bytes. */
  readonly salt: Uint8Array;
  readonly targets: readonly StoredTarget[];
  readonly forward: boolean;
  readonly fallback: 'network' | 'none';
  /** URLs are replaced by their origins, keys by empty strings, headers by none. */
  readonly node: NodeOptions;
  readonly missing: readonly MissingSecret[];
}

/** A part that was left out. `target` is its index if it is one of the targets; then a request for that target restores it. */
interface MissingSecret {
  readonly path: Secret['path'];
  readonly target?: number;
}

/** 1 had names of headers and folders of URLs as they are. */
const FORMAT = 2;
const DATABASE = 'plumbline-rpc-proxy';
const TABLE = 'configs';
const TIMEOUT_MS = 10_000;

/** The configuration without keys. @param salt - 16 bytes; random when left out */
export async function storedForm(
  { targets, chainOf = {}, forward, fallback, node }: ProxyConfig,
  salt: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): Promise<StoredConfig> {
  const secrets = optionSecretsOf(node);
  const missing = secrets.map(({ path, value }) => {
    const target = targets.indexOf(typeof value === 'string' ? (urlOf(value)?.href ?? '') : '');
    return target < 0 ? { path } : { path, target };
  });
  const stored = await storeTargets(targets, chainOf, salt);
  return { format: FORMAT, salt, targets: stored, forward, fallback, node: withoutSecrets(node, secrets), missing };
}

/**
 * Stores the configuration of a scope, or deletes it.
 *
 * @throws PlumblineError `STORE_UNAVAILABLE`, `STORE_QUOTA_EXCEEDED`
 */
export function storeConfig(scope: string, config: StoredConfig | undefined): Promise<void> {
  return inDatabase(async (database) => {
    if (config === undefined) await database.delete(TABLE, scope);
    else await database.put(TABLE, config, scope);
  });
}

/**
 * Reads the configuration of a scope. Undefined when there is none, or when it has another format.
 *
 * @throws PlumblineError `STORE_UNAVAILABLE`
 */
export function loadConfig(scope: string): Promise<StoredConfig | undefined> {
  return inDatabase(async (database) => {
    const config = (await database.get(TABLE, scope)) as StoredConfig | undefined;
    return config?.format === FORMAT ? config : undefined;
  });
}

type Database = Awaited<ReturnType<typeof openDB>>;

async function inDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(`it did not answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  // A browser that blocks storage may throw where `indexedDB` is read.
  const opening = (async () =>
    openDB(DATABASE, 1, { upgrade: (database) => void database.createObjectStore(TABLE) }))();
  try {
    return await Promise.race([late, opening.then(work, cannotBeOpened)]);
  } catch (error) {
    if (error instanceof PlumblineError) throw error;
    const isFull = error instanceof Error && error.name === 'QuotaExceededError';
    if (isFull) throw new PlumblineError('STORE_QUOTA_EXCEEDED', `${NAME} has no more space`, {}, { cause: error });
    throw unavailable('it failed', error);
  } finally {
    clearTimeout(timer);
    opening.then((database) => database.close()).catch(() => {});
  }
}

function cannotBeOpened(error: unknown): never {
  throw unavailable('it cannot be opened', error);
}

const NAME = `the proxy's database ${DATABASE}`;

function unavailable(reason: string, cause?: unknown): PlumblineError<'STORE_UNAVAILABLE'> {
  const message = `${NAME} is not available: ${reason}; check that the browser allows storage`;
  return new PlumblineError('STORE_UNAVAILABLE', message, { reason }, { cause });
}

type Path = readonly (string | number)[];

/** A part of the node's options that may hold a key, and its path. The path itself holds none. */
interface Secret {
  readonly path: Path;
  readonly value: unknown;
}

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
export function optionSecretsOf({ chain, chains = [], dictionary }: NodeOptions): Secret[] {
  const secrets = [...ofChain(chain, ['chain']), ...chains.flatMap((one, i) => ofChain(one, ['chains', i]))];
  if (dictionary?.kind === 'url') secrets.push(...ofDictionary(dictionary.url, ['dictionary', 'url']));
  return secrets;
}

function ofChain(chain: NodeOptions['chain'], path: Path): Secret[] {
  const secrets = ofLists(chain ?? {}, endpointLists(REPLICA_OPTIONS), path);
  const layerOne = chain !== undefined && 'layerOne' in chain ? chain.layerOne : undefined;
  if (isFollowed(layerOne)) secrets.push(...ofLists(layerOne, endpointLists(LAYER_ONE_OPTIONS), [...path, 'layerOne']));
  const { url, mirrors = [] } = chain?.network?.dictionary ?? {};
  const published = [...path, 'network', 'dictionary'];
  secrets.push(...ofDictionary(url, [...published, 'url']));
  secrets.push(...mirrors.flatMap((mirror, i) => ofDictionary(mirror, [...published, 'mirrors', i])));
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
  if ('feed' in endpoint) return ofAddress(endpoint.feed, [...path, 'feed']);
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
function urlOf(text: string): URL | undefined {
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

/**
 * A URL that the proxy answers, as it is stored. It may hold a key, so only its salted SHA-256 is stored: of the URL, or of what is
 * before the star (`below`). `chain` is the id of the chain that answers there: the first of the node when left out.
 */
type StoredTarget = { readonly origin: string; readonly chain?: number } & (
  | { readonly below: string }
  | { readonly digest: string }
);

/** How many URLs are cached, so that most requests are decided without hashing. */
const MAX_CACHED = 256;

/** @param salt - the same for all targets of a configuration */
function storeTargets(
  targets: readonly string[],
  chainOf: Readonly<Record<string, number>>,
  salt: Uint8Array,
): Promise<StoredTarget[]> {
  return Promise.all(
    targets.map(async (target) => {
      const { origin, pathname } = new URL(target);
      const chain = chainOf[target];
      const where = { origin, ...(chain !== undefined && { chain }) };
      if (pathname.endsWith('/*')) return { ...where, below: await digestOf(origin + pathname.slice(0, -1), salt) };
      return { ...where, digest: await digestOf(target, salt) };
    }),
  );
}

/** Finds the configured URL that a request is for. */
export class Targets {
  private readonly seen = new Map<string, Found | undefined>();

  constructor(
    private readonly stored: readonly StoredTarget[],
    private readonly salt: Uint8Array,
  ) {}

  /** False for a URL that is certainly not answered by the proxy. */
  mayHave(href: string): boolean {
    if (this.seen.has(href)) return this.seen.get(href) !== undefined;
    const { origin } = new URL(href);
    return this.stored.some((target) => target.origin === origin);
  }

  async find(href: string): Promise<Found | undefined> {
    if (this.seen.has(href)) return this.seen.get(href);
    const found = await this.look(new URL(href));
    if (this.seen.size >= MAX_CACHED) this.seen.clear();
    this.seen.set(href, found);
    return found;
  }

  private async look({ origin, pathname, search }: URL): Promise<Found | undefined> {
    const here = this.stored.filter((target) => target.origin === origin);
    if (here.length === 0) return undefined;
    // With its query first. A URL that is configured without a query matches any query.
    for (const address of new Set([origin + pathname + search, origin + pathname])) {
      const digest = await digestOf(address, this.salt);
      const target = here.find((candidate) => 'digest' in candidate && candidate.digest === digest);
      if (target !== undefined) return { index: this.stored.indexOf(target), address };
    }
    const end = pathname.lastIndexOf('/') + 1;
    if (end === pathname.length) return undefined;
    const folder = await digestOf(origin + pathname.slice(0, end), this.salt);
    const target = here.find((candidate) => 'below' in candidate && candidate.below === folder);
    return target && { index: this.stored.indexOf(target), address: undefined };
  }
}

/** The target that a URL belongs to. */
export interface Found {
  readonly index: number;
  /** The configured URL, unless it ends with a star. */
  readonly address: string | undefined;
}

async function digestOf(address: string, salt: Uint8Array): Promise<string> {
  const bytes = concatBytes(salt, new TextEncoder().encode(address));
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
}
