import { expect, test } from 'vitest';
import { findBrowser } from '../../scripts/lib/browser.mjs';
import { soakStore } from '../support/store-soak.js';

/* Slow because of its 2 000 blocks; test/page/store-soak.spec.ts has 160. */

const BLOCKS = 2000;
const BUDGET = 4 * 2 ** 20;
/** What memory may grow to, as a multiple of what it was after the first blocks. */
const GROWTH = 1.5;

const hasBrowser = (await findBrowser()) !== undefined;
if (!hasBrowser) console.warn('NOTICE: no Chromium was found: the soak of the store does not run.');

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(2)} MB`;

test.skipIf(!hasBrowser)(`${BLOCKS} blocks within a budget: bounded storage, bounded memory`, async () => {
  const { most, differing, last, heap, first, newest, isSame, moved } = await soakStore({
    blocks: BLOCKS,
    warmUp: 200,
    step: 50,
    budget: BUDGET,
    heldFinalizations: 128,
  });
  console.log(`at most ${megabytes(most)} stored, budget ${megabytes(BUDGET)}; ${megabytes(last.bytes)} at the end`);
  if (last.usage !== undefined) console.log(`${megabytes(last.usage)} by the browser's estimate`);
  console.log(`heap ${megabytes(heap.early)} after 200 blocks, ${megabytes(heap.late)} after ${last.head}`);
  expect(last.head).toBe(BLOCKS);
  expect(most).toBeLessThan(1.1 * BUDGET);
  expect(differing).toEqual([]);
  // Every record is there, and the oldest have lost their bodies.
  expect(last.blocks).toBe(BLOCKS + 2);
  expect(first).toBe(4444);
  expect(newest).toBe(BLOCKS);
  expect(isSame).toBe(true);
  expect(moved).toEqual([BLOCKS, 0, BLOCKS]);
  expect(heap.late / heap.early).toBeLessThan(GROWTH);
});
