import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { chromium, type Frame } from 'playwright';
import { type BenchArea, buildLibrary, type Figure, median } from './area.js';

type Browser = typeof import('../scripts/lib/browser.mjs');

const ROUNDS = 60;
/** How often the workers are stopped. */
const STARTS = 7;
/** Calls timed together: a page's clock ticks every 0.1 ms. */
const CALLS = 10;

const EMPTY_WORKER = `
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (event.request.method === 'POST') event.respondWith(new Response('{"jsonrpc":"2.0","id":1,"result":"0x1"}'));
});`;

const PAGES: Readonly<Record<string, string>> = {
  '/': '<iframe src="/proxy/"></iframe><iframe src="/empty/"></iframe>',
  '/proxy/': `<script type="module">
    import { registerRpcProxy } from '/dist/hosts/proxy/register.js';
    const proxy = await registerRpcProxy({ scriptUrl: './service-worker.js', path: '/rpc' });
    await proxy.open();
    globalThis.ready = true;</script>`,
  '/empty/': `<script type="module">
    const controlled = new Promise((resolve) => { navigator.serviceWorker.oncontrollerchange = resolve; });
    await navigator.serviceWorker.register('./empty-worker.js');
    await controlled;
    globalThis.ready = true;</script>`,
};

/** The package as it is built, and the two pages. */
async function serveSite(root: string): Promise<{ origin: string; close(): void }> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://site').pathname;
    const isScript = path.endsWith('.js');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    if (path === '/empty/empty-worker.js') return void response.end(EMPTY_WORKER);
    if (!isScript) return void response.end(PAGES[path] ?? '');
    const file = `${root}/dist/${path.replace(/^\/(?:dist|proxy)\//, '')}`;
    response.end(await readFile(file).catch(() => void response.writeHead(404)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Milliseconds of one call of the frame, on average over `calls`. */
function timeCalls(frame: Frame, calls = CALLS): Promise<number> {
  return frame.evaluate(async (count) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
    const headers = { 'content-type': 'application/json' };
    const started = performance.now();
    for (let i = 0; i < count; i++) {
      const answer = (await (await fetch('/rpc', { method: 'POST', headers, body })).json()) as { result?: string };
      if (answer.result === undefined) throw new Error('not answered');
    }
    return (performance.now() - started) / count;
  }, calls);
}

export const proxying: BenchArea = {
  name: 'proxy',
  question: 'What does a locally answered call cost a page beside a fetch that an empty service worker answers?',
  async run(): Promise<Figure[]> {
    const root = process.cwd();
    const tools = (await import(pathToFileURL(`${root}/scripts/lib/browser.mjs`).href)) as Browser;
    const executablePath = await tools.findBrowser();
    if (executablePath === undefined || !existsSync(executablePath)) {
      console.warn('  no Chromium was found (set CHROMIUM_PATH): nothing was measured');
      return [];
    }
    await buildLibrary();
    const site = await serveSite(root);
    const browser = await chromium.launch({ executablePath, args: tools.BROWSER_ARGS });
    try {
      const page = await browser.newPage();
      await page.goto(site.origin);
      const frames = page.frames().slice(1);
      for (const frame of frames) await frame.waitForFunction('globalThis.ready === true');
      const [proxy, empty] = ['/proxy/', '/empty/'].map((path) => frames.find((frame) => frame.url().endsWith(path))!);
      const times = { proxy: [] as number[], empty: [] as number[] };
      for (let round = -ROUNDS / 4; round < ROUNDS; round++) {
        const [answered, bare] = [await timeCalls(proxy!), await timeCalls(empty!)];
        if (round < 0) continue;
        times.proxy.push(answered);
        times.empty.push(bare);
      }
      const session = await page.context().newCDPSession(page);
      await session.send('ServiceWorker.enable');
      const starts = { proxy: [] as number[], empty: [] as number[] };
      for (let round = 0; round < STARTS; round++) {
        await session.send('ServiceWorker.stopAllWorkers');
        starts.proxy.push(await timeCalls(proxy!, 1));
        starts.empty.push(await timeCalls(empty!, 1));
      }
      return [
        { name: 'fetch answered by an empty service worker', value: median(times.empty), unit: 'ms' },
        { name: 'eth_chainId answered by the proxy', value: median(times.proxy), unit: 'ms' },
        {
          name: 'what the proxy adds',
          value: median(times.proxy.map((time, round) => time - times.empty[round]!)),
          unit: 'ms',
          bar: { atMost: 2 },
          note: `median of ${ROUNDS} pairs, ${CALLS} calls each`,
        },
        { name: 'the same by an empty worker that was stopped', value: median(starts.empty), unit: 'ms' },
        { name: 'by the proxy that was stopped, its devnet opened again', value: median(starts.proxy), unit: 'ms' },
      ];
    } finally {
      await browser.close();
      site.close();
    }
  },
};
