import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright';
import { bundlePage } from './bundle-page.js';
import type { TabsPage } from './tabs-page.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const TABS_PAGE = fileURLToPath(new URL('./tabs-page.ts', import.meta.url));
const PAGE = '<!doctype html><title>tabs</title><link rel=icon href=data:,><script type=module src=/page.js></script>';

/** Reports each completed transaction: the blocks it stored, and the writer record it read. */
const WATCHING = `
  const told = new BroadcastChannel('writes');
  const notes = new WeakMap();
  const note = ({ transaction }) => {
    if (transaction.mode !== 'readwrite') return {};
    let held = notes.get(transaction);
    if (held === undefined) {
      held = { puts: 0, blocks: [], isClaim: false };
      notes.set(transaction, held);
      transaction.addEventListener('complete', () => told.postMessage(held));
    }
    return held;
  };
  const { get, put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.get = function (key) {
    const request = get.call(this, key);
    const held = note(this);
    if (this.name === 'meta' && key === 'writer') {
      request.addEventListener('success', () => {
        held.writer = request.result === undefined ? null : JSON.parse(new TextDecoder().decode(request.result));
      });
    }
    return request;
  };
  IDBObjectStore.prototype.put = function (value, key) {
    const held = note(this);
    held.puts++;
    if (this.name === 'blocks' && typeof key === 'number') held.blocks.push(key);
    if (this.name === 'meta' && key === 'writer') held.isClaim = true;
    return put.call(this, value, key);
  };`;

/** Workers with changed globals, by path. */
const WORKERS = new Map([
  ['/worker-watched.js', WATCHING],
  ['/worker-without-locks.js', "Object.defineProperty(navigator, 'locks', { value: undefined });"],
  [
    '/worker-insecure-locks.js',
    "Object.defineProperty(navigator, 'locks', { get: () => { throw new DOMException('insecure', 'SecurityError'); } });",
  ],
  [
    '/worker-refused-locks.js',
    "LockManager.prototype.request = () => Promise.reject(new DOMException('refused', 'SecurityError'));",
  ],
  [
    '/worker-that-hangs.js',
    `addEventListener('message', ({ data }) => {
      const end = performance.now() + (data.hangMs ?? 0);
      while (performance.now() < end);
    });`,
  ],
]);

/** A server with the built package and a page that runs `tabs-page.ts`. */
export interface TabsSite {
  readonly url: string;
  close(): Promise<void>;
}

export async function openTabsSite(): Promise<TabsSite> {
  const scripts = new Map([['/page.js', await bundlePage(`import '${TABS_PAGE}';`)]]);
  for (const [path, code] of WORKERS) scripts.set(path, `${code}\nawait import('/dist/hosts/worker/worker.js');`);
  const server = createServer(async ({ url = '/' }, response) => {
    const path = normalize(new URL(url, 'http://site').pathname);
    try {
      const body = scripts.get(path) ?? (path === '/' ? PAGE : await readFile(join(root, path)));
      response.writeHead(200, { 'content-type': path === '/' ? 'text/html' : 'text/javascript' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A page of the site, and calls of its script. */
export class SitePage {
  private constructor(readonly page: Page) {}

  static async open(context: BrowserContext, { url }: TabsSite): Promise<SitePage> {
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForFunction(() => 'tabs' in globalThis);
    return new SitePage(page);
  }

  call<Name extends keyof TabsPage>(
    name: Name,
    ...args: Parameters<TabsPage[Name]>
  ): Promise<Awaited<ReturnType<TabsPage[Name]>>> {
    return this.page.evaluate(
      ([method, list]) => {
        const work = globalThis.tabs[method as keyof TabsPage] as (...values: unknown[]) => unknown;
        return work(...(list as unknown[])) as never;
      },
      [name as string, args as unknown] as const,
    );
  }

  ask<Answer = unknown>(method: string, ...params: unknown[]): Promise<Answer> {
    return this.call('ask', method, params) as Promise<Answer>;
  }
}
