import { isDeeperThan, MAX_JSON_DEPTH, readAtMost } from '../primitives/bounded-input.js';
import type { Address } from './address.js';
import type { Fault } from './failure.js';

/** Options of the HTTP requests of an endpoint. */
export interface HttpOptions {
  readonly fetch: typeof fetch;
  /** Most bytes of an answer, decompressed. */
  readonly maxResponseBytes: number;
  /** Whether the browser's cache may answer; never when left out. */
  readonly cache?: 'default' | 'no-store';
}

/** An HTTP answer. */
export interface HttpReply {
  readonly status: number;
  /** `Retry-After` in milliseconds. Page scripts see this header only if the endpoint's CORS headers allow it. */
  readonly retryAfterMs?: number;
  readonly body: string;
  readonly bytesReceived: number;
}

/** A fault in place of an HTTP answer. */
export interface HttpFailure {
  readonly fault: Fault;
  readonly bytesReceived: number;
}

/**
 * One HTTP exchange. Errors of `fetch` are not passed on, because their text may contain the address.
 *
 * @param url - that of `address`, or one below it
 * @param body - JSON to POST; GET without one
 * @param signal - aborts the exchange
 * @throws only the reason of `signal`
 */
export async function exchangeHttp(
  address: Address,
  url: string,
  body: string | undefined,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<HttpReply | HttpFailure> {
  const json = 'application/json';
  let response: Response;
  try {
    // Called without a receiver: a browser's fetch throws for any receiver but the global object.
    const { fetch, cache = 'no-store' } = options;
    response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept: json, ...(body !== undefined && { 'content-type': json }), ...address.headers },
      ...(body !== undefined && { body }),
      credentials: 'omit',
      cache,
      referrerPolicy: 'no-referrer',
      // A followed redirect would send the headers, and keys in them, to another address.
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { fault: { kind: 'unavailable', reason: unconnected(systemCode(error)) }, bytesReceived: 0 };
  }
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    response.body?.cancel().catch(() => {});
    const { status } = response;
    const fault: Fault = {
      kind: 'configuration',
      reason: `${status > 0 ? `status ${status}: ` : ''}redirects to another address, which is not followed; give that address`,
      ...(status > 0 && { status }),
    };
    return { fault, bytesReceived: 0 };
  }
  return readReply(response, options.maxResponseBytes, signal);
}

async function readReply(response: Response, maxBytes: number, signal: AbortSignal): Promise<HttpReply | HttpFailure> {
  const { status } = response;
  let bytesReceived = 0;
  const failed = (reason: string, kind: Fault['kind'] = 'malformed'): HttpFailure => ({
    fault: { kind, reason, status },
    bytesReceived,
  });
  try {
    // `content-length` is the compressed length. If that is above the limit, the decompressed body is too.
    if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
      response.body?.cancel().catch(() => {});
      return failed(`answer above ${maxBytes} bytes`);
    }
    const bytes = await readAtMost(response.body, maxBytes, (length) => {
      bytesReceived += length;
    });
    if (bytes === undefined) return failed(`answer above ${maxBytes} bytes`);
    const retryAfterMs = parseRetryAfter(response.headers);
    const body = new TextDecoder('utf-8').decode(bytes);
    if (isDeeperThan(body, MAX_JSON_DEPTH)) return failed(`answer nested deeper than ${MAX_JSON_DEPTH} levels`);
    return { status, body, bytesReceived, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return failed(`connection broke off${systemCode(error)}`, 'unavailable');
  }
}

/** Reads seconds or a date. A date is compared with the answer's own `Date` header, if there is one. */
function parseRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const sentAt = Date.parse(headers.get('date') ?? '');
  const delay = Date.parse(text) - (Number.isNaN(sentAt) ? Date.now() : sentAt);
  return Number.isNaN(delay) ? undefined : Math.max(0, delay);
}

/** Why a page got no answer, as far as it knows. `node.status()` asks again to tell these apart. */
export const UNCONNECTED =
  'no connection: down, or no CORS headers for this page, which a browser does not tell apart; check both';

/**
 * What is known of a request that got no answer. A browser does not say whether the host is down or its CORS headers do not allow
 * the page.
 */
function unconnected(code: string): string {
  const isBrowser = 'document' in globalThis || 'importScripts' in globalThis;
  if (code !== '' || !isBrowser) return `no connection${code}; check host and port, and that it runs`;
  return UNCONNECTED;
}

/** Code of the system error behind a failed fetch, such as ` (ECONNREFUSED)`. It contains no secret. */
function systemCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^E[A-Z]{3,20}$/.test(code) ? ` (${code})` : '';
}
