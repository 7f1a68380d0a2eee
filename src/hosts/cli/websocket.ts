import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { failure, type Reply, readPayload, writeReply } from '../../rpc/envelope.js';
import { type AccessRule, DEFAULT_MAX_BODY_BYTES, refusal } from '../../rpc/http.js';
import { toRpcError } from '../../rpc/rpc-errors.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { PlumblineNode } from '../provider/node-handle.js';
import { type BodyBytes, clientOf, hasTwoHosts, type ReplyListener } from './connections.js';

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
export interface WebSocketEndpoint {
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
export function openWebSocketEndpoint(
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
  private readonly gone = new AbortController();
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
    setMaxListeners(0, this.gone.signal);
    this.session = node.openSession((params) => {
      this.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }));
    }, socket);
    this.arriving = nextBody();
    // Before ws reads them: they belong to the message that they complete.
    stream.prependListener('data', ({ length }: Buffer) => {
      if (this.gone.signal.aborted || this.arriving.mayTake(length)) return;
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
      if (!this.gone.signal.aborted) {
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
    const read = readPayload(text);
    const reply = 'refused' in read ? read.refused : await this.session.dispatch(read.payload, this.gone.signal);
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
