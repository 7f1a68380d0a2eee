import { chromium } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROWSER_ARGS, findBrowser } from '../../scripts/lib/browser.mjs';
import { seededRandom } from '../support/random.js';
import { signTransaction } from '../support/sign.js';
import { type Ending, TabsScene } from '../support/tabs-scene.js';
import { openTabsSite, SitePage, type TabsSite } from '../support/tabs-site.js';

/*
 * Slow because a writer is ended thirty times with two tabs, and thirty times with four; test/page/tabs.spec.ts ends three.
 * How long the others were without one is printed.
 */

const ROUNDS = 30;
const ENDINGS: readonly Ending[] = ['close', 'page', 'worker'];

const SEED = Number(process.env.PLUMBLINE_SEED ?? Date.now() % 1_000_000);
const executablePath = await findBrowser();
if (executablePath === undefined) console.warn('NOTICE: no Chromium was found: tabs that share a store are not tried.');

const launchOptions = { args: BROWSER_ARGS, ...(executablePath !== undefined && { executablePath }) };
const PRICE = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n };
/** A transfer of a dev account, its first transaction. */
const transfer = (account: number) =>
  signTransaction(account, { nonce: 0, to: `0x${'11'.repeat(20)}`, value: 1n, gasLimit: 21_000n, ...PRICE });

describe.skipIf(executablePath === undefined)('many rounds of tabs that share a store', () => {
  let site: TabsSite;
  beforeAll(async () => {
    site = await openTabsSite();
  });
  afterAll(() => site.close());

  test.each([2, 4])('%s tabs: writers end at random moments', async (count) => {
    console.log(`seed ${SEED}: PLUMBLINE_SEED=${SEED} repeats this run`);
    const random = seededRandom(SEED);
    const browser = await chromium.launch({
      args: BROWSER_ARGS,
      ...(executablePath !== undefined && { executablePath }),
    });
    try {
      const scene = new TabsScene(await browser.newContext(), site);
      for (let account = 0; account < count; account++) await scene.add(account);
      const takeOvers: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const how = ENDINGS[random(ENDINGS.length)]!;
        const waitMs = random(400);
        let ended: Awaited<ReturnType<TabsScene['endWriter']>> | undefined;
        await scene.storm(1 + random(8), async () => {
          await new Promise((resolve) => setTimeout(resolve, waitMs));
          ended = await scene.endWriter(how);
          return [ended.tab];
        });
        takeOvers.push(Math.round(ended!.withoutMs));
        await scene.replace(ended!.tab);
      }
      const blocks = await scene.check();
      const sorted = takeOvers.sort((a, b) => a - b);
      const [median, most, longest] = [0.5, 0.9, 1].map((part) => sorted[Math.ceil(part * ROUNDS) - 1]!);
      const times = `median ${median} ms, nine of ten within ${most} ms, longest ${longest} ms`;
      console.log(`${count} tabs, ${ROUNDS} writers ended, ${blocks} blocks; answered by another after: ${times}`);
      expect(scene.acknowledged.length).toBeGreaterThan(0);
      expect(scene.acknowledgedByEnded).toBeGreaterThan(0);
      expect(scene.epochs.length).toBeGreaterThan(ROUNDS);
    } finally {
      await browser.close();
    }
  });

  test('a writer whose thread hangs is replaced, and is a follower when it resumes', async () => {
    const browser = await chromium.launch(launchOptions);
    try {
      const context = await browser.newContext();
      const options = { storeName: `tabs-${crypto.randomUUID()}` };
      const [first, second] = [await SitePage.open(context, site), await SitePage.open(context, site)];
      expect(await first.call('open', options, 'worker-that-hangs')).toBe('open');
      expect(await second.call('open', options)).toBe('open');
      await first.ask('evm_mine');
      await first.call('hang', 20_000);
      // Read by the writer when it wakes, and carried out by the other.
      const late = first.ask('eth_sendRawTransaction', transfer(0));
      expect(await second.ask('eth_blockNumber')).toBe('0x1');
      expect((await second.call('sharing')).role).toBe('writer');
      await second.ask('eth_sendRawTransaction', transfer(1));
      const hash = await late;
      expect(await second.ask('eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: '0x3', status: '0x1' });
      expect((await first.call('sharing')).role).toBe('follower');
      expect(await first.ask('eth_blockNumber')).toBe('0x3');
    } finally {
      await browser.close();
    }
  });

  test('without Web Locks, a writer whose page is closed is replaced when its lease has expired', async () => {
    const browser = await chromium.launch(launchOptions);
    try {
      const context = await browser.newContext();
      const options = { storeName: `tabs-${crypto.randomUUID()}` };
      const [first, second] = [await SitePage.open(context, site), await SitePage.open(context, site)];
      expect(await first.call('open', options, 'worker-without-locks')).toBe('open');
      expect(await second.call('open', options, 'worker-without-locks')).toBe('open');
      await second.ask('eth_sendRawTransaction', transfer(0));
      await first.page.close();
      await second.ask('eth_sendRawTransaction', transfer(1));
      expect(await second.ask('eth_blockNumber')).toBe('0x2');
      expect((await second.call('sharing')).role).toBe('writer');
      // One that is closed gives its lease back.
      const third = await SitePage.open(context, site);
      expect(await third.call('open', options, 'worker-without-locks')).toBe('open');
      const start = performance.now();
      await second.call('close');
      expect(await third.ask('eth_blockNumber')).toBe('0x2');
      const ms = Math.round(performance.now() - start);
      console.log(`without Web Locks, closed in order: answered by another after ${ms} ms`);
    } finally {
      await browser.close();
    }
  });
});
