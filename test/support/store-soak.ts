import type { CDPSession, Page } from 'playwright';
import type { Stored } from './soak-page.js';
import { StoreBrowser, StoreServer, temporaryProfile } from './store-browser.js';

export interface SoakOptions {
  readonly blocks: number;
  /** Blocks after which memory is measured for the first time. */
  readonly warmUp: number;
  /** Blocks between two looks at what is stored. */
  readonly step: number;
  readonly budget: number;
  readonly heldFinalizations: number;
}

export interface SoakReport {
  /** The most that was stored at any look, bytes, by reading the database. */
  readonly most: number;
  /** Looks at which the node said something else than that. */
  readonly differing: readonly Stored[];
  readonly last: Stored;
  /** JS heap of the worker after garbage collection, bytes: after the first blocks, and after all. */
  readonly heap: { readonly early: number; readonly late: number };
  /** How the first block is answered, and the newest. */
  readonly first: unknown;
  readonly newest: unknown;
  /** Whether the devnet, opened again and then imported again, stands at the same block and proves the same. */
  readonly isSame: boolean;
  /** Newest block before the devnet was exported, when it was cleared, and after it was imported. */
  readonly moved: readonly number[];
}

/** Has a devnet within a budget seal blocks in a worker of real Chromium, on real IndexedDB. */
export async function soakStore(options: SoakOptions): Promise<SoakReport> {
  const server = await StoreServer.start('soak-page.ts');
  const { profile, remove } = await temporaryProfile();
  const browser = await StoreBrowser.start(profile, server.url);
  const chain = {
    kind: 'devnet',
    scheme: 'poseidon2',
    finality: { heldFinalizations: options.heldFinalizations },
  } as const;
  const node = { storeName: 'soak', chain, storage: { budgets: { devnet: options.budget } } };
  try {
    const page = await browser.page('soakPage');
    const worker = await workerOf(await browser.session(page));
    await page.evaluate((how) => soakPage.open(how), node);
    let most = 0;
    let early = 0;
    let last = await look(page);
    const looks = [last];
    while (last.head < options.blocks) {
      await page.evaluate((count) => soakPage.seal(count), Math.min(options.step, options.blocks - last.head));
      last = await look(page);
      most = Math.max(most, last.raw);
      looks.push(last);
      if (early === 0 && last.head >= options.warmUp) early = await worker.heapUsed();
    }
    const late = await worker.heapUsed();
    const first = await page.evaluate(() => soakPage.block(1));
    const newest = await page.evaluate((number) => soakPage.block(number), last.head);
    const proof = await page.evaluate(() => soakPage.prove());
    await page.evaluate(() => soakPage.close());
    await page.evaluate((how) => soakPage.open(how), node);
    looks.push(await look(page));
    const again = { head: looks.at(-1)!.head, proof: await page.evaluate(() => soakPage.prove()) };
    const moved = await page.evaluate(() => soakPage.move());
    const after = await page.evaluate(() => soakPage.prove());
    looks.push(await look(page));
    const differing = looks.filter(({ raw, bytes }) => raw !== bytes);
    const isSame = [again, { head: moved[2], proof: after }].every(
      (found) => JSON.stringify(found) === JSON.stringify({ head: last.head, proof }),
    );
    return { most, differing, last, heap: { early, late }, first, newest, isSame, moved };
  } finally {
    await browser.kill();
    await server.close();
    await remove();
  }
}

function look(page: Page): Promise<Stored> {
  return page.evaluate(() => soakPage.stored());
}

interface Measured {
  /** Bytes after garbage collection. */
  heapUsed(): Promise<number>;
}

/** The next worker that the page starts, by way of the page's own session: it has none that could be asked for. */
async function workerOf(session: CDPSession): Promise<Measured> {
  const answers = new Map<number, (result: { usedSize?: number }) => void>();
  let target: string | undefined;
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type === 'worker') target = sessionId;
  });
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result } = JSON.parse(message) as { id: number; result: { usedSize?: number } };
    answers.get(id)?.(result);
  });
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  let last = 0;
  const send = (method: string) =>
    new Promise<{ usedSize?: number }>((resolve) => {
      const id = ++last;
      answers.set(id, resolve);
      void session.send('Target.sendMessageToTarget', {
        sessionId: target!,
        message: JSON.stringify({ id, method }),
      });
    });
  return {
    async heapUsed() {
      for (let i = 0; i < 2; i++) await send('HeapProfiler.collectGarbage');
      return (await send('Runtime.getHeapUsage')).usedSize!;
    },
  };
}
