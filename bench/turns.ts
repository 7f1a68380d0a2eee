import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import { devnet } from '../src/networks/devnet.js';
import { type BenchArea, buildLibrary, type Figure } from './area.js';
import { servePages } from './page-site.js';
import { measureTurns, type TurnsResult, turnsOptions } from './pages/turns-measure.js';

type Tools = typeof import('../scripts/lib/browser.mjs');

const OTHER_BAR_MS = 100;
const LIMIT_BAR_MS = 250;
const PAGE_TIMEOUT_MS = 300_000;

async function inNode(): Promise<TurnsResult[]> {
  const node = await createInlineNode(turnsOptions(devnet()));
  try {
    return await measureTurns(node);
  } finally {
    await node.close();
  }
}

/** @returns undefined without a browser */
async function inChromium(): Promise<TurnsResult[] | undefined> {
  const root = process.cwd();
  const tools = (await import(pathToFileURL(`${root}/scripts/lib/browser.mjs`).href)) as Tools;
  const executablePath = await tools.findBrowser();
  if (executablePath === undefined || !existsSync(executablePath)) return undefined;
  await buildLibrary();
  const site = await servePages(root, ['turns-page']);
  const browser = await chromium.launch({ executablePath, args: [...tools.BROWSER_ARGS] });
  try {
    const page = await browser.newPage();
    await page.goto(`${site.origin}/turns`);
    const found = await page.waitForFunction('globalThis.turns', undefined, { timeout: PAGE_TIMEOUT_MS });
    return (await found.jsonValue()) as TurnsResult[];
  } finally {
    await browser.close();
    site.close();
  }
}

function figures(where: string, results: readonly TurnsResult[]): Figure[] {
  const worst = (name: string, key: 'otherMs' | 'lateMs' | 'abortMs', atMost: number): Figure => {
    const slowest = results.reduce((a, b) => (b[key] > a[key] ? b : a));
    return { name: `${where}: ${name}`, value: slowest[key], unit: 'ms', bar: { atMost }, note: slowest.name };
  };
  return [
    worst('slowest answer beside a request that runs for minutes', 'otherMs', OTHER_BAR_MS),
    worst('latest end after requestTimeoutMs', 'lateMs', LIMIT_BAR_MS),
    worst('free again after an abort', 'abortMs', LIMIT_BAR_MS),
  ];
}

/** In milliseconds, since that is what users wait. */
export const turns: BenchArea = {
  name: 'turns',
  question: 'How long does a request that would run for minutes keep others waiting, and how soon does it end?',
  async run() {
    const page = await inChromium();
    if (page === undefined) console.warn('  no Chromium was found (set CHROMIUM_PATH): no worker was measured');
    return [...figures('Node', await inNode()), ...(page === undefined ? [] : figures('a worker in Chromium', page))];
  },
};
