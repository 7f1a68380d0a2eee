import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright';
import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { type BenchArea, buildLibrary, type Figure, median, medianRatio } from './area.js';
import { servePages } from './page-site.js';
import { Throttle } from './page-throttle.js';
import type { BalanceResult, PageResult } from './pages/page-call.js';
import { addressOf } from './settled-alloc.js';
import { type SettledChain, withSettledChain } from './settled-read.js';

type Tools = typeof import('../scripts/lib/browser.mjs');

const LOADS = 21;
const RATE = 4;
const BAR = 0.85;
const LOAD_TIMEOUT_MS = 120_000;
/** What a new window of Chromium loads for itself, hundreds of scripts of its address bar, runs on the same processors. */
const SETTLE_MS = 1000;

/** A cold load: each context has a cache of its own. */
async function load<Result = PageResult>(browser: Browser, url: string): Promise<Result> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.waitForTimeout(SETTLE_MS);
    await page.goto(url);
    const result = await page.waitForFunction('globalThis.result', undefined, { timeout: LOAD_TIMEOUT_MS });
    return (await result.jsonValue()) as Result;
  } finally {
    await context.close();
  }
}

/** Both pages in turns, which of them first changing from turn to turn. */
async function interleave(browser: Browser, origin: string, loads: number) {
  const times = { plumbline: [] as number[], vm: [] as number[] };
  for (let round = -1; round < loads; round++) {
    const limits = new Set<string>();
    const names = (['plumbline', 'vm'] as const).slice();
    if (round % 2 === 0) names.reverse();
    for (const name of names) {
      const { gasLimit, ms } = await load(browser, `${origin}/${name}`);
      limits.add(gasLimit);
      if (round >= 0) times[name].push(ms);
    }
    if (limits.size !== 1) throw new Error(`the pages differ: ${[...limits].join(' and ')}`);
  }
  return times;
}

/** How much longer a worker's loop takes under the throttle. */
async function slowdown(browser: Browser, origin: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${origin}/spin`);
  const spin = () => page.evaluate('spin()') as Promise<number>;
  const throttle = new Throttle(browser, RATE);
  const [plain, slow] = [[] as number[], [] as number[]];
  await spin();
  for (let round = 0; round < 5; round++) {
    plain.push(await spin());
    await throttle.start();
    slow.push(await spin());
    await throttle.stop();
  }
  await context.close();
  return median(slow) / median(plain);
}

function figures(how: string, times: Awaited<ReturnType<typeof interleave>>): Figure[] {
  const name = `first ERC-20 estimate of a devnet page, ${how}`;
  return [
    { name, value: median(times.plumbline), unit: 'ms' },
    { name: `${name}: page with @ethereumjs/vm alone`, value: median(times.vm), unit: 'ms' },
    {
      name: `${name}: over that page`,
      value: median(times.plumbline) / median(times.vm),
      unit: 'x',
      bar: { atMost: BAR },
      note: `${LOADS} pairs of loads; median of ratios ${medianRatio(times.plumbline, times.vm).toFixed(2)}`,
    },
  ];
}

const ANSWER_LOADS = 11;
/** First answers of a light node: the chain of the page, and the level that its answer must reach. */
const FIRST_ANSWERS = [
  { chain: 'rollup', level: 'plain', address: addressOf(1), of: 'a balance of the rollup, proved in its newest block' },
  {
    chain: 'settled',
    level: 'settled',
    address: addressOf(1),
    of: 'a balance of the rollup, final by the consensus of layer 1',
  },
  {
    chain: 'layer-one',
    level: 'settled',
    address: DEV_ACCOUNTS[0]!.address,
    of: 'a balance of layer 1, final by its consensus',
  },
] as const;

/**
 * From navigation to the first verified answer, beside a page with viem that believes the same endpoint. Both balances must be the
 * same. Helios cannot stand beside them: its networks are built in, so it follows no chain that is made for a measurement
 * (interop/helios).
 */
async function firstAnswers(browser: Browser, origin: string, { url, root }: SettledChain): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { chain, level, address, of } of FIRST_ANSWERS) {
    const query = new URLSearchParams({ chain, url, root, address });
    const times = { answer: [] as number[], viem: [] as number[] };
    for (let round = -1; round < ANSWER_LOADS; round++) {
      const [proved, believed] = [
        await load<BalanceResult>(browser, `${origin}/answer?${query}`),
        await load<BalanceResult>(browser, `${origin}/viem?${query}`),
      ];
      if (proved.level !== level) throw new Error(`${of}: level ${proved.level}`);
      if (proved.balance !== believed.balance) throw new Error(`${of}: ${proved.balance} and ${believed.balance}`);
      if (round < 0) continue;
      times.answer.push(proved.ms);
      times.viem.push(believed.ms);
    }
    figures.push(
      { name: `first verified answer of a page, ${of}`, value: median(times.answer), unit: 'ms' },
      {
        name: '  over the first answer of a page with viem, which verifies nothing',
        value: medianRatio(times.answer, times.viem),
        unit: 'x',
        note: `${median(times.viem).toFixed(0)} ms`,
      },
    );
  }
  return figures;
}

export const pageStart: BenchArea = {
  name: 'page',
  question:
    'How long does a page take from navigation to its first local estimate, beside one with @ethereumjs/vm alone?',
  async run(): Promise<Figure[]> {
    const root = process.cwd();
    const tools = (await import(pathToFileURL(`${root}/scripts/lib/browser.mjs`).href)) as Tools;
    const executablePath = await tools.findBrowser();
    if (executablePath === undefined || !existsSync(executablePath)) {
      console.warn('  no Chromium was found (set CHROMIUM_PATH): nothing was measured');
      return [];
    }
    await buildLibrary();
    const site = await servePages(root, ['plumbline-page', 'vm-page', 'vm-worker', 'answer-page', 'viem-page']);
    const browser = await chromium.launch({ executablePath, args: tools.BROWSER_ARGS });
    const throttle = new Throttle(browser, RATE);
    try {
      const answers = await withSettledChain(2, 1, (chain) => firstAnswers(browser, site.origin, chain));
      const cold = figures('cold cache', await interleave(browser, site.origin, LOADS));
      if (process.platform === 'win32') return [...answers, ...cold];
      const reached = await slowdown(browser, site.origin);
      await throttle.start();
      const slow = figures('cold cache, CPU at a quarter', await interleave(browser, site.origin, LOADS));
      return [...answers, ...cold, { name: 'loop in a worker, CPU at a quarter', value: reached, unit: 'x' }, ...slow];
    } finally {
      await throttle.stop();
      await browser.close();
      site.close();
    }
  },
};
