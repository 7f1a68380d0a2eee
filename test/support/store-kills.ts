import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright';
import type { NodeOptions } from '../../dist/index.js';
import { seededRandom } from './random.js';
import { StoreBrowser, StoreServer, temporaryProfile } from './store-browser.js';
import type { Acknowledged } from './store-page.js';

/** What is ended: the worker of the node, its page, or all processes of the browser. */
export type Victim = 'worker' | 'page' | 'browser';

export interface KillPlan {
  readonly seed: number;
  /** In this order, again and again. */
  readonly victims: readonly Victim[];
  readonly kills: number;
  /** After so many a database is given up for a new one: opening one reads all its blocks. */
  readonly perDatabase: number;
  /** Longest life, milliseconds from the first transaction on. */
  readonly lifeMs: number;
}

export interface KillReport {
  readonly kills: Readonly<Record<Victim, number>>;
  /** Of those, how many came while a database was made or opened. */
  readonly whileOpening: number;
  /** Sealed between the kills. */
  readonly blocks: number;
  readonly acknowledged: number;
  /** Databases that had pruned blocks when they were given up. */
  readonly pruned: number;
  /** Openings that loaded the state from a checkpoint; the others applied the blocks. */
  readonly fromCheckpoint: number;
}

/** Hashes by number; null for what was pruned before it was found. */
type Known = (string | null)[];

/** Opening takes some hundred milliseconds. */
const OPENING_MS = 600;

/** Every other database has a budget in bytes, and few states that have to stay provable: soon its old blocks are pruned. */
const BUDGET = 60_000;
const HELD = 8;

function optionsFor(storeName: string): NodeOptions {
  const isPruned = storeName.endsWith('-pruned');
  return {
    storeName,
    storeCheck: 'full',
    chain: { kind: 'devnet', scheme: 'poseidon2', finality: isPruned ? { heldFinalizations: HELD } : {} },
    storage: isPruned ? { budgets: { devnet: BUDGET } } : {},
    dictionary: { kind: 'general' },
  };
}

/**
 * Ends a stored devnet at random moments while it seals, is made or is opened, and opens it again each time: the block it is at has been
 * committed, none that was acknowledged is missing, the chain is linked from its first block, the state that every hash of is
 * computed again has the root that was recorded, nothing had to be repaired, and it goes on sealing.
 *
 * @throws Error for anything else
 */
export async function killAndReopen(plan: KillPlan): Promise<KillReport> {
  const random = seededRandom(plan.seed);
  const server = await StoreServer.start();
  const { profile, remove } = await temporaryProfile();
  const kills: Record<Victim, number> = { worker: 0, page: 0, browser: 0 };
  let [blocks, acknowledged, fromCheckpoint, whileOpening, pruned] = [0, 0, 0, 0, 0];
  let browser = await StoreBrowser.start(profile, server.url);
  try {
    let page = await browser.page();
    let known: Known = [];
    let before = 0;
    let name = '';
    for (let i = 0; i <= plan.kills; i++) {
      if (name !== '') {
        const stages = await reopen(page, name, server.acknowledged.splice(0), known);
        if (!stages.includes('genesis')) fromCheckpoint++;
        blocks += known.length - before;
      }
      const isLast = i % plan.perDatabase === 0 && name.endsWith('-pruned');
      if (isLast && (await page.evaluate(() => storePage.isPruned()))) pruned++;
      if (i === plan.kills) break;
      const isNew = i % plan.perDatabase === 0;
      if (isNew) {
        name = `kill-${plan.seed}-${i}${(i / plan.perDatabase) % 2 === 1 ? '-pruned' : ''}`;
        known = [];
      }
      before = known.length;
      const victim = plan.victims[i % plan.victims.length]!;
      const isOpening = isNew || random(5) === 0;
      const lifeMs = random(isOpening ? OPENING_MS : plan.lifeMs);
      if (isOpening) {
        whileOpening++;
        await page.evaluate((options) => storePage.openAgain(options), optionsFor(name));
      } else {
        await page.evaluate((seed) => storePage.stream(seed), random(2 ** 31));
      }
      if (victim === 'worker') {
        const told = await page.evaluate((ms) => storePage.endWorker(ms), lifeMs);
        server.acknowledged.splice(0);
        server.acknowledged.push(...told);
      } else {
        await sleep(lifeMs);
        if (victim === 'page') {
          await page.close({ runBeforeUnload: false });
        } else {
          await browser.kill();
          browser = await StoreBrowser.start(profile, server.url);
        }
        page = await browser.page();
      }
      kills[victim]++;
      acknowledged += server.acknowledged.length;
    }
    return { kills, whileOpening, blocks, acknowledged, pruned, fromCheckpoint };
  } finally {
    await browser.kill();
    await server.close();
    await remove();
  }
}

/**
 * @param acknowledged - blocks that have to be there
 * @param known - hashes of all blocks found so far, which have to be the same where they are not pruned since; those that are
 *   new are added
 * @returns the stages of opening
 */
async function reopen(
  page: Page,
  storeName: string,
  acknowledged: readonly Acknowledged[],
  known: Known,
): Promise<readonly string[]> {
  const opened = await page.evaluate((options) => storePage.open(options), optionsFor(storeName));
  if (opened.error !== undefined) throw new Error(`does not open: ${JSON.stringify(opened.error)}`);
  const from = Math.max(0, known.length - 1);
  const { head, status, stages, hashes } = await page.evaluate((number) => storePage.look(number), from);
  if (status !== undefined) throw new Error(`the store is not whole: ${JSON.stringify(status)}`);
  const mayBeMissing = (number: number) => storeName.endsWith('-pruned') && number > 0 && number <= head - HELD;
  for (const [i, hash] of hashes.entries()) {
    if (hash === null && !mayBeMissing(from + i)) throw new Error(`block ${from + i} is pruned; the head is ${head}`);
  }
  const last = known.at(-1);
  if (head < from) throw new Error(`block ${from} is missing; the head is ${head}`);
  if (last && hashes[0] && hashes[0] !== last) throw new Error(`block ${from} is another`);
  known.push(...hashes.slice(known.length > 0 ? 1 : 0));
  for (const { number, hash } of acknowledged) {
    if (number > head || (known[number] !== null && known[number] !== hash))
      throw new Error(`block ${number} was acknowledged and is missing; the head is ${head}`);
  }
  await page.evaluate(() => storePage.prove());
  for (let next = 1; next <= 3; next++) {
    const { number, hash } = await page.evaluate((amount) => storePage.send(amount), next);
    if (number !== head + next) throw new Error(`sealed block ${number} on block ${head + next - 1}`);
    known.push(hash);
  }
  return stages;
}
