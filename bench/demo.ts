import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright';
import { type BenchArea, type Figure, median, medianRatio } from './area.js';

type Tools = typeof import('../scripts/lib/browser.mjs');
interface Pages {
  readonly url: string;
  readonly close: () => void;
}

/** The last commit before the demo page had its first view. It is built from the history, with the dependencies of today. */
const BEFORE = 'b13d026';
const LOADS = 21;
const LOAD_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
/** See bench/page.ts. */
const SETTLE_MS = 1000;

/** Runs before the scripts of a page: keeps when its state first says that the node runs. */
const WATCH = `new MutationObserver(() => {
  const text = document.querySelector('.status-text')?.textContent ?? '';
  if (text.includes('Running')) globalThis.runningAt ??= performance.now();
}).observe(document, { subtree: true, childList: true, characterData: true });`;

/** Milliseconds from navigation. */
interface Load {
  readonly painted: number;
  readonly running: number;
}

/** A cold load: each context has a cache and stores of its own. */
async function load(browser: Browser, url: string): Promise<Load> {
  const context = await browser.newContext();
  try {
    await context.addInitScript(WATCH);
    const page = await context.newPage();
    await page.waitForTimeout(SETTLE_MS);
    await page.goto(url);
    const until = performance.now() + LOAD_TIMEOUT_MS;
    while (performance.now() < until) {
      const [painted, running] = await page.evaluate(() => [
        performance.getEntriesByName('first-paint')[0]?.startTime,
        (globalThis as { runningAt?: number }).runningAt,
      ]);
      if (painted !== undefined && running !== undefined) return { painted, running };
      await page.waitForTimeout(POLL_MS);
    }
    throw new Error(`no node runs at ${url}`);
  } finally {
    await context.close();
  }
}

/** Directory of the page as it was before. */
function buildBefore(root: string): string {
  const place = `${root}/build/before/${BEFORE}`;
  if (!existsSync(`${place}/dist/demo/index.html`)) {
    mkdirSync(place, { recursive: true });
    const archive = execFileSync('git', ['archive', BEFORE], { cwd: root, maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', place], { input: archive });
    // With the libraries that it had.
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] });
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return `${place}/dist/demo`;
}

function figure(name: string, now: readonly number[], before: readonly number[], atMost: number): Figure {
  const note = `${median(now).toFixed(0)} and ${median(before).toFixed(0)} ms; ${LOADS} pairs of loads, median of ratios ${medianRatio(now, before).toFixed(2)}`;
  return { name, value: median(now) / median(before), unit: 'x', bar: { atMost }, note };
}

export const demoPage: BenchArea = {
  name: 'demo',
  question: `How soon does the demo page paint and its node run, beside the page of commit ${BEFORE}?`,
  async run() {
    const root = process.cwd();
    const script = (path: string) => import(pathToFileURL(`${root}/scripts/${path}`).href) as Promise<unknown>;
    const { findBrowser, BROWSER_ARGS } = (await script('lib/browser.mjs')) as Tools;
    const executablePath = await findBrowser();
    if (executablePath === undefined) {
      console.warn('  no Chromium was found (set CHROMIUM_PATH): nothing was measured');
      return [];
    }
    await ((await script('build.mjs')) as { buildDemo(): Promise<void> }).buildDemo();
    const { serveStatic } = (await script('lib/static-server.mjs')) as { serveStatic(at: string): Promise<Pages> };
    const pages = { now: await serveStatic(`${root}/dist/demo`), before: await serveStatic(buildBefore(root)) };
    const loads = { now: [] as Load[], before: [] as Load[] };
    const browser = await chromium.launch({ executablePath, args: BROWSER_ARGS });
    try {
      // The first round warms the browser. The order changes from round to round.
      for (let round = -1; round < LOADS; round++) {
        for (const name of round % 2 === 0 ? (['now', 'before'] as const) : (['before', 'now'] as const)) {
          const one = await load(browser, pages[name].url);
          if (round >= 0) loads[name].push(one);
        }
      }
    } finally {
      await browser.close();
      pages.now.close();
      pages.before.close();
    }
    const times = (key: keyof Load) =>
      [loads.now, loads.before].map((all) => all.map((one) => one[key])) as [number[], number[]];
    return [figure('first paint', ...times('painted'), 1), figure('node running', ...times('running'), 0.8)];
  },
};
