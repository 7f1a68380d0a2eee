import { failure, PARSE_ERROR_REPLY, type Reply, writeReply } from '../protocol/envelope.js';
import type { Dispatch } from '../protocol/handle.js';
import { bodyTooLarge, toRpcError } from '../protocol/rpc-errors.js';
import { readBody } from './read-body.js';

/** Largest request body by default: 5 MiB, far above the largest transaction in hex. */
export const DEFAULT_MAX_BODY_BYTES = 5 * 1024 * 1024;

/** Which requests an HTTP handler accepts. */
export interface FetchHandlerOptions {
  /** Largest request body, bytes; 5 MiB when left out. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Origins whose pages may send requests; `*`, the default, for all. With a list, a request from an origin that is neither
   * the endpoint's own nor listed is refused with 403. Without CORS headers alone it would still be carried out.
   */
  readonly allowedOrigins?: '*' | readonly string[] | undefined;
  /** Host names (without port) under which the endpoint answers; any when left out. Protects from DNS rebinding. */
  readonly allowedHosts?: readonly string[] | undefined;
}

const METHODS = 'POST, GET, OPTIONS';
const JSON_TYPE = 'application/json';

/**
 * JSON-RPC over HTTP as a function from Request to Response, for service workers and for Node. It ignores the path, and
 * never rejects.
 *
 * | request | status |
 * |---|---|
 * | answered, errors of methods included; a batch; a notification (empty body) | 200 |
 * | not JSON, not a request, an empty batch | 400 |
 * | one request that took too long | 408 |
 * | body above the limit | 413 with -32600 |
 * | GET | 201, empty |
 * | OPTIONS | 204 |
 * | any other verb | 405 |
 * | origin or host not allowed | 403 |
 *
 * @source docs/spec/json-rpc.md 3, docs/decisions.md 7
 */
export function createFetchHandler(
  dispatch: Dispatch,
  options: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const limit = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const origins = options.allowedOrigins ?? '*';

  async function post(request: Request): Promise<{ reply: Reply; status: number }> {
    const text = await readBody(request, limit);
    if (text === 'too-large') return { reply: { body: failure(null, bodyTooLarge(limit)) }, status: 413 };
    let payload: unknown;
    try {
      payload = JSON.parse(text ?? '');
    } catch {
      return { reply: PARSE_ERROR_REPLY, status: 400 };
    }
    const reply = await dispatch(payload, { signal: request.signal });
    return { reply, status: reply.fault === undefined ? 200 : reply.fault === 'envelope' ? 400 : 408 };
  }

  return async (request) => {
    const refused = refusal(request, options);
    if (refused !== undefined) return refused;
    const origin = request.headers.get('origin');
    const headers: Record<string, string> =
      origins === '*' ? { 'access-control-allow-origin': '*' } : { vary: 'Origin' };
    if (origins !== '*' && origin !== null) headers['access-control-allow-origin'] = origin;

    if (request.method === 'OPTIONS') {
      headers['access-control-allow-methods'] = METHODS;
      headers['access-control-allow-headers'] = request.headers.get('access-control-request-headers') ?? 'content-type';
      headers['access-control-max-age'] = '86400';
      return new Response(null, { status: 204, headers });
    }
    if (request.method === 'GET') return new Response(null, { status: 201, headers });
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { ...headers, allow: METHODS } });

    headers['content-type'] = JSON_TYPE;
    try {
      const { reply, status } = await post(request);
      return new Response(writeReply(reply), { status, headers });
    } catch (error) {
      const body = writeReply({ body: failure(null, toRpcError(error)) });
      return new Response(body, { status: 500, headers });
    }
  };
}

/**
 * The 403 for a request whose host or origin is not allowed; undefined if both are.
 *
 * @param request - anything with an address and headers, such as the opening of a WebSocket
 */
export function refusal(
  request: Pick<Request, 'url' | 'headers'>,
  { allowedHosts, allowedOrigins = '*' }: FetchHandlerOptions,
): Response | undefined {
  const url = new URL(request.url);
  if (allowedHosts !== undefined && !allowedHosts.includes(url.hostname)) return refuse('Host not authorized.');
  const origin = request.headers.get('origin');
  const listed = allowedOrigins === '*' || origin === null || origin === url.origin || allowedOrigins.includes(origin);
  return listed ? undefined : refuse('Origin not authorized.');
}

function refuse(message: string): Response {
  return new Response(JSON.stringify({ message }), { status: 403, headers: { 'content-type': JSON_TYPE } });
}
