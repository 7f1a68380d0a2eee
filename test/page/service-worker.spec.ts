import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../dist/hosts/inline.js';
import type { PlumblineNode } from '../../src/hosts/node-handle.js';
import type { RpcProxyOptions } from '../../src/hosts/register.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { openSite, type Site, type SiteLibrary } from '../support/proxy-site.js';
import { stopWorkers } from '../support/stop-workers.js';

const TOKEN = '0x7e57c0de00000000000000000000000000007e57';
type Options = Partial<RpcProxyOptions>;
interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

let dev: PlumblineNode;
let upstream: MockEndpoint;
let layerOne: MockEndpoint;
let site: Site;

test.beforeEach(async () => {
  // An endpoint of a chain that has more methods than a light node.
  dev = (await createInlineNode()) as unknown as PlumblineNode;
  const request = async (args: Parameters<PlumblineNode['request']>[0]) => {
    if (args.method === 'debug_echo') return args.params;
    return dev.request(args);
  };
  upstream = await serveMock({ ...dev, request } as PlumblineNode);
  layerOne = await serveMock(dev.l1);
  site = await openSite();
});
test.afterEach(async () => {
  await Promise.all([site.close(), upstream.close(), layerOne.close()]);
  await dev.close();
});

const transfer = (amount = '1') => ({
  from: DEV_ACCOUNTS[0],
  to: TOKEN,
  data: `0xa9059cbb${DEV_ACCOUNTS[1]!.slice(2).padStart(64, '0')}${amount.padStart(64, '0')}`,
});
const DEV_ACCOUNTS = ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'];

const seenMethods = () => upstream.seen.flat().map(({ method }) => method);

/** Options of a light node behind the very address that the page asks. */
async function lightOptions(): Promise<Options> {
  const { devnet } = await import('../../dist/networks/devnet.js');
  const chain = { kind: 'light', network: devnet(), endpoints: [upstream.url], layerOne: [layerOne.url] };
  return { urls: [upstream.url], chain } as unknown as Options;
}

async function openPage(context: BrowserContext, path = '/'): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.origin + path);
  return page;
}

async function register(page: Page, options: Options): Promise<void> {
  await page.evaluate(
    async (given) => {
      const { lib } = globalThis as unknown as { lib: SiteLibrary };
      const proxy = await lib.plumbline.registerRpcProxy(given);
      Object.assign(globalThis, { proxy });
    },
    { scriptUrl: '/service-worker.js', ...options },
  );
}

/** Posts JSON with a plain `fetch` of the page. */
function post<T = Answer>(
  page: Page,
  url: string,
  body: unknown,
): Promise<{ status: number; classes: string | null; json: T }> {
  return page.evaluate(
    async ([address, text]) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(address, { method: 'POST', headers, body: text });
      const json = JSON.parse((await response.text()) || 'null');
      return { status: response.status, classes: response.headers.get('plumbline-answers'), json };
    },
    [url, JSON.stringify(body)] as const,
  );
}

const call = (method: string, params: unknown[] = [], id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

/** As a dapp does with viem: an estimate, the chain id, and a method that no light node has. */
function askByViem(page: Page, url: string): Promise<{ gasLimit: string; chainId: number; echo: unknown }> {
  return page.evaluate(
    async ([address, request]) => {
      const { viem, viemLinea } = (globalThis as unknown as { lib: SiteLibrary }).lib;
      const client = viem.createPublicClient({ transport: viem.http(address) });
      const { from, to, data } = request as unknown as Record<'from' | 'to' | 'data', `0x${string}`>;
      const estimate = await viemLinea.estimateGas(client as never, { account: from, to, data } as never);
      const echo = await client.request({ method: 'debug_echo', params: ['a', 1] } as never);
      return { gasLimit: String(estimate.gasLimit), chainId: await client.getChainId(), echo };
    },
    [url, transfer()] as const,
  );
}

const expected = async () =>
  BigInt(
    ((await dev.request({ method: 'linea_estimateGas', params: [transfer()] })) as { gasLimit: string }).gasLimit,
  ).toString();

test('a page with viem and an unchanged address: estimates locally, forwards, outlives stops, in every tab', async ({
  context,
}) => {
  const origins = new Set<string>();
  context.on('request', (request) => origins.add(new URL(request.url()).origin));
  const page = await openPage(context);
  await register(page, await lightOptions());
  upstream.seen.length = 0;
  await post(page, upstream.url, call('linea_getProof', [TOKEN, [], 'latest']));
  const want = { gasLimit: await expected(), chainId: dev.info.chainId, echo: ['a', 1] };
  expect(await askByViem(page, upstream.url)).toEqual(want);
  expect(seenMethods()).toContain('debug_echo');
  expect(seenMethods()).toContain('eth_getProof');

  await stopWorkers(context, page);
  expect(await askByViem(page, upstream.url)).toEqual(want);
  // A tab that was never told anything of the proxy.
  const second = await openPage(context, '/second');
  await stopWorkers(context, page);
  expect(await askByViem(second, upstream.url)).toEqual(want);
  expect(await askByViem(page, upstream.url)).toEqual(want);

  expect(seenMethods().filter((method) => /estimateGas/i.test(method))).toEqual([]);
  const configured = [site.origin, new URL(upstream.url).origin, new URL(layerOne.url).origin];
  expect([...origins].sort()).toEqual(configured.sort());
});

test('a devnet on a path: 200 calls at once each with its id, and its blocks outlive stops', async ({ context }) => {
  const page = await openPage(context);
  await register(page, {});
  const answers = await page.evaluate(async () => {
    const calls = Array.from({ length: 200 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      ...(id % 2 === 0
        ? { method: 'web3_clientVersion', params: [] }
        : { method: 'eth_getStorageAt', params: [`0x${id.toString(16).padStart(40, '0')}`, '0x0', 'latest'] }),
    }));
    const one = async (body: object) => (await fetch('/rpc', { method: 'POST', body: JSON.stringify(body) })).json();
    return Promise.all(calls.map(one)) as Promise<{ id: number; result: string }[]>;
  });
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, id) => id));
  expect(answers.every(({ id, result }) => /plumbline/.test(result) === (id % 2 === 0))).toBe(true);

  for (let block = 1; block <= 3; block++) {
    await post(page, '/rpc', call('evm_mine'));
    await stopWorkers(context, page);
    expect((await post(page, '/rpc', call('eth_blockNumber'))).json.result).toBe(`0x${block}`);
  }
  expect((await post(page, '/rpc', call('linea_getProof', [TOKEN, ['0x2'], 'latest']))).json.result).toMatchObject({
    accountProof: { key: TOKEN },
    storageProofs: [{ key: `0x${'2'.padStart(64, '0')}` }],
  });
  expect((await post(page, '/rpc', call('linea_getProof', [TOKEN, [], '0x63']))).json.error?.code).toBe(-32600);
  expect(site.posts).toEqual([]);
  // Nobody answers behind the path, so the node's own error is the answer.
  expect((await post(page, '/rpc', call('nope'))).json.error).toMatchObject({ code: -32601 });
  expect(site.posts.map(({ path }) => path)).toEqual(['/rpc']);
});

test('batches are split and put together in order, each answer with its own id', async ({ context }) => {
  const page = await openPage(context);
  await register(page, { urls: [upstream.url] });
  upstream.seen.length = 0;
  const batch = [
    call('debug_echo', ['first'], 'x'),
    call('eth_chainId', [], 7),
    { jsonrpc: '2.0', method: 'debug_echo', params: ['told'] },
    'no request',
    call('debug_echo', ['second'], 7),
    call('debug_missing', [], null),
    { jsonrpc: '2.0', method: 'evm_mine', params: [] },
    call('eth_blockNumber', [], 'x'),
    call('eth_getBalance', ['no address', 'latest'], 8),
  ];
  const { json, classes, status } = await post<Answer[]>(page, upstream.url, batch);
  expect(status).toBe(200);
  expect(json).toEqual([
    { jsonrpc: '2.0', id: 'x', result: ['first'] },
    { jsonrpc: '2.0', id: 7, result: `0x${dev.info.chainId.toString(16)}` },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } },
    { jsonrpc: '2.0', id: 7, result: ['second'] },
    { jsonrpc: '2.0', id: null, error: { code: 4200, message: 'Method not found' } },
    { jsonrpc: '2.0', id: 'x', result: '0x1' },
    { jsonrpc: '2.0', id: 8, error: expect.objectContaining({ code: -32602 }) },
  ]);
  expect(classes).toBe('forwarded, held, error, forwarded, forwarded, held, error');
  expect(seenMethods()).toEqual(['debug_echo', 'debug_echo', 'debug_echo', 'debug_missing']);
  expect(upstream.seen).toHaveLength(1);

  expect(await post(page, upstream.url, [])).toMatchObject({ status: 400, json: { error: { code: -32600 } } });
  expect(await post(page, upstream.url, 'text')).toMatchObject({ status: 400, json: { error: { code: -32700 } } });
  const estimate = await post(page, upstream.url, call('linea_estimateGas', [transfer()]));
  expect(estimate).toMatchObject({ classes: 'computed', json: { result: { baseFeePerGas: '0x7' } } });
});

test('what an endpoint says is passed on only if it is an answer', async ({ context }) => {
  const page = await openPage(context);
  await register(page, { urls: [upstream.url] });
  const said = async (body: string, status = 200, headers = {}) => {
    upstream.options.intercept = (response) => {
      response.writeHead(status, headers).end(body);
      return true;
    };
    return (await post(page, upstream.url, call('debug_echo', [], 5))).json;
  };
  const internal = (detail: string) => ({
    jsonrpc: '2.0',
    id: 5,
    error: { code: -32603, message: `Internal error (${detail})` },
  });
  const none = internal('no endpoint gave a proper answer');
  expect(await said('<html>')).toEqual(none);
  expect(await said('{"jsonrpc":"2.0","id":1')).toEqual(none);
  expect(await said('{"jsonrpc":"2.0","id":9,"result":1}')).toEqual(none);
  expect(await said('{"jsonrpc":"2.0","id":null,"result":1}')).toEqual(none);
  expect(await said('{"jsonrpc":"2.0","id":1,"result":1,"more":2}')).toEqual({ jsonrpc: '2.0', id: 5, result: 1 });
  expect(await said('{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"slow down"}}', 429)).toEqual({
    jsonrpc: '2.0',
    id: 5,
    error: { code: -32005, message: 'slow down' },
  });
  const elsewhere = { location: `${site.origin}/elsewhere` };
  expect(await said('', 307, elsewhere)).toEqual(internal('no endpoint can be reached'));
  expect(site.posts).toEqual([]);
  await upstream.close();
  expect(await said('')).toEqual(internal('no endpoint can be reached'));
  upstream = await serveMock(dev);
});

test('a new version takes over, and no request under way is lost', async ({ context }) => {
  const page = await openPage(context);
  await register(page, { urls: [upstream.url] });
  await post(page, upstream.url, call('evm_mine'));
  upstream.options.latencyMs = 1_500;
  const slow = post(page, upstream.url, call('debug_echo', ['slow']));
  await expect.poll(() => upstream.seen.length).toBe(1);
  site.workerSuffix = '\n// another version';
  const states = await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const before = registration.active;
    const changed = new Promise<void>((resolve) => {
      navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
    });
    await registration.update();
    await changed;
    return [before?.state, registration.active === before, navigator.serviceWorker.controller === registration.active];
  });
  expect(states).toEqual(['redundant', false, true]);
  expect((await slow).json.result).toEqual(['slow']);
  expect((await post(page, upstream.url, call('eth_blockNumber'))).json.result).toBe('0x1');
  expect((await post(page, upstream.url, call('debug_echo', ['again']))).json.result).toEqual(['again']);
});

test('without a node there are errors, or the network if so told', async ({ context }) => {
  const page = await openPage(context);
  const light = (await lightOptions()) as { chain: object };
  const broken = {
    urls: [upstream.url],
    chain: { ...light.chain, level: 'linked', agreeing: 5 },
  } as unknown as Options;
  await register(page, broken);
  upstream.seen.length = 0;
  const { json } = await post<Answer[]>(page, upstream.url, [
    call('eth_chainId', [], 'a'),
    call('debug_echo', [1], 'b'),
  ]);
  expect(json).toMatchObject([
    { id: 'a', error: { code: -32602 } },
    { id: 'b', result: [1] },
  ]);
  expect(seenMethods()).toEqual(['debug_echo']);
  const failure = await page.evaluate(() =>
    (globalThis as unknown as { proxy: { open(): Promise<unknown> } }).proxy.open().catch((error) => error.code),
  );
  expect(failure).toBe('INVALID_PARAMETER');

  await register(page, { ...broken, fallback: 'network' });
  const other = await post(page, upstream.url, call('eth_chainId', [], 'c'));
  expect(other).toMatchObject({
    classes: 'forwarded',
    json: { id: 'c', result: `0x${dev.info.chainId.toString(16)}` },
  });

  // A node that is there and does not believe an endpoint is not passed over.
  await register(page, { ...(light as Options), fallback: 'network' });
  upstream.options.tamper = ({ method }, result) =>
    method === 'eth_getProof' ? { ...(result as object), balance: '0x1' } : result;
  const refused = await post(page, upstream.url, call('eth_getBalance', [TOKEN, 'latest'], 'd'));
  expect(refused).toMatchObject({ classes: 'error', json: { id: 'd', error: { code: -32603 } } });
});

test('switched off, requests go to the network', async ({ context }) => {
  site.onPost = (_, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'of the network' }));
  const page = await openPage(context);
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

test('keys are kept nowhere, and come back from the request or from a page', async ({ context }) => {
  const page = await openPage(context);
  const light = (await lightOptions()) as { chain: object };
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
  const bare = await openPage(context, '/bare');
  await page.close();
  await stopWorkers(context, bare);
  const waiting = balance(bare);
  const again = await openPage(context);
  await register(again, { paths: [path], chain: light.chain } as Options);
  expect(await waiting).toEqual(first);
  await again.close();
  await stopWorkers(context, bare);
  expect((await balance(bare)).error).toMatchObject({ code: -32603 });
});

test('everything that is not ours passes as it was', async ({ context }) => {
  const page = await openPage(context);
  await register(page, { paths: ['/v3/*'], forward: false });
  site.onPost = ({ body }, response) => response.end(body);
  for (const stopped of [false, true]) {
    if (stopped) await stopWorkers(context, page);
    const bytes = await page.evaluate(async () => {
      const body = Uint8Array.from({ length: 100_000 }, (_, i) => i * 7);
      const response = await fetch('/upload?v3=1', { method: 'POST', body });
      const back = new Uint8Array(await response.arrayBuffer());
      return back.length === body.length && back.every((byte, i) => byte === body[i]);
    });
    expect(bytes).toBe(true);
  }
  expect(site.posts.map(({ path }) => path)).toEqual(['/upload?v3=1', '/upload?v3=1']);
  site.onPost = undefined;
  expect((await post(page, '/v3/abc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  expect((await post(page, '/v3/abc', call('nope'))).json.error?.code).toBe(-32601);
  expect((await post(page, '/v3/abc', { jsonrpc: '2.0', method: 'eth_chainId' })).json).toBe(null);
  const options = await page.evaluate(async () => {
    const response = await fetch('/v3/abc', { method: 'OPTIONS' });
    return [response.status, response.headers.get('access-control-allow-methods')];
  });
  expect(options).toEqual([204, 'POST, GET, OPTIONS']);
  expect(site.posts).toHaveLength(2);
  for (const path of ['/v3/', '/v3/a/b', '/v4/abc']) {
    await page.evaluate((url) => fetch(url, { method: 'POST', body: '{}' }), path);
  }
  expect(site.posts.slice(2).map(({ path }) => path)).toEqual(['/v3/', '/v3/a/b', '/v4/abc']);
});

test('a page that was loaded past the worker, a worker of the page’s own, and options that are not sound', async ({
  context,
}) => {
  const page = await openPage(context);
  site.scripts.set(
    '/own.js',
    `importScripts('/service-worker.js');
     addEventListener('fetch', (event) => {
       if (event.request.url.endsWith('/of-the-worker')) event.respondWith(new Response('own'));
     });`,
  );
  await register(page, { scriptUrl: '/own.js' });
  const session = await context.newCDPSession(page);
  await session.send('Page.enable');
  const loaded = page.waitForEvent('load');
  await session.send('Page.reload', { ignoreCache: true });
  await loaded;
  expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBe(null);
  await register(page, { scriptUrl: '/own.js' });
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  expect(await page.evaluate(async () => (await fetch('/of-the-worker')).text())).toBe('own');

  const refusal = (options: object) =>
    page.evaluate(async (given) => {
      const { lib } = globalThis as unknown as { lib: SiteLibrary };
      try {
        await lib.plumbline.registerRpcProxy({ scriptUrl: '/own.js', ...given } as RpcProxyOptions);
        return undefined;
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        return `${code} ${message}`;
      }
    }, options);
  for (const options of [
    { paths: ['rpc'] },
    { paths: ['//elsewhere.example/rpc'] },
    { urls: ['ftp://elsewhere.example/secret-key'] },
    { urls: ['https://user:secret-key@elsewhere.example/'] },
    { urls: ['https://elsewhere.example/*/secret-key'] },
    { urls: [] },
    { fallback: 'yes' },
  ]) {
    const message = await refusal(options);
    expect(message).toMatch(/^INVALID_PARAMETER/);
    expect(message).not.toContain('secret');
  }
  expect(await refusal({ scriptUrl: '/missing.js' })).toMatch(/^WORKER_FAILED/);
  expect(await refusal({ scope: '/elsewhere/' })).toMatch(/^WORKER_FAILED.*outside/);
});

test('the worker shares its store with a node of a page: one chain, whoever ends', async ({ context }) => {
  const page = await openPage(context);
  await register(page, { storeName: 'both' });
  const number = async () => (await post(page, '/rpc', call('eth_blockNumber'))).json.result;
  await post(page, '/rpc', call('evm_mine'));
  const tab = await openPage(context);
  const askNode = (method: string) =>
    tab.evaluate((name) => {
      const { node } = globalThis as unknown as { node: PlumblineNode };
      return node.request({ method: name, params: [] });
    }, method);
  await tab.evaluate(async () => {
    const worker = new Worker('/dist/hosts/worker.js', { type: 'module' });
    const { lib } = globalThis as unknown as { lib: SiteLibrary };
    Object.assign(globalThis, { node: await lib.plumbline.createNode({ storeName: 'both', worker }) });
  });
  expect(await askNode('eth_blockNumber')).toBe('0x1');
  await askNode('evm_mine');
  expect(await number()).toBe('0x2');
  await post(page, '/rpc', call('evm_mine'));
  expect(await askNode('eth_blockNumber')).toBe('0x3');
  await stopWorkers(context, page);
  await askNode('evm_mine');
  expect(await number()).toBe('0x4');
  // The writer goes without a word.
  await tab.close();
  await post(page, '/rpc', call('evm_mine'));
  expect(await number()).toBe('0x5');
  await stopWorkers(context, page);
  expect(await number()).toBe('0x5');
});
