import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, expect, test } from '@playwright/test';
import { bundlePage } from '../support/bundle-page.js';
import { openSite, type Site } from '../support/proxy-site.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TOKEN = '0x7e57c0de00000000000000000000000000007e57';

/** `globalThis.start(options)`: what a node made with them estimates, or the code it is refused with. A light node is one of Linea. */
const PAGE = `
  import { createNode, DEV_ACCOUNTS, linea } from '${root}/dist/index.js';
  globalThis.start = async (options) => {
    try {
      if (options.chain?.kind === 'light') options.chain.network = linea;
      const node = await createNode(options);
      const call = { from: DEV_ACCOUNTS[0].address, to: '${TOKEN}', data: '0x18160ddd' };
      const { baseFeePerGas } = await node.request({ method: 'linea_estimateGas', params: [call] });
      await node.close();
      return baseFeePerGas;
    } catch (error) {
      return error.code;
    }
  };`;

let site: Site;
test.beforeAll(async () => {
  site = await openSite();
  site.scripts.set('/app/page.js', await bundlePage(PAGE));
});
test.afterAll(() => site.close());

/** Starts a node on a page beside whose script some of the package's workers lie. @returns also which of them were fetched */
async function start(context: BrowserContext, workers: readonly string[], options: object = {}) {
  for (const name of ['worker', 'worker-devnet']) {
    const code = workers.includes(name) ? `import '/dist/hosts/worker/${name}.js';` : undefined;
    if (code === undefined) site.scripts.delete(`/app/${name}.js`);
    else site.scripts.set(`/app/${name}.js`, code);
  }
  const fetched: string[] = [];
  context.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/app/worker')) fetched.push(pathname);
  });
  const page = await context.newPage();
  await page.goto(site.origin);
  await page.addScriptTag({ url: '/app/page.js', type: 'module' });
  await page.waitForFunction('globalThis.start');
  const answer = await page.evaluate((given) => {
    return (globalThis as unknown as { start(options: object): Promise<unknown> }).start(given);
  }, options);
  return { answer, fetched };
}

test('a devnet is opened in worker-devnet.js', async ({ context }) => {
  const both = await start(context, ['worker', 'worker-devnet']);
  expect(both).toEqual({ answer: '0x7', fetched: ['/app/worker-devnet.js'] });
});

test('a devnet comes to its first estimate with what its worker fetches at once', async ({ context }) => {
  const chunks = new Set<string>();
  context.on('request', (request) => {
    const name = new URL(request.url()).pathname.match(/\/hosts\/chunks\/(.+)$/)?.[1];
    if (name !== undefined) chunks.add(name);
  });
  expect((await start(context, ['worker', 'worker-devnet'])).answer).toBe('0x7');
  const script = await readFile(`${root}/dist/hosts/worker/worker-devnet.js`, 'utf8');
  const atOnce = Array.from(script.matchAll(/chunks\/([^"]+)"/g), ([, name]) => name);
  expect([...chunks].sort()).toEqual(atOnce.sort());
});

test('a devnet is opened in worker.js if worker-devnet.js does not load', async ({ context }) => {
  const { answer, fetched } = await start(context, ['worker']);
  expect(answer).toBe('0x7');
  expect(fetched).toEqual(['/app/worker-devnet.js', '/app/worker.js']);
});

test('a devnet does not open without either worker', async ({ context }) => {
  expect((await start(context, [])).answer).toBe('WORKER_FAILED');
});

test('a devnet with invalid options is not tried again in the other worker; one with a store opens', async ({
  context,
}) => {
  // The page itself refuses options by their types; what a genesis file says is read in the worker.
  const chain = { kind: 'devnet', genesis: { config: { chainId: -1 } } };
  const { answer, fetched } = await start(context, ['worker', 'worker-devnet'], { chain });
  expect(answer).toBe('INVALID_PARAMETER');
  expect(fetched).toEqual(['/app/worker-devnet.js']);
  const stored = await start(context, ['worker', 'worker-devnet'], { storeName: 'worker-start' });
  expect(stored.answer).toBe('0x7');
});

test('other chains are opened in worker.js', async ({ context }) => {
  const { fetched } = await start(context, ['worker', 'worker-devnet'], {
    chain: { kind: 'light', endpoints: [site.origin] },
  });
  expect(fetched).toEqual(['/app/worker.js']);
});
