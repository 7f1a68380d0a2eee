import { readAtMost } from '../../primitives/read-at-most.js';
import type { Address } from './address.js';
import type { Fault } from './fault.js';

/** What every HTTP request of an endpoint goes by. */
export interface HttpOptions {
  readonly fetch: typeof fetch;
  /** Bytes of an answer, decompressed; more are not read. */
  readonly maxResponseBytes: number;
}

/** What came back, as far as it was read. */
export interface HttpReply {
  readonly status: number;
  /** `Retry-After` in milliseconds; page scripts see the header only where the endpoint lets them. */
  readonly retryAfterMs?: number;
  readonly body: string;
  readonly bytesReceived: number;
}

export interface HttpFailure {
  readonly fault: Fault;
  readonly bytesReceived: number;
}

/**
 * One HTTP exchange. What `fetch` throws is not passed on, because its words may quote the address.
 *
 * @param url - of the address, or below it
 * @param body - JSON to POST; GET without one
 * @param signal - ends the exchange
 * @throws the reason of `signal` when it is aborted, nothing else
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
    // Called without a receiver: a browser's own fetch refuses any other than the global object.
    const { fetch } = options;
    response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept: json, ...(body !== undefined && { 'content-type': json }), ...address.headers },
      ...(body !== undefined && { body }),
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      // Headers of our own, keys among them, would go along to wherever an endpoint points.
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { fault: { kind: 'unavailable', reason: `no connection${systemCode(error)}` }, bytesReceived: 0 };
  }
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    response.body?.cancel().catch(() => {});
    const { status } = response;
    const fault: Fault = {
      kind: 'configuration',
      reason: 'redirects, and is not followed',
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
    // The length that was announced is that of the compressed body: above the limit the body is, too, or nearly.
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
    return { status, body, bytesReceived, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return failed(`connection broke off${systemCode(error)}`, 'unavailable');
  }
}

/** Seconds or a date; a date is counted from the answer's own `Date` where there is one. */
function parseRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const sentAt = Date.parse(headers.get('date') ?? '');
  const delay = Date.parse(text) - (Number.isNaN(sentAt) ? Date.now() : sentAt);
  return Number.isNaN(delay) ? undefined : Math.max(0, delay);
}

/** Code of the system's error behind a failed fetch, ` (ECONNREFUSED)`: no secret, and it helps. */
function systemCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^E[A-Z]{3,20}$/.test(code) ? ` (${code})` : '';
}
