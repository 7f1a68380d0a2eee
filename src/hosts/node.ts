/** Door `plumbline/node`: the fetch handler of a node behind Node's HTTP server. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve as serveFetch } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import type { PlumblineNode } from './node-handle.js';

export { createInlineNode, type InlineOptions } from './inline.js';

export interface ServeOptions {
  /** 0 takes a free one. Default 8545. */
  readonly port?: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Directory of a built page to serve under `/demo/`. */
  readonly demoDirectory?: string;
}

export interface RunningServer {
  readonly port: number;
  readonly host: string;
  close(): Promise<void>;
}

/**
 * Serves JSON-RPC on `POST /` and `POST /v3/<anything>`, the simulated layer 1 on `POST /l1`.
 *
 * @throws the system's error when the address cannot be listened on
 */
export async function serve(node: PlumblineNode, options: ServeOptions = {}): Promise<RunningServer> {
  const app = new Hono();
  if (options.demoDirectory !== undefined) {
    const root = options.demoDirectory;
    app.get('/demo', (context) => context.redirect('/demo/'));
    app.get('/demo/*', serveStatic({ root, rewriteRequestPath: (path) => path.replace(/^\/demo/, '') }));
  }
  app.all('/l1', (context) => node.handleL1(context.req.raw));
  app.all('/', (context) => node.handle(context.req.raw));
  app.all('/v3/*', (context) => node.handle(context.req.raw));

  const host = options.host ?? '127.0.0.1';
  const server = serveFetch({ fetch: app.fetch, port: options.port ?? 8545, hostname: host });
  // `once` rejects when `error` comes first, such as for an address in use.
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    host,
    async close() {
      const closed = once(server, 'close');
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}
