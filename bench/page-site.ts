import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rolldown } from 'rolldown';

/** Scripts of the pages, as tsc left them, and where a bundle of each is served: plumbline's beside its worker. */
const SCRIPTS = {
  'answer-page': '/dist/hosts/worker/',
  'plumbline-page': '/dist/hosts/worker/',
  'turns-page': '/dist/hosts/worker/',
  'viem-page': '/viem/',
  'vm-page': '/vm/',
  'vm-worker': '/vm/',
  'store-worker': '/store/',
} as const;
export type PageScript = keyof typeof SCRIPTS;

/** A busy loop that a worker of the page runs; `spin()` gives back its milliseconds. */
const SPIN_PAGE = `<!doctype html><script>
  const source = 'onmessage = () => { const s = performance.now(); let x = 0;' +
    'for (let i = 0; i < 1e8; i++) x = (x * 31 + i) | 0; postMessage(performance.now() - s + x * 0); };';
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  globalThis.spin = () => new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage(0);
  });
</script>`;

const pageOf = (script: string) => `<!doctype html><script type="module" src="${script}"></script>`;

const PAGES: Readonly<Record<string, string>> = {
  '/answer': pageOf('/dist/hosts/worker/answer-page.js'),
  '/plumbline': pageOf('/dist/hosts/worker/plumbline-page.js'),
  '/turns': pageOf('/dist/hosts/worker/turns-page.js'),
  '/viem': pageOf('/viem/viem-page.js'),
  '/vm': pageOf('/vm/vm-page.js'),
  '/spin': SPIN_PAGE,
  '/blank': '<!doctype html>',
};

export interface Site {
  readonly origin: string;
  close(): void;
}

/** Bundles the scripts as a bundler of a page would, and serves them beside the built package. */
export async function servePages(root: string, scripts: readonly PageScript[]): Promise<Site> {
  const folder = `${root}/build/pages`;
  await mkdir(folder, { recursive: true });
  for (const name of scripts) {
    const build = await rolldown({
      input: `${root}/build/tools/bench/pages/${name}.js`,
      platform: 'browser',
      logLevel: 'silent',
    });
    await build.write({ file: `${folder}/${name}.js`, format: 'esm', minify: true, codeSplitting: false });
    await build.close();
  }
  const files = new Map(scripts.map((name) => [`${SCRIPTS[name]}${name}.js`, `${folder}/${name}.js`]));
  const server = createServer(async ({ url = '/' }, response) => {
    const path = new URL(url, 'http://site').pathname;
    const page = PAGES[path];
    response.setHeader('cache-control', 'no-store');
    response.setHeader('content-type', page === undefined ? 'text/javascript' : 'text/html');
    if (page !== undefined) return void response.end(page);
    const file = files.get(path) ?? `${root}${path}`;
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
