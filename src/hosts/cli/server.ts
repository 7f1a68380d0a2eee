import { constants, isAscii } from 'node:buffer';
import { once, setMaxListeners } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { WebSocket } from 'ws';
import { invalidParameter } from '../../errors.js';
import { GrowingBytes } from '../../primitives/bytes.js';
import { failure, type Reply, readPayload, writeReply } from '../../rpc/envelope.js';
import {
  type AccessRule,
  corsHeaders,
  DEFAULT_MAX_BODY_BYTES,
  type HttpCaller,
  isLoopback,
  LOOPBACK_NAMES,
  refusal,
  refusalOf,
} from '../../rpc/http.js';
import { toRpcError } from '../../rpc/rpc-errors.js';
import { LateController } from '../../scheduling/deadline.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { aboveZero, call, members, text, texts, value, wholeAboveZero } from '../options/known-members.js';
import type { NodeInfo } from '../options/options.js';
import type { PlumblineNode } from '../provider/node-handle.js';
import {
  type BodyBytes,
  bodyMeter,
  clientOf,
  followConnections,
  type HttpExchange,
  hasTwoHosts,
  type ReplyListener,
  type ServedRequest,
  servedRequests,
} from './connections.js';
import type { FeedOptions } from './feed.js';

export { devnet } from '../../networks/devnet.js';
export { ethereum, hoodi, sepolia } from '../../networks/ethereum.js';
export { linea, lineaSepolia } from '../../networks/linea.js';
export type { Network, RollupNetwork } from '../../networks/network.js';
export { NETWORKS, type NetworkName } from '../../networks/networks.js';
export { createInlineNode, type InlineOptions } from '../opening/inline.js';
export type { ServedRequest } from './connections.js';
export type { FeedOptions } from './feed.js';

/**
 * Entry point `plumbline-l2-cli`: a node behind Node's HTTP server, with WebSockets on the same port.
 *
 * @module plumbline-l2-cli
 */

const DEFAULT_MAX_CONNECTIONS = 1024;
const DEFAULT_MAX_CONNECTIONS_PER_CLIENT = 256;
const DEFAULT_RECEIVE_TIMEOUT_MS = 30_000;
const DEFAULT_GRACE_MS = 5_000;
const DEFAULT_HOST = '127.0.0.1';
/** Bytes of a client's request bodies that are received or answered at a time, in largest bodies. */
const BODIES_OF_A_CLIENT = 8;
/** Time between two looks for requests that are too slow, ms. */
const CHECK_MS = 5_000;

/** Where and how a node is served. */
export interface ServeOptions {
  /** Port to listen on; 0 for any free port. Default 8545. */
  readonly port?: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Directory of a built page to serve under `/demo/`. */
  readonly demoDirectory?: string;
  /**
   * Most open connections at a time, including WebSockets. Default 1024. For one more connection, the server closes a waiting
   * connection of the client that has the most. If there is none, it closes the new one.
   */
  readonly maxConnections?: number;
  /** Most connections of one client: an IPv4 address, or an IPv6 network of 64 bits. Half may be WebSockets. Default 256. */
  readonly maxConnectionsPerClient?: number;
  /** Time in which a request must arrive with its body, ms. A slower one gets 408 and is closed. Default 30 000. */
  readonly receiveTimeoutMs?: number;
  readonly webSocket?: WebSocketOptions;
  /** Options of the feed: `GET /feed/…` answers with objects that caches can serve. Default: there is no feed. */
  readonly feed?: FeedOptions;
  /** Called for each request when its answer is ready, before it is sent. */
  readonly onRequest?: (request: ServedRequest) => void;
  /** Returns the text of `GET /metrics`, in the format of Prometheus. Default: `GET /metrics` gets 404. */
  readonly metrics?: () => Promise<string>;
}

const requireServeOptions = members<ServeOptions>({
  port: value(
    'a port, 0 to 65535',
    (given) => Number.isInteger(given) && (given as number) >= 0 && (given as number) <= 65_535,
  ),
  host: text,
  demoDirectory: text,
  maxConnections: wholeAboveZero,
  maxConnectionsPerClient: wholeAboveZero,
  receiveTimeoutMs: wholeAboveZero,
  webSocket: members<WebSocketOptions>({ maxBufferedBytes: wholeAboveZero, pingMs: aboveZero }),
  feed: members<FeedOptions>({ ratePerSecond: aboveZero, ratePerClient: aboveZero, consensus: texts }),
  onRequest: call,
  metrics: call,
});

/** A server that listens. */
export interface RunningServer {
  readonly port: number;
  readonly host: string;
  /** Stops listening, answers open requests, ends event streams, and closes every connection. The node stays open. */
  close(options?: { /** How long to wait for answers, ms. Default 5 000. */ readonly graceMs?: number }): Promise<void>;
}

/**
 * Serves a node over HTTP and WebSocket:
 *
 * - JSON-RPC on `POST /` and `POST /v3/<anything>`, and over WebSocket on the same paths
 * - each chain of a node with several chains on `POST /chain/<id>`
 * - the simulated layer 1 on `POST /l1`, with its beacon API on `GET /l1/eth/…`
 * - health on `GET /liveness`; with `feed`, objects for caches on `GET /feed/…`
 * - a page on `GET /` that says what this server is.
 *
 * It uses the node's `http` options. By default, `allowedOrigins` lists no origin, so pages of other origins are refused. On a loopback
 * address, the default of `allowedHosts` is the names of loopback.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a limit that is not a whole number above zero, and for bodies longer than a text can be;
 *   the system's error if it cannot listen on the address
 */
export async function serve(node: PlumblineNode, options: ServeOptions = {}): Promise<RunningServer> {
  requireServeOptions(options, '');
  const { maxConnections = DEFAULT_MAX_CONNECTIONS, receiveTimeoutMs = DEFAULT_RECEIVE_TIMEOUT_MS } = options;
  const perClient = options.maxConnectionsPerClient ?? DEFAULT_MAX_CONNECTIONS_PER_CLIENT;
  const host = options.host ?? DEFAULT_HOST;
  const rule = accessRule(host, node.http);
  const demo = options.demoDirectory === undefined ? undefined : await demoFiles(options.demoDirectory);
  const limit = node.http.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  // A body is read as one text.
  if (limit > constants.MAX_STRING_LENGTH)
    throw invalidParameter(
      'http.maxBodyBytes',
      `must be at most ${constants.MAX_STRING_LENGTH} for a server, is ${limit}`,
    );
  const bodies = bodyMeter(BODIES_OF_A_CLIENT * limit);
  const onReply = replyListener(options.onRequest);
  /** What a request over HTTP is told to. */
  const listenerOf = (layer: ServedRequest['layer']): HttpCaller['onReply'] =>
    onReply?.bind(undefined, { transport: 'http', layer, began: performance.now() });
  const rpc = async (layer: ServedRequest['layer'], request: Request, { incoming }: HttpBindings, asked = node) => {
    const client = clientOf(incoming.socket.remoteAddress);
    const body = bodies(client);
    try {
      const { mayTake } = body;
      const noted = { onReply: listenerOf(layer), unreported: onReply === undefined };
      const caller = { client, connection: incoming.socket, mayTake, ...noted };
      const response = await (layer === 'l1' ? asked.handleL1(request, caller) : asked.handle(request, caller));
      if (response.headers.get('content-type') === 'text/event-stream') connections.endless(incoming);
      return response;
    } finally {
      body.release();
    }
  };
  const feed = options.feed && (await import('./feed.js')).openFeed(node, options.feed, rule);
  const page = startPage(node.info, demo !== undefined);
  const answer = async (request: Request, bindings: HttpBindings): Promise<Response> => {
    if (hasTwoHosts(bindings.incoming)) return new Response('400 Bad Request', { status: 400 });
    const { socket, url: target = '' } = bindings.incoming;
    const fed = await feed?.(request, target, clientOf(socket.remoteAddress));
    if (fed !== undefined) return fed;
    const refused = refusal(request, rule);
    if (refused !== undefined) return refused;
    const { pathname } = new URL(request.url);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (pathname === '/' && isRead && /\btext\/html\b/.test(request.headers.get('accept') ?? '')) return page();
    const asked = nodeAt(node, pathname);
    if (asked !== undefined) return rpc('l2', request, bindings, asked);
    if (pathname === '/l1') return rpc('l1', request, bindings);
    if (pathname.startsWith('/l1/eth/') && (isRead || request.method === 'OPTIONS'))
      return rpc('l1', request, bindings);
    if (pathname === '/liveness' && isRead) return liveness(node);
    if (pathname === '/metrics' && isRead && options.metrics !== undefined)
      return new Response(await options.metrics(), {
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      });
    if (demo !== undefined && /^\/demo(?:\/|$)/.test(pathname)) return demo(request);
    return new Response('404 Not Found', { status: 404 });
  };

  const serverOptions = {
    requestTimeout: receiveTimeoutMs,
    headersTimeout: receiveTimeoutMs,
    connectionsCheckingInterval: Math.min(receiveTimeoutMs, CHECK_MS),
  };
  // With the first request that is not a POST of JSON-RPC at a plain path.
  const loadAdaptor = loadOnce(async () => {
    const { getRequestListener } = await import('@hono/node-server');
    return getRequestListener((request, bindings) => answer(request, bindings as HttpBindings), {
      overrideGlobalObjects: false,
    });
  });
  const hostOf = forLast(readHost);
  const routeOf = forLast((url: string) => {
    if (!PLAIN_PATH.test(url)) return undefined;
    const layer = url === '/l1' ? 'l1' : 'l2';
    const to = layer === 'l1' ? node : nodeAt(node, url);
    return to && ({ to, layer } as const);
  });
  // An `import` of it reads all that it exports, and from Node 22 on that loads a client, WebSocket and HTTP/2. Node 22.0 has no other way.
  const { createServer } = process.getBuiltinModule?.('node:http') ?? (await import('node:http'));
  const server = createServer(serverOptions, (request, response) => {
    const exchange = connections.begin(request, response);
    if (exchange === undefined) return;
    const route = request.method === 'POST' ? routeOf(request.url ?? '') : undefined;
    const host = route && hostOf(request.headers.host);
    if (route === undefined || host === undefined || hasTwoHosts(request)) {
      loadAdaptor().then(
        (listener) => listener(request, response),
        () => response.destroy(),
      );
      return;
    }
    const { origin } = request.headers;
    const message = refusalOf(host, origin, rule);
    if (message !== undefined) {
      respond(request, response, 403, { 'content-type': 'application/json' }, JSON.stringify({ message }));
      return;
    }
    const { client, left } = exchange;
    const body = bodies(client);
    const { to, layer } = route;
    // Written out: an object with `...` takes longer to make than a small answer.
    const caller = {
      client,
      connection: request.socket,
      mayTake: body.mayTake,
      onReply: listenerOf(layer),
      unreported: onReply === undefined,
      signal: left,
      layer,
    };
    const failed = () => {
      body.release();
      response.destroy();
    };
    to.handleBody((onPart) => readIncoming(exchange, limit, onPart), caller)
      .then(({ status, text }) => {
        body.release();
        const headers = corsHeaders(node.http.allowedOrigins, origin);
        headers['content-type'] = 'application/json';
        respond(request, response, status, headers, text);
      })
      .catch(failed);
  });
  const sockets = openWebSocketEndpoint(node, (path) => nodeAt(node, path), rule, bodies, options.webSocket, onReply);
  const connections = followConnections(server, { total: maxConnections, perClient });
  server.on('upgrade', (request, socket, head) => {
    sockets.upgrade(request, socket, head, () => connections.upgrade(request.socket));
  });
  server.listen(options.port ?? 8545, host);
  // `once` rejects when `error` comes first, such as for an address in use.
  await once(server, 'listening').catch(async (error: unknown) => {
    await sockets.close(0);
    throw error;
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    host,
    async close({ graceMs = DEFAULT_GRACE_MS } = {}) {
      const closed = once(server, 'close');
      server.close();
      connections.close(graceMs);
      await Promise.all([closed, sockets.close(graceMs)]);
    },
  };
}

/** Paths that are compared as they are written: nothing in them to decode or to take away. */
const PLAIN_PATH = /^\/(?:v3|chain|l1)?(?:\/[\w-]*)*$/;

/** Keeps the last answer of a function: most requests have the same path and the same `Host`. */
function forLast<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  let last: { readonly key: Key; readonly value: Value } | undefined;
  return (key) => {
    if (last === undefined || last.key !== key) last = { key, value: read(key) };
    return last.value;
  };
}

/** A `Host` header as a URL has it; undefined if it is no host. */
function readHost(host: string | undefined): Pick<URL, 'hostname' | 'origin'> | undefined {
  if (host === undefined) return undefined;
  try {
    const { hostname, origin, pathname, search, username } = new URL(`http://${host}`);
    return pathname !== '/' || search !== '' || username !== '' ? undefined : { hostname, origin };
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** As `readBody`, of a request of Node's server. */
function readIncoming(
  exchange: HttpExchange,
  limit: number,
  onPart: (length: number) => boolean,
): Promise<string | 'too-large' | undefined> {
  const { request } = exchange;
  const announced = request.headers['content-length'];
  if (Number(announced ?? 0) > limit) return Promise.resolve('too-large');
  const isFramed = announced !== undefined;
  if (isFramed && !onPart(Number(announced))) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let whole: Buffer | undefined;
    // Not a list of the parts: a part of one byte is an object of 200.
    let joined: GrowingBytes | undefined;
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= limit && (isFramed || onPart(part.length))) {
        if (whole === undefined) whole = part;
        else {
          if (joined === undefined) {
            joined = new GrowingBytes();
            joined.push(whole);
          }
          joined.push(part);
        }
        return;
      }
      request.removeAllListeners('data').pause();
      resolve(length > limit ? 'too-large' : undefined);
    });
    request.on('end', () => {
      // A promise that is resolved twice is reported to Node, which takes longer than this answer.
      exchange.onClose = undefined;
      const bytes = joined?.bytes() ?? whole ?? new Uint8Array(0);
      onceAllRead(() => resolve(textOf(bytes)));
    });
    request.on('error', () => resolve(undefined));
    // `resolve` itself. With a function around it, V8 keeps much of each request (`bench -- server` counts it).
    exchange.onClose = resolve;
  });
}

let waiting: (() => void)[] = [];

/**
 * Calls back once all that has arrived is read. So the server reads many requests and then answers many, which takes less time than to
 * answer each as it is read (`bench -- server`).
 */
function onceAllRead(action: () => void): void {
  if (waiting.length === 0) setImmediate(actAll);
  waiting.push(action);
}

function actAll(): void {
  const actions = waiting;
  waiting = [];
  for (const action of actions) action();
}

/** @returns undefined for bytes that are not UTF-8 */
function textOf(bytes: Uint8Array): string | undefined {
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Time in which the rest of a body that nobody reads may come before the connection is closed, ms. */
const REST_MS = 500;

/** Sends an answer. The connection of a request whose body was not read is closed after it. */
function respond(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  text: string,
): void {
  headers['content-length'] = Buffer.byteLength(text);
  if (!request.complete) {
    headers.connection = 'close';
    // The client may have to send before it reads.
    request.resume();
    const timer = setTimeout(() => request.socket.destroy(), REST_MS);
    request.socket.on('close', () => clearTimeout(timer));
  }
  response.writeHead(status, headers);
  response.end(text);
}

/** The node, or the chain of it, that answers JSON-RPC at a path; undefined for other paths. */
function nodeAt(node: PlumblineNode, path: string): PlumblineNode | undefined {
  if (/^\/(?:v3(?:\/.*)?)?$/.test(path)) return node;
  const id = Number(/^\/chain\/(\d{1,15})$/.exec(path)?.[1]);
  const { info } = node;
  return (info.chains ?? [info]).some(({ chainId }) => chainId === id) ? node.chain(id) : undefined;
}

/** The rule for hosts and origins, with the defaults of a server on this address. */
function accessRule(host: string, { allowedHosts, allowedOrigins = [], onRefusedOrigin }: AccessRule): AccessRule {
  const names = isLoopback(host) ? [...LOOPBACK_NAMES, host] : undefined;
  return { allowedOrigins, allowedHosts: allowedHosts ?? names, onRefusedOrigin };
}

/** Tells each request of a reply. An error of the listener must not cost the client its answer. */
function replyListener(onRequest: ServeOptions['onRequest']): ReplyListener | undefined {
  if (onRequest === undefined) return undefined;
  return (how, payload, reply) => {
    try {
      for (const request of servedRequests(how, payload, reply)) onRequest(request);
    } catch {}
  };
}

/** Answers requests for files of a built page under `/demo/`. */
async function demoFiles(root: string): Promise<(request: Request) => Response | Promise<Response>> {
  // Loaded when there is a page: a server without one starts sooner.
  const [{ Hono }, { serveStatic }] = await Promise.all([import('hono'), import('@hono/node-server/serve-static')]);
  const app = new Hono();
  app.get('/demo', (context) => context.redirect('/demo/'));
  app.get('/demo/*', serveStatic({ root, rewriteRequestPath: (path) => path.replace(/^\/demo/, '') }));
  return (request) => app.fetch(request);
}

/** 200 with the block number of the head if the node answers, 503 if it does not. */
async function liveness(node: PlumblineNode): Promise<Response> {
  try {
    const head = Number(await node.request({ method: 'eth_blockNumber' }));
    return Response.json({ status: 'UP', head });
  } catch {
    return Response.json({ status: 'DOWN' }, { status: 503 });
  }
}

/** Nothing is loaded: no script, no image, and no page of others may frame it. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Makes the page that a browser sees at `/`: what this server is. It names no address, so it is right behind a proxy too. */
function startPage({ networkName, chainId, chains = [] }: NodeInfo, hasDemo: boolean): () => Response {
  const demo = hasDemo ? '<p><a href="demo/">Open the demo page</a>, which can run a node of its own</p>' : '';
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>plumbline: ${escaped(networkName)}</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid; border-radius: 0.25rem; }
td { padding: 0 1rem 0.25rem 0; vertical-align: top; }
</style>
<h1>plumbline</h1>
<p>This is a plumbline node of the network <b>${escaped(networkName)}</b>, chain id <b>${chainId}</b>. It answers Ethereum
JSON-RPC: give this address to a wallet, a library or a tool.</p>
${demo}
<table>
<tr><td><code>POST /</code></td><td>JSON-RPC, also at <code>/v3/&lt;anything&gt;</code>; a WebSocket at the same paths</td></tr>
${chainRows(chains)}<tr><td><code>POST /l1</code></td><td>the simulated layer 1, where the node is a devnet</td></tr>
<tr><td><code><a href="liveness">GET /liveness</a></code></td><td>whether the node answers, and the number of its newest block</td></tr>
</table>
<pre>{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}</pre>
</html>
`;
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY, vary: 'Accept' };
  return () => new Response(html, { headers });
}

/** Rows with the paths of a node with several chains. */
function chainRows(chains: readonly NodeInfo[]): string {
  const rowOf = ({ chainId, networkName }: NodeInfo) =>
    `<tr><td><code>POST /chain/${chainId}</code></td><td>the same for ${escaped(networkName)}</td></tr>\n`;
  return chains.map(rowOf).join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Most requests of one socket under way at a time. More are not read until some are answered; nor are they while those under way
 * have more bytes than the largest body.
 */
const MAX_RUNNING = 64;
const DEFAULT_MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const PING_MS = 30_000;
/** How long a client may take to answer the close frame, ms. */
const CLOSE_MS = 1_000;

/**
 * Most fragments of a message, and most pieces in which a frame may come: each is an object of its own until the last has come.
 * Above it the socket is closed with 1008.
 */
const MAX_PARTS = 4096;

/** Bytes between two pings that are taken for pings and their answers. */
const KEEP_ALIVE_BYTES = 4096;

/** Close codes. @source RFC 6455 7.4.1, and the IANA registry of close codes for 1013 */
const CLOSE = { goingAway: 1001, notText: 1003, failed: 1011, tooMuch: 1013 } as const;

/** Limits of WebSocket connections. */
export interface WebSocketOptions {
  /** Most bytes that wait for a client that does not read. Above it the client is closed with code 1013. Default 16 MiB. */
  readonly maxBufferedBytes?: number | undefined;
  /** Time between pings, ms. A client that has not answered the last ping is disconnected. Default 30 000. */
  readonly pingMs?: number | undefined;
}

/** JSON-RPC over WebSocket beside an HTTP server. */
interface WebSocketEndpoint {
  /**
   * Handles a request to upgrade a connection to a WebSocket.
   *
   * @param mayOpen - whether its client may have one more; called for a request that is accepted otherwise
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, mayOpen: () => boolean): void;
  /** Answers requests under way, then closes every socket with code 1001. Resolves when all sockets are closed. */
  close(graceMs: number): Promise<void>;
}

/**
 * Opens one session for each socket on a path that answers JSON-RPC. Text frames carry the same JSON as HTTP bodies. The
 * rules for host and origin and the size limit of a body (code 1009 above it) are those of HTTP. Subscriptions end with their
 * socket.
 */
function openWebSocketEndpoint(
  node: PlumblineNode,
  nodeAt: (path: string) => PlumblineNode | undefined,
  rule: AccessRule,
  bodies: (client: string) => BodyBytes,
  options: WebSocketOptions = {},
  onReply?: ReplyListener,
): WebSocketEndpoint {
  const maxPayload = node.http.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  // With the first WebSocket: most servers are started for HTTP, and wait for this otherwise.
  const load = loadOnce(async () => {
    const { WebSocketServer } = await import('ws');
    const parts = { maxFragments: MAX_PARTS, maxBufferedChunks: MAX_PARTS };
    return new WebSocketServer({
      noServer: true,
      maxPayload,
      ...parts,
      perMessageDeflate: false,
      clientTracking: false,
    });
  });
  const callers = new Set<Caller>();
  let isClosed = false;
  const pinger = setInterval(() => {
    for (const caller of callers) caller.ping();
  }, options.pingMs ?? PING_MS);
  pinger.unref();

  return {
    upgrade(request, socket, head, mayOpen) {
      socket.on('error', () => socket.destroy());
      const asked = askedNode(request, rule, nodeAt);
      const status = typeof asked === 'string' ? asked : mayOpen() ? undefined : '429 Too Many Requests';
      if (typeof asked === 'string' || status !== undefined) {
        socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      const client = clientOf(request.socket.remoteAddress);
      const open = (webSocket: WebSocket) => {
        const caller = new Caller(
          asked,
          webSocket,
          socket,
          () => bodies(client),
          options.maxBufferedBytes ?? DEFAULT_MAX_BUFFERED_BYTES,
          maxPayload,
          onReply,
        );
        callers.add(caller);
        webSocket.on('close', () => callers.delete(caller));
      };
      load().then(
        (server) => (isClosed ? socket.destroy() : server.handleUpgrade(request, socket, head, open)),
        () => socket.destroy(),
      );
    },
    async close(graceMs) {
      clearInterval(pinger);
      isClosed = true;
      await Promise.all([...callers].map((caller) => caller.leave(graceMs)));
    },
  };
}

/** The node that a request for a WebSocket asks, or the status with which it is refused. */
function askedNode(
  request: IncomingMessage,
  rule: AccessRule,
  nodeAt: (path: string) => PlumblineNode | undefined,
): PlumblineNode | string {
  if (hasTwoHosts(request)) return '400 Bad Request';
  let url: URL;
  try {
    url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  } catch {
    return '400 Bad Request';
  }
  const { origin } = request.headers;
  const headers = new Headers(origin === undefined ? {} : { origin });
  if (refusal({ url: url.href, headers }, rule) !== undefined) return '403 Forbidden';
  return nodeAt(url.pathname) ?? '404 Not Found';
}

/** One socket: answers requests and sends the messages of subscriptions. */
class Caller {
  private readonly session;
  private readonly gone = new LateController((signal) => setMaxListeners(0, signal));
  private running = 0;
  private runningBytes = 0;
  private answeredPing = true;
  private leaving = false;
  /** Of the message that is arriving. */
  private arriving: BodyBytes;

  /** @param stream - the connection below the socket */
  constructor(
    node: PlumblineNode,
    private readonly socket: WebSocket,
    stream: Duplex,
    private readonly nextBody: () => BodyBytes,
    private readonly maxBufferedBytes: number,
    private readonly maxBodyBytes: number,
    private readonly onReply: ReplyListener | undefined,
  ) {
    this.session = node.openSession((params) => {
      this.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }));
    }, socket);
    this.arriving = nextBody();
    // Before ws reads them: they belong to the message that they complete.
    stream.prependListener('data', ({ length }: Buffer) => {
      if (this.gone.aborted || this.arriving.mayTake(length)) return;
      if (socket.readyState === socket.OPEN) this.end(CLOSE.tooMuch, 'too many bytes of requests at once');
      else socket.terminate();
    });
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.end(CLOSE.notText, 'text frames only');
      else void this.answer(String(data));
    });
    socket.on('pong', () => {
      this.answeredPing = true;
    });
    // ws closes the socket itself after an error, with the right code.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.gone.abort();
      this.arriving.release();
      this.session.close();
    });
  }

  ping(): void {
    if (this.answeredPing) this.socket.ping();
    else this.socket.terminate();
    this.answeredPing = false;
    // Pings of a socket at rest and the answers to them are no part of a message.
    this.arriving.release(KEEP_ALIVE_BYTES);
  }

  async leave(graceMs: number): Promise<void> {
    const closed = new Promise((resolve) => this.socket.on('close', resolve));
    this.leaving = true;
    const timer = setTimeout(() => this.end(CLOSE.goingAway, 'the node stops'), graceMs);
    if (this.running === 0) this.end(CLOSE.goingAway, 'the node stops');
    await closed;
    clearTimeout(timer);
  }

  private async answer(text: string): Promise<void> {
    if (this.leaving) return;
    const body = this.arriving;
    this.arriving = this.nextBody();
    this.runningBytes += text.length;
    if (++this.running >= MAX_RUNNING || this.runningBytes > this.maxBodyBytes) this.socket.pause();
    try {
      const written = writeReply(await this.reply(text));
      if (written !== '') this.send(written);
    } catch (error) {
      if (!this.gone.aborted) {
        this.send(writeReply({ body: failure(null, toRpcError(error)) }));
        this.end(CLOSE.failed, 'the node has failed');
      }
    }
    body.release();
    this.runningBytes -= text.length;
    if (--this.running < MAX_RUNNING && this.runningBytes <= this.maxBodyBytes) this.socket.resume();
    if (this.leaving && this.running === 0) this.end(CLOSE.goingAway, 'the node stops');
  }

  private async reply(text: string): Promise<Reply> {
    const began = performance.now();
    await new Promise<void>(onceAllRead);
    const read = readPayload(text);
    const reply =
      'refused' in read
        ? read.refused
        : await this.session.dispatch(read.payload, this.gone, this.onReply === undefined);
    this.onReply?.({ transport: 'websocket', layer: 'l2', began }, 'refused' in read ? undefined : read.payload, reply);
    return reply;
  }

  private send(text: string): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (this.socket.bufferedAmount > this.maxBufferedBytes) this.end(CLOSE.tooMuch, 'messages are not read');
    else this.socket.send(text);
  }

  /** Closes the socket. A client that does not answer the close frame is disconnected, and its waiting messages are dropped. */
  private end(code: number, reason: string): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.session.close();
    this.socket.resume();
    this.socket.close(code, reason);
    const cut = setTimeout(() => this.socket.terminate(), CLOSE_MS);
    this.socket.on('close', () => clearTimeout(cut));
  }
}
