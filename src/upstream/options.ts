import { PlumblineError } from '../errors.js';
import { type Clock, systemClock } from '../scheduling/clock.js';
import type { EndpointLimits } from './endpoint.js';
import type { UpstreamObserver } from './observer.js';
import { parseEndpointAddress } from './transport/address.js';
import type { HttpOptions } from './transport/http.js';
import { jsonRpcTransport } from './transport/json-rpc-transport.js';
import { type Eip1193Provider, providerTransport } from './transport/provider-transport.js';
import { restTransport } from './transport/rest-transport.js';
import type { Transport } from './transport/transport.js';

/** How hard an endpoint may be used. */
export interface EndpointOptions {
  /** Time of one HTTP exchange in milliseconds; 10 000 unless told. */
  readonly timeoutMs?: number;
  /** Calls per second on average; no limit unless told. The members of a batch count one each. */
  readonly ratePerSecond?: number;
  /** Calls that may go at once after a quiet time; one second's worth unless told. */
  readonly burst?: number;
  /** HTTP requests at the same time; 6 unless told. */
  readonly concurrency?: number;
  /** Calls in one HTTP request; 100 unless told, 1 for no batches. Halved when the endpoint finds it too many. */
  readonly batchLimit?: number;
}

/** An endpoint behind an URL: a self-run node, a provider's with a key, or a public one. */
export interface UrlEndpoint extends EndpointOptions {
  /** http or https. User and password become an `authorization` header. */
  readonly url: string;
  /** Goes behind the URL as `/v3/<apiKey>`, as providers want it. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of an answer, decompressed; 16 MiB unless told. The rest of a longer one is not read. */
  readonly maxResponseBytes?: number;
}

/**
 * A provider in place of an URL: a wallet's, or a light client of layer 1. For a node in the provider's own thread
 * (`plumbline-l2/inline`): no message carries it to a worker.
 */
export interface ProviderEndpoint extends EndpointOptions {
  readonly provider: Eip1193Provider;
  /** Stands where an origin would; `provider` unless told. */
  readonly name?: string;
}

/** An endpoint as a user names it; text is an URL. */
export type EndpointSource = string | UrlEndpoint | ProviderEndpoint;

/** How a group goes about its requests. */
export interface GroupOptions<Source extends EndpointSource = EndpointSource> {
  /** What the endpoints are for, as events name it: `l2`, `l1`, `maru`. */
  readonly role: string;
  /** At least one, in the order in which they are preferred. */
  readonly endpoints: readonly Source[];
  /** Time of a request with all its waits and repetitions, in milliseconds; 30 000 unless told. */
  readonly totalTimeoutMs?: number;
  /** How often all endpoints are gone through again when none could be reached; 2 unless told. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  /** From 0 to below 1. */
  readonly random?: () => number;
  readonly observer?: UpstreamObserver;
}

const MIB = 2 ** 20;

/** @throws PlumblineError `INVALID_PARAMETER`, without the value, which may hold a key */
export function openTransport(
  source: EndpointSource,
  protocol: 'json-rpc' | 'rest',
  given: typeof fetch | undefined,
): Transport {
  if (typeof source !== 'string' && 'provider' in source)
    return providerTransport(source.provider, source.name ?? 'provider');
  const endpoint: UrlEndpoint = typeof source === 'string' ? { url: source } : source;
  const address = parseEndpointAddress(addressOf(endpoint), endpoint.headers);
  const http: HttpOptions = {
    fetch: given ?? ((input, init) => globalThis.fetch(input, init)),
    maxResponseBytes: positive('maxResponseBytes', endpoint.maxResponseBytes ?? 16 * MIB),
  };
  if (protocol === 'rest') return restTransport(address, http);
  return jsonRpcTransport(address, Math.floor(positive('batchLimit', endpoint.batchLimit ?? 100)), http);
}

/** @throws PlumblineError `INVALID_PARAMETER` */
export function limitsOf(source: EndpointSource): EndpointLimits {
  const given: EndpointOptions = typeof source === 'string' ? {} : source;
  const ratePerSecond = given.ratePerSecond ?? Number.POSITIVE_INFINITY;
  return {
    timeoutMs: positive('timeoutMs', given.timeoutMs ?? 10_000),
    ratePerSecond:
      ratePerSecond === Number.POSITIVE_INFINITY ? ratePerSecond : positive('ratePerSecond', ratePerSecond),
    burst: Math.max(1, given.burst ?? Math.ceil(ratePerSecond)),
    concurrency: Math.max(1, positive('concurrency', given.concurrency ?? 6)),
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
  throw new PlumblineError('INVALID_PARAMETER', `${parameter} must be above zero`, {
    parameter,
    reason: 'must be above zero',
  });
}
