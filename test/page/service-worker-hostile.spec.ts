import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect, type Frame, type Page, test } from '@playwright/test';
import { type Answer, call, openProxyScene, type ProxyScene, post, register, TOKEN } from '../support/proxy-scene.js';
import { openSite, type Site } from '../support/proxy-site.js';
import { stopWorkers } from '../support/stop-workers.js';

let scene: ProxyScene;
let foreign: Site;
test.beforeEach(async () => {
  scene = await openProxyScene();
  foreign = await openSite();
});
test.afterEach(() => Promise.all([scene.close(), foreign.close()]));

/** Another site than 127.0.0.1 to a browser. */
const foreignUrl = () => foreign.origin.replace('127.0.0.1', 'localhost');

/** Adds an iframe to a page and waits for it. */
async function addFrame(page: Page, attributes: Record<string, string>): Promise<Frame> {
  const element = await page.evaluateHandle(
    (given) =>
      new Promise<HTMLIFrameElement>((resolve) => {
        const frame = document.createElement('iframe');
        for (const [name, value] of Object.entries(given)) frame.setAttribute(name, value);
        frame.addEventListener('load', () => resolve(frame));
        document.documentElement.append(frame);
      }),
    attributes,
  );
  return (await element.contentFrame())!;
}

/** Asks a path of the site to mine a block, in two modes. @returns what was answered, where the asker may read it */
const mineFrom = (at: Page | Frame, url: string) =>
  at.evaluate(
    async ([address, body]) => {
      const texts: (string | undefined)[] = [];
      for (const mode of ['cors', 'no-cors'] as const) {
        const response = await fetch(address, { method: 'POST', mode, body }).catch(() => undefined);
        texts.push(await response?.text());
      }
      return texts;
    },
    [url, JSON.stringify(call('evm_mine'))] as const,
  );

test('the node is not reached by other sites, their iframes in our page, sandboxed iframes or our iframes in their pages', async ({
  context,
}) => {
  scene.site.onPost = (_, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.end('network');
  };
  const page = await scene.openPage(context);
  const url = `${scene.site.origin}/rpc`;
  await register(page, { paths: ['/rpc'], urls: [scene.upstream.url] });
  expect((await post(page, url, call('eth_blockNumber'))).json.result).toBe('0x0');

  const theirPage = await context.newPage();
  await theirPage.goto(foreignUrl());
  expect(await mineFrom(theirPage, url)).toEqual(['network', '']);
  const theirFrame = await addFrame(page, { src: foreignUrl() });
  expect(await mineFrom(theirFrame, url)).toEqual(['network', '']);
  const sandboxed = await addFrame(page, { sandbox: 'allow-scripts', srcdoc: '<title>sandboxed</title>' });
  expect(await mineFrom(sandboxed, url)).toEqual(['network', '']);
  // The storage of a site, and so its workers, are others where another site is on top.
  const ours = await addFrame(theirPage, { src: scene.site.origin });
  expect(await ours.evaluate(() => navigator.serviceWorker.controller)).toBe(null);
  expect(await mineFrom(ours, url)).toEqual(['network', 'network']);
  expect(scene.site.posts.map(({ path }) => path)).toEqual(Array.from({ length: 8 }, () => '/rpc'));

  // The endpoint's URL is answered by the endpoint for them: it has no blocks of the node's either.
  scene.upstream.seen.length = 0;
  expect((await post(theirFrame as unknown as Page, scene.upstream.url, call('eth_blockNumber'))).classes).toBe(null);
  expect(scene.seenMethods()).toEqual(['eth_blockNumber']);
  expect((await post(page, url, call('eth_blockNumber'))).json.result).toBe('0x0');
});

test('messages of foreign frames neither stop the proxy nor get its configuration', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, await scene.lightOptions());
  const frame = await addFrame(page, { src: foreignUrl() });
  // The page answers on the same port after plumbline has had its turn, so a configuration would come first.
  await page.evaluate(() => addEventListener('message', ({ ports }) => setTimeout(() => ports[0]?.postMessage('end'))));
  for (const message of [{ plumblineProxy: 'config?' }, { plumblineProxy: 'stop' }]) {
    const first = await frame.evaluate(
      (data) =>
        new Promise<unknown>((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = (event) => resolve(event.data);
          parent.postMessage(data, '*', [port2]);
        }),
      message,
    );
    expect(first).toBe('end');
  }
  const balance = await post(page, scene.upstream.url, call('eth_getBalance', [TOKEN, 'latest']));
  expect(balance.json.result).toBe('0x0');
});

test('opaque requests, those with unusual modes and endless bodies are answered, and nothing but forwards leaves', async ({
  context,
}) => {
  const page = await scene.openPage(context);
  await register(page, { paths: ['/rpc'], urls: [scene.upstream.url] });
  scene.upstream.seen.length = 0;
  const chainId = JSON.stringify(call('eth_chainId'));
  const modes = await page.evaluate(
    async ([url, body, echo]) => {
      const text = async (address: string, init: RequestInit) => {
        return (await fetch(address, { method: 'POST', body: body!, ...init })).json() as Promise<{ result: unknown }>;
      };
      const answers = [
        await text(url!, { mode: 'no-cors' }),
        await text(url!, { mode: 'no-cors', credentials: 'include', referrerPolicy: 'unsafe-url' }),
        await text('/rpc', { mode: 'same-origin', cache: 'only-if-cached' }),
        await text('/rpc', { redirect: 'error', cache: 'force-cache', priority: 'high' }),
        await text(url!, { mode: 'no-cors', body: echo! }),
      ];
      return answers.map(({ result }) => result);
    },
    [scene.upstream.url, chainId, JSON.stringify(call('debug_echo', ['opaque']))],
  );
  const id = `0x${scene.dev.info.chainId.toString(16)}`;
  expect(modes).toEqual([id, id, id, id, ['opaque']]);
  expect(scene.seenMethods()).toEqual(['debug_echo']);

  const streams = await page.evaluate(async () => {
    let given = 0;
    let cancelled = false;
    const endless = new ReadableStream({
      pull(controller) {
        given++;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
      cancel() {
        cancelled = true;
      },
    });
    const send = (body: ReadableStream, signal?: AbortSignal) =>
      fetch('/rpc', { method: 'POST', body, duplex: 'half', ...(signal && { signal }) } as RequestInit);
    const large = (await send(endless)).status;
    let pulls = 0;
    const broken = new ReadableStream({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(new TextEncoder().encode('{"jsonrpc":"2.0",'));
        else controller.error(new Error('broken off'));
      },
    });
    const brokenOff = await send(broken).then(
      ({ status }) => status,
      () => 'rejected',
    );
    const abort = new AbortController();
    const silent = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"jsonrpc"')),
    });
    const aborted = send(silent, abort.signal).catch((error: Error) => error.name);
    abort.abort();
    return { large, given, cancelled, brokenOff, aborted: await aborted };
  });
  expect(streams).toMatchObject({ large: 413, aborted: 'AbortError' });
  // Of 5 MiB, which are the limit, and what was on its way.
  expect(streams.given).toBeLessThan(200);
  expect([400, 'rejected']).toContain(streams.brokenOff);
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toBe(id);
  expect(scene.site.posts).toEqual([]);
});

test('stopped again and again while an endpoint holds its answers: every request ends, and those after it are right', async ({
  context,
}) => {
  const pages = [await scene.openPage(context), await scene.openPage(context, '/second')];
  const options = await scene.lightOptions();
  await Promise.all(pages.map((page) => register(page, options)));
  const right = (await post(pages[0]!, scene.upstream.url, call('eth_getBalance', [TOKEN, 'latest']))).json.result;
  for (let round = 0; round < 4; round++) {
    const held: ServerResponse[] = [];
    scene.upstream.options.intercept = (response) => held.push(response) > 0;
    scene.upstream.seen.length = 0;
    const asked = pages.flatMap((page) =>
      Array.from({ length: 10 }, (_, i) => {
        const request = i % 2 === 0 ? call('eth_getBalance', [TOKEN, 'latest'], i) : call('debug_echo', [i], i);
        return post(page, scene.upstream.url, request).then(
          ({ json }) => json,
          () => 'rejected' as const,
        );
      }),
    );
    await expect.poll(() => held.length).toBeGreaterThan(round);
    await stopWorkers(context, pages[round % 2]!);
    scene.upstream.options.intercept = undefined as never;
    for (const response of held) response.destroy();
    for (const [i, answer] of (await Promise.all(asked)).entries()) {
      // Handed to the next worker once more by the browser, an error, or no connection: never a wrong answer.
      if (answer === 'rejected' || answer.error !== undefined) continue;
      expect(answer.result).toEqual(i % 2 === 0 ? right : [i % 10]);
    }
    const after = (await post(pages[round % 2]!, scene.upstream.url, call('eth_getBalance', [TOKEN, 'latest']))).json;
    expect(after.result).toBe(right);
  }
  expect(scene.site.posts).toEqual([]);
});

test('on a full disk the devnet goes on, and keeps what was stored when the worker ends', async ({ context }) => {
  const page = await scene.openPage(context);
  const session = await context.newCDPSession(page);
  const { origin } = scene.site;
  const quota = (quotaSize?: number) =>
    session.send('Storage.overrideQuotaForOrigin', { origin, ...(quotaSize !== undefined && { quotaSize }) });
  // Before the store is opened: the browser looks again only when what it knew to be left is used up.
  await quota(3_500_000);
  await register(page, {});
  await post(page, '/rpc', call('evm_mine'));
  const [from] = (await post(page, '/rpc', call('eth_accounts'))).json.result as string[];
  // The browser packs what repeats.
  const data = () => `0x${randomBytes(60_000).toString('hex')}`;
  const send = (id: number) => call('eth_sendTransaction', [{ from, to: TOKEN, data: data(), gas: '0x300000' }], id);
  for (let round = 0; round < 7; round++) {
    const batch = Array.from({ length: 10 }, (_, i) => send(i));
    const { json } = await post<Answer[]>(page, '/rpc', batch);
    expect(json.filter(({ error }) => error !== undefined)).toEqual([]);
  }
  expect((await post(page, '/rpc', call('eth_blockNumber'))).json.result).toBe('0x47');
  // What was not stored ends with the worker; the rest is a whole chain.
  await stopWorkers(context, page);
  const kept = Number((await post(page, '/rpc', call('eth_blockNumber'))).json.result);
  expect(kept).toBeGreaterThanOrEqual(1);
  expect(kept).toBeLessThan(71);
  const blocks = await post<{ result: { hash: string; parentHash: string } }[]>(
    page,
    '/rpc',
    Array.from({ length: kept + 1 }, (_, i) => call('eth_getBlockByNumber', [`0x${i.toString(16)}`, false], i)),
  );
  for (const [i, { result }] of blocks.json.entries())
    if (i > 0) expect(result.parentHash).toBe(blocks.json[i - 1]!.result.hash);
  await quota();
  await post(page, '/rpc', call('evm_mine'));
  await stopWorkers(context, page);
  expect(Number((await post(page, '/rpc', call('eth_blockNumber'))).json.result)).toBe(kept + 1);
  await session.detach();
});
