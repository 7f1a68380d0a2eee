import { expect, test } from '@playwright/test';
import { soakStore } from '../support/store-soak.js';

const BUDGET = 420_000;

test('a devnet keeps within its budget, and opens from what is left', async () => {
  const { most, differing, last, heap, first, newest, isSame, moved } = await soakStore({
    blocks: 160,
    warmUp: 40,
    step: 10,
    budget: BUDGET,
    heldFinalizations: 8,
  });
  expect(most).toBeLessThan(1.1 * BUDGET);
  expect(differing).toEqual([]);
  expect(last).toMatchObject({ head: 160, blocks: 162 });
  expect(first).toBe(4444);
  expect(newest).toBe(160);
  expect(isSame).toBe(true);
  expect(moved).toEqual([160, 0, 160]);
  expect(heap.late / heap.early).toBeLessThan(1.5);
});
