import { expect, type Page, test } from '@playwright/test';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import {
  call,
  type Options,
  openProxyScene,
  type ProxyScene,
  post,
  register,
  TOKEN,
  update,
} from '../support/proxy-scene.js';
import type { SiteLibrary } from '../support/proxy-site.js';
import { seededRandom } from '../support/random.js';
import { stopWorkers } from '../support/stop-workers.js';

let scene: ProxyScene;
test.beforeEach(async () => {
  scene = await openProxyScene();
});
test.afterEach(() => scene.close());

test('a new version takes over, and no request under way is lost', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, { urls: [scene.upstream.url] });
  await post(page, scene.upstream.url, call('evm_mine'));
  scene.upstream.options.latencyMs = 1_500;
  const slow = post(page, scene.upstream.url, call('debug_echo', ['slow']));
  await expect.poll(() => scene.upstream.seen.length).toBe(1);
  expect(await update(page, scene.site, '\n// another version')).toEqual({
    before: 'redundant',
    isNew: true,
    controls: true,
  });
  expect((await slow).json.result).toEqual(['slow']);
  expect((await post(page, scene.upstream.url, call('eth_blockNumber'))).json.result).toBe('0x1');
  expect((await post(page, scene.upstream.url, call('debug_echo', ['again']))).json.result).toEqual(['again']);
});

test('a batch under way when the browser stops the worker is answered completely and in order', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, { urls: [scene.upstream.url] });
  await post(page, scene.upstream.url, call('eth_chainId'));
  scene.upstream.options.latencyMs = 400;
  for (const [round, waitMs] of [20, 150, 350].entries()) {
    const batch = Array.from({ length: 60 }, (_, i) => {
      return i % 3 === 0 ? call('debug_echo', [i], i) : call('eth_getBlockByNumber', ['latest', false], `s${i}`);
    });
    const answered = post<{ id: unknown; result?: unknown }[]>(page, scene.upstream.url, batch);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await stopWorkers(context, page);
    const { json } = await answered;
    expect(json.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
    const unanswered = json.filter(({ result }) => result === undefined);
    expect(unanswered, `round ${round}`).toEqual([]);
  }
});

test('after unregisterRpcProxy, requests go to the network', async ({ context }) => {
  scene.site.onPost = (_, response) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'of the network' }));
  const page = await scene.openPage(context);
  await register(page, {});
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  await page.evaluate(() => (globalThis as unknown as { lib: SiteLibrary }).lib.plumbline.unregisterRpcProxy());
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toBe('of the network');
  const kept = await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
  expect(kept).toBe(0);
  // On again, and off with the worker left in place.
  await page.reload();
  await register(page, {});
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  await page.evaluate(() =>
    (globalThis as unknown as { proxy: { stop(options: object): Promise<void> } }).proxy.stop({
      keepRegistration: true,
    }),
  );
  await stopWorkers(context, page);
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toBe('of the network');
});

test('keys are not stored, and come from the request or from a page after a restart', async ({ context }) => {
  const page = await scene.openPage(context);
  const light = (await scene.lightOptions()) as { chain: object };
  // The address that the page asks is another than the endpoint's: only pages can give that back.
  const path = '/v3/fedcba9876543210fedcba9876543210';
  await register(page, { paths: [path], chain: light.chain } as Options);
  const balance = async (at: Page) => (await post(at, path, call('eth_getBalance', [TOKEN, 'latest']))).json;
  const first = await balance(page);
  expect(first.result).toBe('0x0');
  const everything = await page.evaluate(async () => {
    const texts = [(await navigator.serviceWorker.ready).active?.scriptURL, ...(await caches.keys())];
    const promised = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    for (const { name } of await indexedDB.databases()) {
      const database = await promised(indexedDB.open(name!));
      for (const table of database.objectStoreNames) {
        const store = database.transaction(table).objectStore(table);
        const [keys, values] = await Promise.all([promised(store.getAllKeys()), promised(store.getAll())]);
        const text = (_: string, value: unknown) => {
          if (typeof value === 'bigint') return String(value);
          return value instanceof Uint8Array ? new TextDecoder('latin1').decode(value) : value;
        };
        texts.push(name, table, JSON.stringify([keys, values], text));
      }
      database.close();
    }
    return texts.join('\n');
  });
  expect(everything).toContain('plumbline-rpc-proxy');
  expect(everything).not.toMatch(/0123456789abcdef0123456789abcdef|fedcba98/);

  await stopWorkers(context, page);
  expect(await balance(page)).toEqual(first);
  // A page that knows no keys, alone after a stop: an error. The proxy goes on as soon as a page that does comes.
  const bare = await scene.openPage(context, '/bare');
  await page.close();
  await stopWorkers(context, bare);
  const waiting = balance(bare);
  const again = await scene.openPage(context);
  await register(again, { paths: [path], chain: light.chain } as Options);
  expect(await waiting).toEqual(first);
  await again.close();
  await stopWorkers(context, bare);
  expect((await balance(bare)).error).toMatchObject({ code: -32603 });
});

test('the worker shares its store with the node of a page: one chain, whichever ends', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, { storeName: 'both' });
  const number = async () => (await post(page, '/rpc', call('eth_blockNumber'))).json.result;
  expect((await post(page, '/rpc', call('evm_mine'))).relayed).toBe(null);
  const tab = await scene.openPage(context);
  const askNode = (method: string) =>
    tab.evaluate((name) => {
      const { node } = globalThis as unknown as { node: PlumblineNode };
      return node.request<UntypedMethod>({ method: name, params: [] });
    }, method);
  await tab.evaluate(async () => {
    const worker = new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
    const { lib } = globalThis as unknown as { lib: SiteLibrary };
    Object.assign(globalThis, { node: await lib.plumbline.createNode({ storeName: 'both', worker }) });
  });
  expect(await askNode('eth_blockNumber')).toBe('0x1');
  await askNode('evm_mine');
  expect(await number()).toBe('0x2');
  // The node of the page writes now, and answers for the worker.
  expect((await post(page, '/rpc', call('eth_blockNumber'))).relayed).toBe('true');
  await post(page, '/rpc', call('evm_mine'));
  expect(await askNode('eth_blockNumber')).toBe('0x3');
  await stopWorkers(context, page);
  await askNode('evm_mine');
  expect(await number()).toBe('0x4');
  // The writer ends without a message. Whether a request that reached it as it ended was carried out is unknown, and the error says so.
  await tab.close();
  const { json } = await post<{ error?: { message: string } }>(page, '/rpc', call('evm_mine'));
  const head = Number(await number());
  if (json.error === undefined) expect(head).toBe(5);
  else expect(json.error.message).toContain('the outcome of evm_mine is unknown');
  expect([4, 5]).toContain(head);
  await post(page, '/rpc', call('evm_mine'));
  expect(Number(await number())).toBe(head + 1);
  await stopWorkers(context, page);
  expect(Number(await number())).toBe(head + 1);
});

test('stopped at any moment: answered transactions are stored, the others fail, no request hangs', async ({
  context,
}) => {
  const pages = [await scene.openPage(context), await scene.openPage(context)];
  // Both at once, as two restored tabs do.
  await Promise.all(pages.map((page) => register(page, {})));
  const [page, other] = [pages[0]!, pages[1]!];
  const random = seededRandom(11);
  let answered = 0;
  for (let round = 0; round < 12; round++) {
    const mined = pages.map((at) =>
      at.evaluate(async () => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] });
        const one = async () => (await (await fetch('/rpc', { method: 'POST', body })).json()).result === '0x0';
        const settled = await Promise.allSettled(Array.from({ length: 5 }, one));
        return settled.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, random(400)));
    await stopWorkers(context, page);
    answered += (await Promise.all(mined)).reduce((sum, count) => sum + count, 0);
  }
  const head = Number((await post(other, '/rpc', call('eth_blockNumber'))).json.result);
  expect(answered).toBeGreaterThan(0);
  expect(head).toBeGreaterThanOrEqual(answered);
  // 120 were sent. Chromium hands a request to the worker once more, and only once, when the worker ends before it answers.
  expect(head).toBeLessThanOrEqual(2 * 120);
  const batch = Array.from({ length: head + 1 }, (_, i) =>
    call('eth_getBlockByNumber', [`0x${i.toString(16)}`, false], i),
  );
  const { json } = await post<{ result: { hash: string; parentHash: string } }[]>(page, '/rpc', batch);
  for (const [i, { result }] of json.entries()) if (i > 0) expect(result.parentHash).toBe(json[i - 1]!.result.hash);
  expect(scene.site.posts).toEqual([]);
});
