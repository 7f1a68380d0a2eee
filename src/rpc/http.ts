import { PlumblineError } from '../errors.js';
import { readAtMost } from '../primitives/bounded-input.js';
import type { LateSignal } from '../scheduling/deadline.js';
import { asError, failure, type NodeFault, type Reply, readPayload, writeReply } from './envelope.js';
import { bodyTooLarge, TOO_MANY_BODIES, toRpcError } from './rpc-errors.js';

/** Largest request body by default: 5 MiB, far above the largest transaction in hex. */
export const DEFAULT_MAX_BODY_BYTES = 5 * 1024 * 1024;

/** Which requests an HTTP handler accepts. */
export interface FetchHandlerOptions extends AccessRule {
  /** Largest request body, in bytes. Default: 5 MiB. */
  readonly maxBodyBytes?: number | undefined;
}

/** Who sends a request. Clients and connections have limits. */
export interface Caller {
  /** The client's address, for the limits of each client. All requests without an address count as one client. */
  readonly client?: string | undefined;
  /** An object for the client's connection, such as its socket. Requests with the same object share `connectionGasBudget`. */
  readonly connection?: object | undefined;
  /** As `PayloadOptions.unreported`. */
  readonly unreported?: boolean | undefined;
}

/** Who sends a request over HTTP, as a server knows it. */
export interface HttpCaller extends Caller {
  /** Counts bytes of the body as they arrive. @returns false if they are too many together with the client's other requests */
  mayTake?(length: number): boolean;
  /** Called with a parsed body and its reply, before the response. The payload is undefined for a body that is not JSON. */
  readonly onReply?: ((payload: unknown, reply: Reply) => void) | undefined;
}

/** A request under way. */
interface HttpCall<Signal = AbortSignal> extends Caller {
  readonly signal: Signal;
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
  options: FetchHandlerOptions &
    PostOptions & {
      /** Answers the beacon API, too. */
      readonly beacon?: boolean;
    } = {},
): (request: Request, caller?: HttpCaller) => Promise<Response> {
  return async (request, caller) => {
    const refused = refusal(request, options);
    if (refused !== undefined) return refused;
    const headers = corsHeaders(options.allowedOrigins, request.headers.get('origin'));

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
    const read = (onPart: OnPart) => readBody(request, options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, onPart);
    const { status, text } = await answerPost(dispatch, read, { ...caller, signal: request.signal }, options);
    return new Response(text, { status, headers });
  };
}

/** Headers that let a page of an allowed origin read an answer. @param allowed - `*` when left out */
export function corsHeaders(
  allowed: AccessRule['allowedOrigins'] = '*',
  origin: string | null | undefined,
): Record<string, string> {
  if (allowed === '*') return { 'access-control-allow-origin': '*' };
  return { vary: 'Origin', ...(typeof origin === 'string' && { 'access-control-allow-origin': origin }) };
}

/** Called with the length of each part of a body. @returns false to end the reading */
type OnPart = (length: number) => boolean;

/** What answers the body of a POST with JSON-RPC. */
export interface PostOptions {
  readonly maxBodyBytes?: number | undefined;
  /** Receives what `dispatch` threw, if its client is not told. */
  readonly onFault?: ((fault: NodeFault) => void) | undefined;
}

/**
 * Answers the body of a POST, by the table of `createFetchHandler`. It never rejects.
 *
 * @param read - as `readBody`
 */
export async function answerPost<Signal extends AbortSignal | LateSignal>(
  dispatch: (payload: unknown, call: HttpCall<Signal>) => Promise<Reply>,
  read: (onPart: OnPart) => Promise<string | 'too-large' | undefined>,
  call: HttpCaller & HttpCall<Signal>,
  { maxBodyBytes = DEFAULT_MAX_BODY_BYTES, onFault }: PostOptions,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    let isTooMuch = false;
    const text = await read((length) => {
      isTooMuch ||= call.mayTake?.(length) === false;
      return !isTooMuch;
    });
    if (isTooMuch) return { status: 429, text: writeReply({ body: failure(null, TOO_MANY_BODIES) }) };
    if (text === 'too-large')
      return { status: 413, text: writeReply({ body: failure(null, bodyTooLarge(maxBodyBytes)) }) };
    const given = readPayload(text ?? '');
    const reply = 'refused' in given ? given.refused : await dispatch(given.payload, call);
    call.onReply?.('refused' in given ? undefined : given.payload, reply);
    const status = reply.fault === undefined ? 200 : reply.fault === 'envelope' ? 400 : 408;
    return { status, text: writeReply(reply) };
  } catch (error) {
    const hasLeft = call.signal.aborted;
    const told = toRpcError(hasLeft ? new PlumblineError('ABORTED', 'request aborted', {}, { cause: error }) : error);
    if (told.reason === 'INTERNAL') onFault?.({ id: told.details.id!, error: asError(error) });
    return { status: 500, text: writeReply({ body: failure(null, told) }) };
  }
}

/** Who may send requests. The same rule holds for HTTP and WebSocket. */
export interface AccessRule {
  /**
   * Origins whose pages may send requests; `*` for all. With a list, a request from another origin is refused with 403, unless it is
   * the endpoint's own origin. (If only the CORS headers were missing, the request would still be carried out.) Requests without an
   * origin are answered: browsers send an origin with every POST and WebSocket, tools do not. By default, `serve` lists no origins,
   * and handlers use `*`.
   *
   * In a list, `loopback` stands for pages of this machine, on any port, and `extensions` for all browser extensions.
   */
  readonly allowedOrigins?: '*' | readonly string[] | undefined;
  /** Called with the origin of each request that is refused because of its origin. The origin is text from a client. */
  readonly onRefusedOrigin?: ((origin: string) => void) | undefined;
  /**
   * Host names (without port) under which the endpoint answers. Default: any. The list protects from DNS rebinding, because a site can
   * point its own name at any address. Without a list, only IP addresses and `localhost` count as the endpoint's own origin.
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
 * @param request - anything with an address and headers
 */
export function refusal(request: Pick<Request, 'url' | 'headers'>, rule: AccessRule): Response | undefined {
  const message = refusalOf(new URL(request.url), request.headers.get('origin'), rule);
  if (message === undefined) return undefined;
  return new Response(JSON.stringify({ message }), { status: 403, headers: { 'content-type': JSON_TYPE } });
}

/** Why a host or an origin is not allowed; undefined if both are. @param asked - the address that is asked */
export function refusalOf(
  { hostname, origin: own }: Pick<URL, 'hostname' | 'origin'>,
  origin: string | null | undefined,
  { allowedHosts, allowedOrigins = '*', onRefusedOrigin }: AccessRule,
): string | undefined {
  if (allowedHosts !== undefined && !allowedHosts.includes(hostname)) return 'Host not authorized.';
  if (allowedOrigins === '*' || origin === null || origin === undefined || isListed(origin, allowedOrigins))
    return undefined;
  if (origin === own && (allowedHosts !== undefined || cannotBeRebound(hostname))) return undefined;
  onRefusedOrigin?.(origin);
  return `Origin not authorized. plumbline serve --allow-origin ${origin} lets it in, allowedOrigins in a program.`;
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
