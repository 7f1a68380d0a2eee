import { isPlumblineError, PlumblineError } from '../../errors.js';
import { isDeeperThan } from '../../primitives/json-depth.js';
import { readBody } from '../../rpc/http/read-body.js';
import { failure, type RpcRequest, type RpcResponse, success } from '../../rpc/protocol/envelope.js';
import { toRpcError } from '../../rpc/protocol/rpc-errors.js';
import { openDeadline } from '../../scheduling/deadline.js';
import { hanging } from '../../upstream/transport/fault.js';

/**
 * Sends calls to an endpoint in one request. Returns one response for each call that has an id, with that id, in order. Only the
 * form of the responses is checked. Undefined when the URL does not answer JSON-RPC.
 */
export type Forward = (calls: readonly RpcRequest[], signal?: AbortSignal) => Promise<RpcResponse[] | undefined>;

/** Largest response, bytes. Traces of long transactions are large. */
const MAX_BYTES = 64 * 2 ** 20;
/** Depth of a response. A trace of nested calls has two levels for each of up to 1024 calls. */
const MAX_DEPTH = 4096;
/** Status codes of a page's own server for a path that only the worker answers. */
const NOT_AN_ENDPOINT = [404, 405, 501];

/**
 * Forwards to the URL that the page requested, with the headers and credentials of its request. Redirects are not followed, so
 * nothing is sent to another origin.
 */
export function forwardTo(request: Request, timeoutMs: number): Forward {
  return async (calls, signal) => {
    const deadline = openDeadline(signal, timeoutMs);
    try {
      const answered = calls.filter(({ id }) => id !== undefined);
      const body = await deadline.run(() => exchange(request, bodyOf(calls), deadline.signal));
      return body === undefined ? undefined : answered.map((call, i) => responseTo(call.id!, i + 1, body, request));
    } catch (error) {
      const isHanging = isPlumblineError(error, 'REQUEST_TIMED_OUT') && error === deadline.signal.reason;
      const told = toRpcError(isHanging ? unavailable(request.url, hanging(timeoutMs)) : error);
      return calls.filter(({ id }) => id !== undefined).map(({ id }) => failure(id!, told));
    } finally {
      deadline.close();
    }
  };
}

/** The calls with new ids, because a page may use an id twice. */
function bodyOf(calls: readonly RpcRequest[]): string {
  let next = 1;
  const sent = calls.map(({ id, method, params }) => ({
    jsonrpc: '2.0',
    ...(id !== undefined && { id: next++ }),
    method,
    params,
  }));
  return JSON.stringify(sent.length === 1 ? sent[0] : sent);
}

/** The parsed body of the response. An empty body is an empty list. */
async function exchange(request: Request, body: string, signal: AbortSignal): Promise<unknown> {
  const { url, headers, credentials, referrerPolicy } = request;
  let response: Response;
  try {
    const rules = { credentials, referrerPolicy, cache: 'no-store', redirect: 'manual', mode: 'cors' } as const;
    response = await fetch(url, { method: 'POST', headers, body, signal, ...rules });
  } catch {
    if (signal.aborted) throw signal.reason;
    // The error of `fetch` is dropped: its message may quote the URL, which may hold a key.
    throw unavailable(
      url,
      'no connection: down, or no CORS headers for this page, which a browser does not tell apart; check both',
    );
  }
  if (response.type === 'opaqueredirect')
    throw unavailable(url, 'it redirects, which is not followed; use the URL it redirects to');
  const text = await readBody(response, MAX_BYTES);
  if (text === 'too-large') throw malformed(url, `the answer is larger than ${MAX_BYTES} bytes`, response.status);
  if (isDeeperThan(text ?? '', MAX_DEPTH))
    throw malformed(url, `the answer is nested deeper than ${MAX_DEPTH} levels`, response.status);
  try {
    return text === '' && response.ok ? [] : JSON.parse(text ?? '');
  } catch {
    if (NOT_AN_ENDPOINT.includes(response.status)) return undefined;
    throw malformed(url, 'the answer is not JSON', response.status);
  }
}

/** The response to call number `sent`, with the page's id. A single error without an id answers all calls. */
function responseTo(
  id: NonNullable<RpcRequest['id']> | null,
  sent: number,
  body: unknown,
  { url }: Request,
): RpcResponse {
  const responses: unknown[] = Array.isArray(body) ? body : [body];
  const own = responses.find((response) => isObject(response) && String(response.id) === String(sent));
  const only = responses.length === 1 ? responses[0] : undefined;
  const found = own ?? (isObject(only) && (only.id === null || only.id === undefined) ? only : undefined);
  if (isObject(found)) {
    const { result, error } = found;
    if (isObject(error) && Number.isSafeInteger(error.code)) {
      const { code, message, data } = error as { code: number; message?: unknown; data?: unknown };
      const said = { code, message: String(message ?? ''), ...(data !== undefined && { data }) };
      const { origin } = new URL(url);
      return failure(id, { ...said, reason: 'UPSTREAM_ERROR', details: { origin, ...said, forwarded: true } });
    }
    if ('result' in found && found === own) return success(id, result);
  }
  return failure(id, toRpcError(malformed(url, 'the answer to this call is missing')));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function unavailable(url: string, reason: string): PlumblineError {
  const { origin } = new URL(url);
  const endpoints = [{ origin, kind: 'unavailable', reason }] as const;
  return new PlumblineError('UPSTREAM_UNAVAILABLE', `${origin}: ${reason}`, { endpoints });
}

function malformed(url: string, reason: string, status?: number): PlumblineError {
  const { origin } = new URL(url);
  const more = status === undefined ? {} : { status };
  const message = `${origin}: ${status === undefined ? '' : `status ${status}: `}${reason}`;
  return new PlumblineError('UPSTREAM_MALFORMED', message, {
    endpoints: [{ origin, kind: 'malformed', reason, ...more }],
  });
}
