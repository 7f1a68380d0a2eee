import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright';
import { type BenchArea, buildLibrary, type Figure, median, medianRatio } from './area.js';
import { servePages } from './page-site.js';
import { Throttle } from './page-throttle.js';
import type { PageResult } from './pages/page-call.js';

type Tools = typeof import('../scripts/lib/browser.mjs');

const LOADS = 21;
const RATE = 4;
const BAR = 0.85;
const LOAD_TIMEOUT_MS = 120_000;
/** What a new window of Chromium loads for itself, hundreds of scripts of its address bar, runs on the same processors. */
const SETTLE_MS = 1000;

/** A cold load: each context has a cache of its own. */
async function load(browser: Browser, url: string): Promise<PageResult> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.waitForTimeout(SETTLE_MS);
    await page.goto(url);
    const result = await page.waitForFunction('globalThis.result', undefined, { timeout: LOAD_TIMEOUT_MS });
    return (await result.jsonValue()) as PageResult;
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
    const site = await servePages(root, ['plumbline-page', 'vm-page', 'vm-worker']);
    const browser = await chromium.launch({ executablePath, args: tools.BROWSER_ARGS });
    const throttle = new Throttle(browser, RATE);
    try {
      const cold = figures('cold cache', await interleave(browser, site.origin, LOADS));
      if (process.platform === 'win32') return cold;
      const reached = await slowdown(browser, site.origin);
      await throttle.start();
      const slow = figures('cold cache, CPU at a quarter', await interleave(browser, site.origin, LOADS));
      return [...cold, { name: 'loop in a worker, CPU at a quarter', value: reached, unit: 'x' }, ...slow];
    } finally {
      await throttle.stop();
      await browser.close();
      site.close();
    }
  },
};
