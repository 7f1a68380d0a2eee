import { expect, type Page, test } from '@playwright/test';
import type { RpcProxyOptions } from '../../src/hosts/proxy/register.js';
import { call, openProxyScene, type ProxyScene, post, register } from '../support/proxy-scene.js';
import type { SiteLibrary } from '../support/proxy-site.js';
import { stopWorkers } from '../support/stop-workers.js';

let scene: ProxyScene;
test.beforeEach(async () => {
  scene = await openProxyScene();
});
test.afterEach(() => scene.close());

/** Code and message of what registering throws. */
function refusal(page: Page, options: Partial<RpcProxyOptions>): Promise<string | undefined> {
  return page.evaluate(async (given) => {
    const { lib } = globalThis as unknown as { lib: SiteLibrary };
    try {
      await lib.plumbline.registerRpcProxy({ scriptUrl: '/service-worker.js', ...given });
      return undefined;
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code} ${message}`;
    }
  }, options);
}

test('a script that does not install is an error long before the timeout', async ({ context }) => {
  const page = await scene.openPage(context);
  scene.site.scripts.set('/lonely.js', "importScripts('/missing-beside-it.js');");
  scene.site.scripts.set(
    '/failing.js',
    "addEventListener('install', (e) => e.waitUntil(Promise.reject(new Error())));",
  );
  for (const scriptUrl of ['/lonely.js', '/failing.js']) {
    expect(await refusal(page, { scriptUrl, timeoutMs: 300_000 })).toMatch(/^WORKER_FAILED .*script/);
  }
  // Nothing is left of it, and what does install takes its place.
  await register(page, {});
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  expect(await refusal(page, { scriptUrl: '/failing.js', timeoutMs: 300_000 })).toMatch(/^WORKER_FAILED .*installed/);
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
});

test('the error names a script of other software, and options that cannot be sent', async ({ context }) => {
  const page = await scene.openPage(context);
  for (const [options, message] of [
    [{ scriptUrl: '/page.js', timeoutMs: 20_000 }, /^WORKER_FAILED .*answer/],
    [{ scriptUrl: undefined }, /^INVALID_PARAMETER scriptUrl/],
    [{ scriptUrl: 'http://[' }, /^INVALID_PARAMETER scriptUrl/],
    [{ scriptUrl: 'https://elsewhere.example/sw.js' }, /^WORKER_FAILED .*origin/],
    [{ urls: 'https://elsewhere.example/' }, /^INVALID_PARAMETER urls/],
    [{ chain: { kind: 'ligth' } }, /^INVALID_PARAMETER chain\.kind/],
  ] as const) {
    expect(await refusal(page, options as unknown as Partial<RpcProxyOptions>)).toMatch(message);
  }
  const provider = await page.evaluate(async () => {
    const { plumbline } = (globalThis as unknown as { lib: SiteLibrary }).lib;
    const worker = new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
    const endpoints = [{ provider: { request: async () => null } }];
    const chain = { kind: 'light', network: plumbline.linea, endpoints } as const;
    return plumbline.createNode({ worker, chain }).catch((error) => `${error.code} ${error.message}`);
  });
  expect(provider).toMatch(/^INVALID_PARAMETER options: .*no providers/);
});

test('a script that does not load is an error after the timeout', async ({ context }) => {
  const page = await scene.openPage(context);
  await page.evaluate(() => {
    navigator.serviceWorker.register = () => new Promise(() => {});
  });
  expect(await refusal(page, { timeoutMs: 200 })).toMatch(/^WORKER_FAILED .*within 200 ms/);
});

test('registering a wider scope fails on a page that a narrower scope controls', async ({ context }) => {
  const page = await scene.openPage(context, '/inner/page');
  await register(page, { scriptUrl: '/inner/service-worker.js', paths: ['/inner/rpc'], storeName: 'inner' });
  expect((await post(page, '/inner/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  expect(await refusal(page, { timeoutMs: 20_000, paths: ['/outer/rpc'] })).toMatch(/^WORKER_FAILED .*narrower scope/);
  // Each answers for its own pages.
  const outer = await scene.openPage(context, '/outer/page');
  await register(outer, { paths: ['/outer/rpc'], storeName: 'outer' });
  await post(outer, '/outer/rpc', call('evm_mine'));
  expect((await post(outer, '/outer/rpc', call('eth_blockNumber'))).json.result).toBe('0x1');
  expect((await post(page, '/inner/rpc', call('eth_blockNumber'))).json.result).toBe('0x0');
  expect(scene.site.posts).toEqual([]);
});

test('a script with another parameter named chain is not a registration of plumbline', async ({ context }) => {
  scene.site.scripts.set('/other.js', "addEventListener('fetch', () => {});");
  const page = await scene.openPage(context);
  const kept = await page.evaluate(async () => {
    await navigator.serviceWorker.register('/other.js?chain=mainnet');
    await navigator.serviceWorker.ready;
    await (globalThis as unknown as { lib: SiteLibrary }).lib.plumbline.unregisterRpcProxy();
    return (await navigator.serviceWorker.getRegistrations()).length;
  });
  expect(kept).toBe(1);
});

test('after unregistering and registering with another chain, the new chain answers', async ({ context }) => {
  const page = await scene.openPage(context);
  for (let round = 0; round < 2; round++) {
    await register(page, {});
    await post(page, '/rpc', call('evm_mine'));
    expect((await post(page, '/rpc', call('eth_blockNumber'))).json.result).toBe(`0x${round + 1}`);
    await register(page, await scene.lightOptions());
    expect(await post(page, scene.upstream.url, call('eth_blockNumber'))).toMatchObject({
      classes: 'proved',
      json: { result: '0x0' },
    });
    // No longer a path that is answered.
    const { length } = scene.site.posts;
    await page.evaluate(() => fetch('/rpc', { method: 'POST', body: '{}' }));
    expect(scene.site.posts).toHaveLength(length + 1);
    await page.evaluate(() => (globalThis as unknown as { proxy: { stop(): Promise<void> } }).proxy.stop());
    expect((await post(page, scene.upstream.url, call('eth_blockNumber'))).classes).toBe(null);
  }
});

test('streamed bodies, keepalive requests, credentials and beacons are answered', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, { urls: [scene.upstream.url] });
  const text = JSON.stringify(call('eth_chainId'));
  const answers = await page.evaluate(
    async ([url, body]) => {
      const result = async (init: RequestInit) =>
        (await (await fetch(url!, { method: 'POST', ...init })).json()).result;
      const stream = new Blob([body!]).stream();
      return [
        await result({ body: body!, keepalive: true }),
        await result({ body: body!, credentials: 'include' }),
        await result({ body: body!, credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer' }),
        await result({ body: stream, duplex: 'half' } as RequestInit),
        navigator.sendBeacon(url!, body!),
      ];
    },
    [scene.upstream.url, text],
  );
  const id = `0x${scene.dev.info.chainId.toString(16)}`;
  expect(answers).toEqual([id, id, id, id, true]);
  expect(scene.seenMethods()).toEqual([]);
});

test('controls a page after a forced reload, works inside another worker, and refuses invalid options', async ({
  context,
}) => {
  const page = await scene.openPage(context);
  scene.site.scripts.set(
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

  for (const options of [
    { paths: ['rpc'] },
    { paths: ['//elsewhere.example/rpc'] },
    { urls: ['ftp://elsewhere.example/secret-key'] },
    { urls: ['https://user:secret-key@elsewhere.example/'] },
    { urls: ['https://elsewhere.example/*/secret-key'] },
    { urls: [] },
    { fallback: 'yes' },
  ]) {
    const message = await refusal(page, { scriptUrl: '/own.js', ...options } as Partial<RpcProxyOptions>);
    expect(message).toMatch(/^INVALID_PARAMETER/);
    expect(message).not.toContain('secret');
  }
  expect(await refusal(page, { scriptUrl: '/missing.js' })).toMatch(/^WORKER_FAILED/);
  expect(await refusal(page, { scriptUrl: '/own.js', scope: '/elsewhere/' })).toMatch(/^WORKER_FAILED.*outside/);
});

test('listeners that another worker adds before importScripts get their requests, from the first on', async ({
  context,
}) => {
  const page = await scene.openPage(context);
  scene.site.scripts.set(
    '/queue.js',
    `addEventListener('fetch', (event) => {
       if (event.request.url.endsWith('/queue')) event.respondWith(new Response('queued'));
     });
     importScripts('/service-worker.js');`,
  );
  await register(page, { scriptUrl: '/queue.js' });
  for (let round = 0; round < 2; round++) {
    // Started by this very request, it has yet to read what it is to answer.
    await stopWorkers(context, page);
    expect(await page.evaluate(async () => (await fetch('/queue', { method: 'POST', body: '{}' })).text())).toBe(
      'queued',
    );
    expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  }
  expect(scene.site.posts).toEqual([]);
});

test('unregisterRpcProxy leaves service workers of other software registered', async ({ context }) => {
  scene.site.scripts.set('/other.js', "addEventListener('fetch', () => {});");
  const page = await scene.openPage(context);
  const kept = await page.evaluate(async () => {
    await navigator.serviceWorker.register('/other.js');
    await navigator.serviceWorker.ready;
    await (globalThis as unknown as { lib: SiteLibrary }).lib.plumbline.unregisterRpcProxy();
    return (await navigator.serviceWorker.getRegistrations()).map(
      ({ active }) => new URL(active?.scriptURL ?? '').pathname,
    );
  });
  expect(kept).toEqual(['/other.js']);
  // It is replaced by one that is registered for the same pages, as the browser has it.
  await register(page, {});
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toMatch(/^0x/);
});

test.describe('two pages with two chains on one store', () => {
  const OTHER = { chain: { kind: 'devnet', mining: 'manual', scheme: 'mimc' } } as const;
  const IN_USE =
    /^STORE_IN_USE the store is in use; use the same options or another storeName, because the node that writes to it has other options: mining, scheme$/;
  const blockNumber = async (page: Page, path = '/rpc') => (await post(page, path, call('eth_blockNumber'))).json;

  for (const [where, scopes] of [
    ['in one scope', [{}, {}]],
    [
      'in two scopes',
      [
        { scriptUrl: '/one/service-worker.js', path: '/one/rpc' },
        { scriptUrl: '/two/service-worker.js', path: '/two/rpc' },
      ],
    ],
  ] as const) {
    test(`both with a proxy, ${where}: the second is refused, and the first stays whole`, async ({ context }) => {
      const [own, others] = scopes;
      const [ownPath, path] = [own, others].map((one) => ('path' in one ? one.path : '/rpc')) as [string, string];
      const first = await scene.openPage(context, ownPath.replace('rpc', ''));
      const second = await scene.openPage(context, path.replace('rpc', ''));
      await register(first, own);
      await post(first, ownPath, call('evm_mine'));
      expect(await refusal(second, { ...others, ...OTHER })).toMatch(IN_USE);
      expect(await blockNumber(first, ownPath)).toMatchObject({ result: '0x1' });
      await stopWorkers(context, first);
      await post(first, ownPath, call('evm_mine'));
      expect(await blockNumber(first, ownPath)).toMatchObject({ result: '0x2' });
      // The same options, or another store, are no conflict.
      expect(await refusal(second, { ...others, ...OTHER, storeName: 'another' })).toBeUndefined();
      expect(await refusal(second, others)).toBeUndefined();
      await post(first, ownPath, call('evm_mine'));
      expect(await blockNumber(second, path)).toMatchObject({ result: '0x3' });
    });
  }

  test('the first has left: the second may take the store for its chain', async ({ context }) => {
    const first = await scene.openPage(context);
    await register(first, { storeName: 'left' });
    await first.close();
    const second = await scene.openPage(context);
    await expect.poll(() => refusal(second, { ...OTHER, storeName: 'left' })).toBeUndefined();
    await post(second, '/rpc', call('evm_mine'));
    expect(await blockNumber(second)).toMatchObject({ result: '0x1' });
  });

  test('the first with createNode, the second with a proxy', async ({ context }) => {
    const open = (page: Page, options: object) =>
      page.evaluate(async (given) => {
        const worker = new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
        const { lib } = globalThis as unknown as { lib: SiteLibrary };
        try {
          const node = await lib.plumbline.createNode({ ...given, storeName: 'both', worker });
          Object.assign(globalThis, { node });
          await node.request({ method: 'evm_mine' });
          return await node.request({ method: 'eth_blockNumber' });
        } catch (error) {
          const { code, message } = error as { code: string; message: string };
          return `${code} ${message}`;
        }
      }, options);
    const [first, second] = [await scene.openPage(context), await scene.openPage(context)];
    expect(await open(first, {})).toBe('0x1');
    await register(second, { ...OTHER, storeName: 'both' });
    const opened = second.evaluate(async () => {
      const { proxy } = globalThis as unknown as { proxy: { open(): Promise<unknown> } };
      return proxy.open().then(String, ({ code, message }) => `${code} ${message}`);
    });
    expect(await opened).toMatch(IN_USE);
    const { error } = await blockNumber(second);
    expect(error?.message).toBe('Internal error (the store is in use by a node with other options)');
    const mined = await first.evaluate(async () => {
      const { node } = globalThis as unknown as { node: { request(args: object): Promise<unknown> } };
      await node.request({ method: 'evm_mine' });
      return node.request({ method: 'eth_blockNumber' });
    });
    expect(mined).toBe('0x2');
  });
});
