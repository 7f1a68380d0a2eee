import { invalidParameter } from '../errors.js';
import { type TableOf, withDefaults } from '../primitives/option-table.js';
import { type Clock, systemClock } from '../scheduling/clock.js';
import { loadOnce } from '../scheduling/load-once.js';
import { type Address, parseEndpointAddress } from './address.js';
import type { EndpointLimits, UpstreamObserver } from './endpoint.js';
import type { Transport } from './failure.js';
import type { HttpOptions } from './http.js';
import { type Eip1193Provider, jsonRpcTransport, providerTransport } from './json-rpc.js';

/** Usage limits of an endpoint. */
export interface EndpointOptions {
  /** Time limit of one HTTP exchange in milliseconds. Default: 10 000. */
  readonly timeoutMs?: number;
  /** Calls per second on average. Each member of a batch counts. Default: no limit. */
  readonly ratePerSecond?: number;
  /** Calls that may be sent at once after a quiet time. Default: the calls of one second. */
  readonly burst?: number;
  /** HTTP requests at the same time. Default: 6. */
  readonly concurrency?: number;
  /** Most calls in one HTTP request; 1 means no batches. The node halves it if the endpoint refuses a batch as too large. Default: 100. */
  readonly batchLimit?: number;
}

/** An endpoint with a URL: your own node, a provider with a key, or a public endpoint. */
export interface UrlEndpoint extends EndpointOptions {
  /** http or https. User and password become an `authorization` header. */
  readonly url: string;
  /** Appended to the URL as `/v3/<apiKey>`. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Most bytes of an answer, after decompression. The rest of a longer answer is not read. Default: 16 MiB. */
  readonly maxResponseBytes?: number;
}

/**
 * An EIP-1193 provider and not a URL, such as a wallet or a light client of layer 1. It works only for a node in the same thread
 * (`plumbline-l2/inline`), because a provider cannot be sent to a worker.
 */
export interface ProviderEndpoint extends EndpointOptions {
  readonly provider: Eip1193Provider;
  /** The name that is shown as its origin. Default: `provider`. */
  readonly name?: string;
}

/**
 * A feed and not JSON-RPC (docs/scale.md): objects that any HTTP cache can serve. It cannot send transactions or run calls, so also
 * give an endpoint with a URL. Its newest block counts as the claim of one origin, like that of any endpoint.
 */
export interface FeedEndpoint extends Omit<EndpointOptions, 'batchLimit'> {
  /** http or https, with the path of the feed: `https://cache.example/feed`. */
  readonly feed: string;
  /**
   * The feed fails if its newest block is older than this, by the time of the block and the clock of the device, ms. Default: 5
   * minutes.
   */
  readonly maxAgeMs?: number;
  /** As in `UrlEndpoint`, of one object. */
  readonly maxResponseBytes?: number;
}

const MIB = 2 ** 20;

/** What each option of an endpoint is. */
const ENDPOINT_OPTIONS = {
  timeoutMs: { is: 'aboveZero', or: 10_000 },
  ratePerSecond: { is: 'aboveZero', or: Number.POSITIVE_INFINITY },
  burst: { is: 'aboveZero', or: ({ ratePerSecond = Number.POSITIVE_INFINITY }) => Math.ceil(ratePerSecond) },
  concurrency: { is: 'aboveZero', or: 6 },
  batchLimit: { is: 'aboveZero', or: 100 },
} as const satisfies TableOf<EndpointOptions>;

const RESPONSE_OPTIONS = { maxResponseBytes: { is: 'aboveZero', or: 16 * MIB } } as const;

/** What each option of an endpoint with a URL is. */
export const URL_ENDPOINT_OPTIONS = {
  ...ENDPOINT_OPTIONS,
  url: { is: 'text', needed: true },
  apiKey: { is: 'text' },
  headers: { is: 'textsByName' },
  ...RESPONSE_OPTIONS,
} as const satisfies TableOf<UrlEndpoint>;

/** What each option of a provider is. */
export const PROVIDER_ENDPOINT_OPTIONS = {
  ...ENDPOINT_OPTIONS,
  provider: { is: 'provider', needed: true },
  name: { is: 'text' },
} as const satisfies TableOf<ProviderEndpoint>;

const { batchLimit: _, ...WITHOUT_BATCHES } = ENDPOINT_OPTIONS;

/** What each option of a feed is. */
export const FEED_OPTIONS = {
  ...WITHOUT_BATCHES,
  feed: { is: 'text', needed: true },
  maxAgeMs: { is: 'aboveZero', or: 300_000 },
  ...RESPONSE_OPTIONS,
} as const satisfies TableOf<FeedEndpoint>;

/** An endpoint as you give it. A string is a URL. */
export type EndpointSource = string | UrlEndpoint | ProviderEndpoint | FeedEndpoint;

/** Options of a group of endpoints. */
export interface GroupOptions<Source extends EndpointSource = EndpointSource> {
  /** Role of the endpoints, as shown in events: `l2`, `l1`, `maru`. */
  readonly role: string;
  /** At least one, the preferred one first. */
  readonly endpoints: readonly Source[];
  /** Time limit of a request with all its waits and retries, in milliseconds. Default: 30 000. */
  readonly totalTimeoutMs?: number;
  /** How often all endpoints are tried again if none could be reached. Default: 2. */
  readonly retries?: number;
  /** Makes the HTTP requests; the global `fetch` when left out. */
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock;
  /** Returns numbers from 0 to below 1. */
  readonly random?: () => number;
  readonly observer?: UpstreamObserver | undefined;
}

/**
 * Opens the transport of an endpoint.
 *
 * @throws PlumblineError `INVALID_PARAMETER`; it does not quote the URL, which may contain a key
 */
export type OpenTransport = (source: EndpointSource, given: typeof fetch | undefined, clock?: Clock) => Transport;

/** JSON-RPC, by HTTP or through a provider, or translated to objects of a feed. */
export const openJsonRpc: OpenTransport = (source, given, clock = systemClock) => {
  if (typeof source !== 'string' && 'feed' in source) return openFeed(source, given, clock);
  if (typeof source !== 'string' && 'provider' in source)
    return providerTransport(source.provider, source.name ?? 'provider');
  const endpoint = typeof source === 'string' ? { url: source } : source;
  const { address, http } = openHttp(endpoint, given);
  const { batchLimit } = withDefaults(ENDPOINT_OPTIONS, endpoint);
  return jsonRpcTransport(address, Math.floor(positive('batchLimit', batchLimit)), http);
};

function openFeed(source: FeedEndpoint, given: typeof fetch | undefined, clock: Clock): Transport {
  const { feed: url, maxAgeMs, maxResponseBytes } = withDefaults(FEED_OPTIONS, source);
  const { address, http } = openHttp({ url, maxResponseBytes }, given);
  const parts = {
    address,
    http: { ...http, cache: 'default' },
    clock,
    maxAgeMs: positive('maxAgeMs', maxAgeMs),
  } as const;
  const exchange = loadOnce(async () => (await import('./feed.js')).feedExchange(parts));
  return {
    origin: address.origin,
    batchLimit: 1,
    exchange: async (calls, signal) => (await exchange())(calls, signal),
  };
}

/** Address of an endpoint, and how it is asked. @throws PlumblineError as `OpenTransport` */
export function openHttp(
  endpoint: UrlEndpoint,
  given: typeof fetch | undefined,
): { readonly address: Address; readonly http: HttpOptions } {
  const { maxResponseBytes } = withDefaults(RESPONSE_OPTIONS, endpoint);
  return {
    address: parseEndpointAddress(addressOf(endpoint), endpoint.headers),
    http: {
      fetch: given ?? ((input, init) => globalThis.fetch(input, init)),
      maxResponseBytes: positive('maxResponseBytes', maxResponseBytes),
    },
  };
}

/** @throws PlumblineError `INVALID_PARAMETER` */
export function limitsOf(source: EndpointSource): EndpointLimits {
  const given: EndpointOptions = typeof source === 'string' ? {} : source;
  const { timeoutMs, ratePerSecond, burst, concurrency } = withDefaults(ENDPOINT_OPTIONS, given);
  return {
    timeoutMs: positive('timeoutMs', timeoutMs),
    ratePerSecond:
      ratePerSecond === Number.POSITIVE_INFINITY ? ratePerSecond : positive('ratePerSecond', ratePerSecond),
    burst: Math.max(1, burst),
    concurrency: Math.max(1, positive('concurrency', concurrency)),
  };
}

export function clockOf({ clock }: { readonly clock?: Clock }): Clock {
  return clock ?? systemClock;
}

function addressOf({ url, apiKey }: UrlEndpoint): string {
  return apiKey === undefined ? url : `${url.replace(/\/+$/, '')}/v3/${encodeURIComponent(apiKey)}`;
}

function positive(parameter: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw invalidParameter(parameter, 'must be a number above zero');
}
