import { readFile } from 'node:fs/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROWSER_ARGS, findBrowser } from '../../scripts/lib/browser.mjs';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import {
  ENDLESS_BATCH,
  HEAVY_CHAIN,
  HEAVY_READS,
  LARGE_BATCH,
  LARGE_FIT,
  NESTED,
  NESTED_ANSWER,
  PROGRAMS,
  request,
  TIMED_OUT,
  TOO_LARGE,
  TRANSACTIONS,
  WARM_UP,
} from '../support/hostile/heavy-requests.js';
import { openSite, type Site, type SiteLibrary } from '../support/proxy-site.js';

/*
 * Slow because each request runs until its time limit. What hostile-requests.test.ts does over HTTP and WebSocket, from a page in
 * Chromium to the node in its worker and to the one in the service worker.
 */

const TIMEOUT_MS = 2_000;
const GENEROUS_MS = 5_000;
/** Resident memory of one renderer: its pages, their workers and the service worker. */
const RESIDENT_BYTES = 2 ** 31;

const executablePath = await findBrowser();
if (executablePath === undefined) console.warn('NOTICE: no Chromium was found: workers are not tried.');

/** What a page has: sends a body to its node, and gives the text that comes back. */
interface HeavyPage {
  send(body: string, signal?: AbortSignal): Promise<string>;
}

/** Opens the node of a page: in a worker, or in the service worker. */
const openNode = (page: Page, kind: 'worker' | 'service worker', timeoutMs: number) =>
  page.evaluate(
    async ([where, chain, requestTimeoutMs]) => {
      const { plumbline } = (globalThis as unknown as { lib: SiteLibrary }).lib;
      const init = (body: string, signal?: AbortSignal) => ({ method: 'POST', body, ...(signal && { signal }) });
      const options = { chain, requestTimeoutMs, connectionGasBudget: 1e15 };
      let send: HeavyPage['send'];
      if (where === 'worker') {
        const worker = new Worker('/dist/hosts/worker/worker-devnet.js', { type: 'module' });
        const node: PlumblineNode = await plumbline.createNode({ ...options, worker });
        send = async (body, signal) => (await node.handle(new Request('http://127.0.0.1/', init(body, signal)))).text();
      } else {
        await plumbline.registerRpcProxy({ ...options, scriptUrl: '/service-worker.js', timeoutMs: 120_000 });
        send = async (body, signal) => (await fetch('/rpc', init(body, signal))).text();
      }
      Object.assign(globalThis, { send });
    },
    [kind, HEAVY_CHAIN, timeoutMs] as const,
  );

/** Peak of what was resident of the browser's largest renderer, bytes; undefined where the system does not tell. */
async function peakOf(browser: Browser): Promise<number | undefined> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  const peaks = renderers.map(async ({ id }) => {
    const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
    return 1024 * Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1] ?? 0);
  });
  return Math.max(...(await Promise.all(peaks))) || undefined;
}

describe.skipIf(executablePath === undefined).each(['worker', 'service worker'] as const)('in a %s', (kind) => {
  let site: Site;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    site = await openSite();
    browser = await chromium.launch({ args: BROWSER_ARGS, ...(executablePath && { executablePath }) });
    context = await browser.newContext();
    page = await context.newPage();
    await page.goto(site.origin);
    await openNode(page, kind, TIMEOUT_MS);
    await send(WARM_UP);
  });
  afterAll(async () => {
    const peak = await peakOf(browser);
    console.log(`${kind}: resident at most ${peak === undefined ? 'unknown' : `${(peak / 1e6).toFixed(0)} MB`}`);
    await browser.close();
    await site.close();
    if (peak !== undefined) expect(peak).toBeLessThan(RESIDENT_BYTES);
  });

  const send = async (body: unknown): Promise<unknown> =>
    JSON.parse(
      await page.evaluate(
        (text) => (globalThis as unknown as HeavyPage).send(text),
        typeof body === 'string' ? body : JSON.stringify(body),
      ),
    );

  /** Sends a request, and others until it is answered. @returns the answer, or the last one of a batch */
  async function beside(name: string, body: unknown): Promise<{ readonly count: number; readonly last: unknown }> {
    const [took, worst, others, count, last, wrong] = await page.evaluate(
      async ([text, small]) => {
        const { send } = globalThis as unknown as HeavyPage;
        let answered = false;
        let [worst, others, wrong] = [0, 0, ''];
        const began = performance.now();
        const long = send(text).finally(() => {
          answered = true;
        });
        do {
          const asked = performance.now();
          const answer = await send(small);
          if (!answer.includes('"0xe703"')) wrong = answer;
          worst = Math.max(worst, performance.now() - asked);
          others++;
          await new Promise((resolve) => setTimeout(resolve, 5));
        } while (!answered);
        const took = performance.now() - began;
        const answer = JSON.parse(await long) as unknown;
        const all = Array.isArray(answer) ? answer : [answer];
        return [took, worst, others, all.length, all.at(-1) as unknown, wrong] as const;
      },
      [JSON.stringify(body), JSON.stringify(request('eth_chainId'))] as const,
    );
    console.log(
      `${kind}, ${name}: ${took.toFixed(0)} ms; ${others} others, the slowest answered in ${worst.toFixed(0)} ms`,
    );
    expect(wrong).toBe('');
    expect(worst).toBeLessThan(GENEROUS_MS);
    expect(took).toBeLessThan(TIMEOUT_MS + GENEROUS_MS);
    return { count, last };
  }

  test.each(PROGRAMS)('%s, called and estimated: others are answered beside', async (name, call) => {
    for (const method of ['eth_call', 'eth_estimateGas']) {
      const { last } = await beside(`${method}, ${name}`, request(method, call, 'latest'));
      // A program may fail for want of memory or depth before its time is over.
      if ('result' in (last as object)) continue;
      expect([-32603, -32000]).toContain((last as typeof TIMED_OUT).error.code);
    }
  });

  test.each([...HEAVY_READS, ['1 024 transactions', TRANSACTIONS] as const])(
    '%s: others are answered beside',
    async (name, body) => {
      await beside(name, body);
    },
  );

  test('a batch of endless calls: all members end with the time limit', async () => {
    const { count, last } = await beside('1 024 endless calls', ENDLESS_BATCH);
    expect(count).toBe(1024);
    expect(last).toMatchObject(TIMED_OUT);
  });

  test.each(['anvil_mine', 'hardhat_mine'])('%s of 100 000 blocks ends with the time limit', async (method) => {
    const head = async () => Number(((await send(request('eth_blockNumber'))) as { result: string }).result);
    const from = await head();
    expect((await beside(method, request(method, '0x186a0'))).last).toMatchObject(TIMED_OUT);
    const mined = (await head()) - from;
    console.log(`${kind}: ${mined} blocks were mined`);
    expect(mined).toBeLessThan(100_000);
    // It has ended: no block comes after it.
    await send(request('evm_snapshot'));
    const after = await head();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await head()).toBe(after);
  });

  test('a batch whose answers would have 5 GB', async () => {
    await openNode(page, kind, 3_600_000);
    const [bytes, fit, others] = await page.evaluate(async (text) => {
      const reply = await (globalThis as unknown as HeavyPage).send(text);
      const answers = JSON.parse(reply) as { result?: string; error?: object }[];
      const fit = answers.filter(({ result }) => result?.length === 2 + 2 * 2_500_000).length;
      const errors = new Set(answers.flatMap(({ error }) => (error === undefined ? [] : [JSON.stringify(error)])));
      return [reply.length, fit, [...errors].map((error) => JSON.parse(error) as unknown)] as const;
    }, JSON.stringify(LARGE_BATCH));
    console.log(`${kind}: a batch whose answers would have 5 GB is answered with ${(bytes / 1e6).toFixed(0)} MB`);
    expect(fit).toBe(LARGE_FIT);
    // The last ones have no gas left to be executed.
    const spent = { code: -32000, message: 'execution stopped: its runs have used more than 10000000000 gas' };
    expect(others).toMatchObject([TOO_LARGE, spent]);
    expect(bytes).toBeLessThan(33_554_432 + 1024 * 256);
    expect(await send(request('eth_chainId'))).toMatchObject({ result: '0xe703' });
  });

  test('JSON nested a million deep', async () => {
    for (const body of NESTED) expect(await send(body)).toEqual(NESTED_ANSWER);
    expect(await send(request('eth_chainId'))).toMatchObject({ result: '0xe703' });
  });

  // Chromium does not tell a service worker that a page has given up a request: there the time limit ends the work.
  if (kind === 'worker')
    test('an abort by the page ends the work', async () => {
      await openNode(page, kind, 3_600_000);
      const head = await page.evaluate(
        async ([mine, small, last, number]) => {
          const { send } = globalThis as unknown as HeavyPage;
          const stop = new AbortController();
          // `fetch` rejects, the handler of a node answers.
          const ended = send(mine, stop.signal).catch(() => '');
          await send(small);
          stop.abort();
          await ended;
          // It waits until the mining has ended.
          await send(last);
          return Number((JSON.parse(await send(number)) as { result: string }).result);
        },
        [
          request('anvil_mine', '0x4e20'),
          ...['eth_chainId', 'evm_snapshot', 'eth_blockNumber'].map((one) => request(one)),
        ].map((body) => JSON.stringify(body)) as [string, string, string, string],
      );
      console.log(`${kind}: ${head} of 20 000 blocks were mined when the page had aborted that`);
      expect(head).toBeLessThan(20_000);
    });
});
