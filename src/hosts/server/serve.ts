/**
 * Entry point `plumbline-l2/node`: a node behind Node's HTTP server, with WebSockets on the same port.
 *
 * @module plumbline-l2/node
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { type Context, Hono } from 'hono';
import { refusal } from '../../rpc/http/http.js';
import type { PlumblineNode } from '../provider/node-handle.js';
import { followConnections } from './connections.js';
import { openWebSocketEndpoint, type WebSocketOptions } from './websocket.js';

export { createInlineNode, type InlineOptions } from '../opening/inline.js';
export type { WebSocketOptions } from './websocket.js';

const DEFAULT_MAX_CONNECTIONS = 1024;
const DEFAULT_GRACE_MS = 5_000;

/** Where and how a node is served. */
export interface ServeOptions {
  /** Port to listen on; 0 for any free port. Default 8545. */
  readonly port?: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Directory of a built page to serve under `/demo/`. */
  readonly demoDirectory?: string;
  /** Most connections open at a time, including WebSockets. Further connections are closed at once. Default 1024. */
  readonly maxConnections?: number;
  readonly webSocket?: WebSocketOptions;
}

/** A server that listens. */
export interface RunningServer {
  readonly port: number;
  readonly host: string;
  /** Stops listening, answers requests under way, and closes every connection. The node stays open. */
  close(options?: { /** How long to wait for answers, ms. Default 5 000. */ readonly graceMs?: number }): Promise<void>;
}

/**
 * Serves JSON-RPC on `POST /` and `POST /v3/<anything>` and over WebSocket on the same paths, the simulated layer 1 on
 * `POST /l1`, and health on `GET /liveness`.
 *
 * @throws the system's error when it cannot listen on the address
 */
export async function serve(node: PlumblineNode, options: ServeOptions = {}): Promise<RunningServer> {
  const app = new Hono();
  if (options.demoDirectory !== undefined) {
    const root = options.demoDirectory;
    app.get('/demo', (context) => context.redirect('/demo/'));
    app.get('/demo/*', serveStatic({ root, rewriteRequestPath: (path) => path.replace(/^\/demo/, '') }));
  }
  app.get('/liveness', (context) => liveness(node, context));
  app.all('/l1', (context) => node.handleL1(context.req.raw));
  app.all('/', (context) => node.handle(context.req.raw));
  app.all('/v3/*', (context) => node.handle(context.req.raw));

  const host = options.host ?? '127.0.0.1';
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
  const sockets = openWebSocketEndpoint(node, options.webSocket);
  const connections = followConnections(server);
  server.on('upgrade', (request, socket, head) => {
    connections.release(request.socket);
    sockets.upgrade(request, socket, head);
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

/** 200 with the block number of the head if the node answers, 503 if it does not. */
async function liveness(node: PlumblineNode, { req }: Context): Promise<Response> {
  const refused = refusal(req.raw, node.http);
  if (refused !== undefined) return refused;
  try {
    const head = Number(await node.request({ method: 'eth_blockNumber' }));
    return Response.json({ status: 'UP', head });
  } catch {
    return Response.json({ status: 'DOWN' }, { status: 503 });
  }
}
