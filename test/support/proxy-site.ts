import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { bundlePage } from './bundle-page.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The value of `globalThis.lib` in pages of the site. */
export interface SiteLibrary {
  readonly plumbline: typeof import('../../src/index.js');
  readonly viem: typeof import('viem');
  readonly viemLinea: typeof import('viem/linea');
}

/** A request that the site's server got. */
export interface SiteRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

/** A site on loopback. Its pages have the package and viem. It also serves the service worker and all of `/dist/`. */
export interface Site {
  readonly origin: string;
  /** All requests but GET. */
  readonly posts: readonly SiteRequest[];
  /** Appended to the service worker's script: changing it makes another version. */
  workerSuffix: string;
  /** More scripts, by path. */
  readonly scripts: Map<string, string>;
  /** More headers of answers, by path; `x-status` is the status. */
  readonly headers: Map<string, Readonly<Record<string, string>>>;
  /** Answers requests other than GET; 404 when left out. */
  onPost: ((request: SiteRequest, response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

export async function openSite(): Promise<Site> {
  bundled ??= bundleLibrary();
  const pageScript = await bundled;
  const worker = await workerFiles();
  const posts: SiteRequest[] = [];
  const site = {
    workerSuffix: '',
    onPost: undefined as Site['onPost'],
    scripts: new Map<string, string>(),
    headers: new Map<string, Readonly<Record<string, string>>>(),
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    if (request.method !== 'GET') {
      const seen = { method: request.method ?? '', path: request.url ?? '', body: Buffer.concat(chunks) };
      posts.push(seen);
      if (site.onPost !== undefined) return site.onPost(seen, response);
      return void response.writeHead(404).end('nobody');
    }
    const script = await scriptAt(pathname);
    response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
    response.setHeader('cache-control', 'no-store');
    for (const [name, value] of Object.entries(site.headers.get(pathname) ?? {})) response.setHeader(name, value);
    response.statusCode = Number(site.headers.get(pathname)?.['x-status'] ?? 200);
    response.end(script ?? '<!doctype html><title>site</title><script src="/page.js"></script>');
  }

  async function scriptAt(path: string): Promise<string | undefined> {
    if (path === '/page.js') return pageScript;
    if (path.startsWith('/dist/')) return readFile(root + path.slice(1), 'utf8');
    const file = worker.get(path.slice(path.lastIndexOf('/') + 1));
    if (file === undefined) return site.scripts.get(path);
    return path.endsWith('/service-worker.js') ? file + site.workerSuffix : file;
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(site, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

/** The service worker and the scripts it loads, by file name. */
async function workerFiles(): Promise<Map<string, string>> {
  const names = (await readdir(`${root}/dist`)).filter((name) => /^service-worker.*\.js$/.test(name));
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(`${root}/dist/${name}`, 'utf8')] as const)),
  );
}

/** The same for all sites of a process. */
let bundled: Promise<string> | undefined;

/** Package and viem in one classic script. */
function bundleLibrary(): Promise<string> {
  const code = `
    import * as plumbline from ${JSON.stringify(`${root}/dist/index.js`)};
    import * as viem from 'viem';
    import * as viemLinea from 'viem/linea';
    globalThis.lib = { plumbline, viem, viemLinea };`;
  return bundlePage(code, 'iife');
}
