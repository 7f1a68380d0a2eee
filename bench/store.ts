import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright';
import { type BenchArea, type Figure, median } from './area.js';
import { servePages } from './page-site.js';
import type { StoreResult, StoreTask } from './pages/store-worker.js';

type Tools = typeof import('../scripts/lib/browser.mjs');

const TASK: StoreTask = { accounts: 100_000, blocks: 8, transfers: 200, longChain: 1000 };
const TIMEOUT_MS = 600_000;

/** Has a worker of the page measure. */
async function measured(page: Page, url: string): Promise<StoreResult> {
  const answer = await page.evaluate(
    ([script, task]) =>
      new Promise<{ result?: StoreResult; error?: string }>((resolve) => {
        const worker = new Worker(script, { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => resolve({ error: message });
        worker.postMessage(task);
      }),
    [url, TASK] as const,
  );
  if (answer.result === undefined) throw new Error(`nothing was measured: ${answer.error}`);
  return answer.result;
}

function figures(found: StoreResult): Figure[] {
  const { accounts, blocks, transfers, longChain } = TASK;
  const proved = median(found.openings.map(({ provedMs }) => provedMs));
  const [executed, stored] = [median(found.executedMs), median(found.storedMs)];
  const checkpoint = found.checkpointMs / blocks;
  const long = median(found.longOpenings.map(({ provedMs }) => provedMs));
  return [
    { name: `${accounts} accounts rebuilt from genesis and proved from`, value: found.rebuiltMs, unit: 'ms' },
    {
      name: 'rebuilding over opening, each to the first linea_getProof',
      value: found.rebuiltMs / proved,
      unit: 'x',
      bar: { atLeast: 10 },
      note: `opened in ${Math.round(proved)} ms; ${blocks} blocks more than the rebuilt one`,
    },
    {
      name: 'full load after opening, sampled check',
      value: median(found.openings.map(({ loadedMs }) => loadedMs)),
      unit: 'ms',
    },
    { name: `executing ${transfers} token transfers, senders recovered`, value: executed, unit: 'ms' },
    {
      name: 'storing that block and its share of a checkpoint over it',
      value: (stored + checkpoint) / executed,
      unit: 'x',
      bar: { atMost: 0.25 },
      note: `record ${stored.toFixed(1)} ms, checkpoint ${checkpoint.toFixed(1)} ms`,
    },
    { name: 'bytes put for that block', value: median(found.storedBytes), unit: 'bytes' },
    {
      name: `bytes put for the checkpoint, by block, ${blocks} to one`,
      value: found.checkpointBytes / blocks,
      unit: 'bytes',
    },
    { name: 'bytes put for genesis and its checkpoint', value: found.genesisBytes, unit: 'bytes' },
    { name: `${longChain} blocks of a transfer opened`, value: long, unit: 'ms' },
    {
      name: `${longChain} blocks of a transfer opened, full load`,
      value: median(found.longOpenings.map(({ loadedMs }) => loadedMs)),
      unit: 'ms',
    },
    { name: `making ${longChain} blocks over opening them`, value: found.madeMs / long, unit: 'x' },
  ];
}

export const storing: BenchArea = {
  name: 'store',
  question: 'How fast does a stored devnet come back in Chromium, on its IndexedDB, and what does it cost to store?',
  async run(): Promise<Figure[]> {
    const root = process.cwd();
    const tools = (await import(pathToFileURL(`${root}/scripts/lib/browser.mjs`).href)) as Tools;
    const executablePath = await tools.findBrowser();
    if (executablePath === undefined || !existsSync(executablePath)) {
      console.warn('  no Chromium was found (set CHROMIUM_PATH): nothing was measured');
      return [];
    }
    const site = await servePages(root, ['store-worker']);
    // A profile of its own: without one the browser would keep its databases in memory.
    const profile = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
    const context = await chromium.launchPersistentContext(profile, { executablePath, args: [...tools.BROWSER_ARGS] });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(TIMEOUT_MS);
      await page.goto(`${site.origin}/blank`);
      return figures(await measured(page, '/store/store-worker.js'));
    } finally {
      await context.close();
      site.close();
      await rm(profile, { recursive: true, force: true });
    }
  },
};
