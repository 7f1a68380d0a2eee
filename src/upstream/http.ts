import { concatBytes } from '../primitives/bytes.js';
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
  const tally = { bytes: 0 };
  const failed = (reason: string, kind: Fault['kind'] = 'malformed'): HttpFailure => ({
    fault: { kind, reason, status },
    bytesReceived: tally.bytes,
  });
  try {
    const bytes = await readAtMost(response, maxBytes, tally);
    if (bytes === undefined) return failed(`answer above ${maxBytes} bytes`);
    const retryAfterMs = parseRetryAfter(response.headers);
    const body = new TextDecoder('utf-8').decode(bytes);
    return { status, body, bytesReceived: tally.bytes, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return failed(`connection broke off${systemCode(error)}`, 'unavailable');
  }
}

/** Undefined above the limit; the rest is then not read. */
async function readAtMost(
  response: Response,
  maxBytes: number,
  tally: { bytes: number },
): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  // The length that was announced is that of the compressed body: above the limit the body is, too, or nearly.
  let tooLong = Number(response.headers.get('content-length') ?? 0) > maxBytes;
  const chunks: Uint8Array[] = [];
  while (!tooLong) {
    const { done, value } = await reader.read();
    if (done) return concatBytes(...chunks);
    tally.bytes += value.length;
    tooLong = tally.bytes > maxBytes;
    chunks.push(value);
  }
  // Not awaited: a source that never ends may never confirm.
  reader.cancel().catch(() => {});
  return undefined;
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
