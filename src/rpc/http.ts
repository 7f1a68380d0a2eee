import { readAtMost } from '../primitives/bounded-input.js';
import { asError, failure, type NodeFault, type Reply, readPayload, writeReply } from './envelope.js';
import { bodyTooLarge, TOO_MANY_BODIES, toRpcError } from './rpc-errors.js';

/** Largest request body by default: 5 MiB, far above the largest transaction in hex. */
export const DEFAULT_MAX_BODY_BYTES = 5 * 1024 * 1024;

/** Which requests an HTTP handler accepts. */
export interface FetchHandlerOptions extends AccessRule {
  /** Largest request body, bytes; 5 MiB when left out. */
  readonly maxBodyBytes?: number | undefined;
}

/** Who sends a request, for limits of each client and of each connection. */
export interface Caller {
  /** The client's address, for limits of each client. All requests without one are those of one client. */
  readonly client?: string | undefined;
  /** Stands for the client's connection, such as its socket: requests with the same one share `connectionGasBudget`. */
  readonly connection?: object | undefined;
}

/** The same over HTTP, as a server knows it. */
export interface HttpCaller extends Caller {
  /** Counts bytes of the body as they come. @returns false if they are too many beside the client's other requests */
  mayTake?(length: number): boolean;
  /** Called with a parsed body and its reply, before the response. The payload is undefined for a body that is not JSON. */
  onReply?(payload: unknown, reply: Reply): void;
}

/** A request under way. */
interface HttpCall extends Caller {
  readonly signal: AbortSignal;
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
 * | body that the caller's `mayTake` refuses | 429 with -32005 |
 * | GET of the beacon API (`/eth/v…`), for the layer 1 of a devnet | that of the beacon API |
 * | any other GET | 201, empty |
 * | OPTIONS | 204 |
 * | any other verb | 405 |
 * | origin or host not allowed | 403 |
 *
 * @source docs/spec/json-rpc.md 3, docs/decisions.md 7
 */
export function createFetchHandler(
  dispatch: (payload: unknown, call: HttpCall) => Promise<Reply>,
  options: FetchHandlerOptions & {
    /** Answers the beacon API, too. */
    readonly beacon?: boolean;
    /** Receives what `dispatch` threw, if its client is not told. */
    readonly onFault?: (fault: NodeFault) => void;
  } = {},
): (request: Request, caller?: HttpCaller) => Promise<Response> {
  const limit = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const origins = options.allowedOrigins ?? '*';

  async function post(request: Request, caller: HttpCaller = {}): Promise<{ reply: Reply; status: number }> {
    const { client, connection, mayTake } = caller;
    let isTooMuch = false;
    const text = await readBody(request, limit, (length) => {
      isTooMuch ||= mayTake?.(length) === false;
      return !isTooMuch;
    });
    if (isTooMuch) return { reply: { body: failure(null, TOO_MANY_BODIES) }, status: 429 };
    if (text === 'too-large') return { reply: { body: failure(null, bodyTooLarge(limit)) }, status: 413 };
    const read = readPayload(text ?? '');
    const call = { signal: request.signal, client, connection };
    const reply = 'refused' in read ? read.refused : await dispatch(read.payload, call);
    caller.onReply?.('refused' in read ? undefined : read.payload, reply);
    return { reply, status: reply.fault === undefined ? 200 : reply.fault === 'envelope' ? 400 : 408 };
  }

  return async (request, caller) => {
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
    if (request.method === 'GET') {
      if (options.beacon !== true) return new Response(null, { status: 201, headers });
      const { beaconRequest, beaconResponse } = await import('./beacon-request.js');
      const { client, connection } = caller ?? {};
      const call = { signal: request.signal, client, connection };
      return beaconResponse(request, (path, form) => dispatch(beaconRequest(path, form), call), headers);
    }
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { ...headers, allow: METHODS } });

    headers['content-type'] = JSON_TYPE;
    try {
      const { reply, status } = await post(request, caller);
      return new Response(writeReply(reply), { status, headers });
    } catch (error) {
      const told = toRpcError(error);
      if (told.reason === 'INTERNAL') options.onFault?.({ id: told.details.id!, error: asError(error) });
      return new Response(writeReply({ body: failure(null, told) }), { status: 500, headers });
    }
  };
}

/** Who may send requests. The same rule holds for HTTP and WebSocket. */
export interface AccessRule {
  /**
   * Origins whose pages may send requests; `*` for all. With a list, a request from an origin that is neither the endpoint's own
   * nor listed is refused with 403. Without CORS headers alone it would still be carried out. Requests without an origin are
   * answered: browsers send it with every POST and WebSocket, tools do not. `serve` lists none by default, handlers use `*`.
   *
   * In a list, `loopback` stands for pages of this machine, on any port, and `extensions` for all browser extensions.
   */
  readonly allowedOrigins?: '*' | readonly string[] | undefined;
  /** Called with the origin of each request that is refused for it: text of a client. */
  readonly onRefusedOrigin?: ((origin: string) => void) | undefined;
  /**
   * Host names (without port) under which the endpoint answers; any when left out. Protects from DNS rebinding: a site can point
   * its own name at any address. Without it only IP addresses and `localhost` count as the endpoint's own origin.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Host names of loopback, as URLs have them. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether a name or an address, as a socket listens on it, is on loopback. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The 403 for a request whose host or origin is not allowed; undefined if both are.
 *
 * @param request - anything with an address and headers, such as the opening of a WebSocket
 */
export function refusal(
  request: Pick<Request, 'url' | 'headers'>,
  { allowedHosts, allowedOrigins = '*', onRefusedOrigin }: AccessRule,
): Response | undefined {
  const { hostname, origin: own } = new URL(request.url);
  if (allowedHosts !== undefined && !allowedHosts.includes(hostname)) return refuse('Host not authorized.');
  const origin = request.headers.get('origin');
  if (allowedOrigins === '*' || origin === null || isListed(origin, allowedOrigins)) return undefined;
  if (origin === own && (allowedHosts !== undefined || cannotBeRebound(hostname))) return undefined;
  onRefusedOrigin?.(origin);
  return refuse(
    `Origin not authorized. plumbline serve --allow-origin ${origin} lets it in, allowedOrigins in a program.`,
  );
}

const EXTENSION = /^(?:chrome|moz|safari-web)-extension:\/\/[\w-]+$/;
const ON_LOOPBACK = /^https?:\/\/(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** Whether a list has an origin, by itself or by its class. */
function isListed(origin: string, list: readonly string[]): boolean {
  if (list.includes(origin)) return true;
  if (list.includes('extensions') && EXTENSION.test(origin)) return true;
  return list.includes('loopback') && ON_LOOPBACK.test(origin);
}

/** Whether no site can have this host name: an IP address, or a name that browsers resolve to loopback. */
function cannotBeRebound(hostname: string): boolean {
  return /^\[|^\d+(\.\d+){3}$|^localhost$|\.localhost$/.test(hostname);
}

function refuse(message: string): Response {
  return new Response(JSON.stringify({ message }), { status: 403, headers: { 'content-type': 'application/json' } });
}

/**
 * Text of the body of a request or a response. The limit holds for the bytes that arrive, not only for the announced
 * length. The rest of a body that is too large is not read.
 *
 * @param limit - bytes
 * @param onPart - called with the announced length before the body is read, or with that of each part; false ends the reading,
 *   as of a body that is too large
 * @returns undefined for a body that is not UTF-8 or is cut off
 */
export async function readBody(
  request: Request | Response,
  limit: number,
  onPart?: (length: number) => boolean,
): Promise<string | 'too-large' | undefined> {
  try {
    const bytes = await readBytes(request, limit, onPart);
    return bytes === undefined ? 'too-large' : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** @returns undefined above the limit */
async function readBytes(
  request: Request | Response,
  limit: number,
  onPart: ((length: number) => boolean) | undefined,
): Promise<Uint8Array | undefined> {
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > limit) return undefined;
  // A server ends a request at the length that it announces. For a stream, Node's adapter would make a second Request.
  const isFramed = announced !== null && request instanceof Request;
  // Firefox has no Request.body.
  const stream = isFramed ? undefined : (request.body as ReadableStream<Uint8Array> | null | undefined);
  if (stream !== undefined) return readAtMost(stream, limit, onPart);
  if (onPart?.(Number(announced ?? 0)) === false) return undefined;
  const whole = new Uint8Array(await request.arrayBuffer());
  return whole.length > limit ? undefined : whole;
}
