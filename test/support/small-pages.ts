import { equalBytes } from '../../src/primitives/bytes.js';
import type { PageChanges } from '../../src/state/page-format.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';
import { openWithPages, PageMap } from './paged-state.js';
import { address, change, set, state } from './small-state.js';

/** Accounts 1 to 69 are written; 5 has many slots, 6 one for a time. */
export const COUNT = 70;
export const some = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const sets = (keys: number[], before: number, after: number) => keys.map((key) => set(key, before, after));
const account = state(1n, 5n);

/** Blocks that let the pages of a small state grow from one page to several, change, split, and shrink. */
export const blocks: readonly ZkAccountChange[][] = [
  some(1, 21).map((n) => change(n, undefined, account, n === 5 ? sets([1, 2, 3], 0, 7) : [])),
  [
    ...some(21, 36).map((n) => change(n, undefined, account)),
    change(5, account, account, sets(some(4, 45), 0, 9)),
    change(6, account, account, sets([1], 0, 1)),
  ],
  [...some(36, COUNT).map((n) => change(n, undefined, account)), change(3, account, undefined, [], true)],
  [
    change(5, account, account, [...sets([1], 7, 0), ...sets([4], 9, 10)]),
    change(6, account, account, sets([1], 1, 0)),
    change(7, account, state(2n, 5n)),
  ],
  [change(5, account, account, [set(50, 0, 1)], true), change(6, account, account, [], true)],
];

/** Slots of an account after each block: values by key. */
export function slotsOf(n: number): ReadonlyMap<number, number>[] {
  const after: Map<number, number>[] = [];
  for (const block of blocks) {
    const own = block.find((one) => equalBytes(one.address, address(n)));
    const held = new Map(own?.destroyed ? [] : (after.at(-1) ?? []));
    for (const slot of own?.slots ?? []) held.set(slot.key.at(-1)!, slot.after.at(-1)!);
    after.push(held);
  }
  return after;
}

/** The state after these blocks, and the stored pages after each. */
export async function openSmallPages() {
  const held = await openWithPages('poseidon2');
  const store = new PageMap();
  const stores: PageMap[] = [];
  for (const [number, block] of blocks.entries()) {
    held.applyBlock(number, block);
    store.commit(held.takePages());
    stores.push(new PageMap(new Map(store.pages)));
  }
  return { held, stores };
}

export const keysOf = ({ pages }: PageMap) => [...pages.keys()].sort();

/** Pages that are written as they were, and pages that are deleted without being there. */
export const unneeded = ({ pages }: PageMap, { puts, deletes }: PageChanges) => [
  ...puts.filter(({ key, value }) => pages.has(key) && equalBytes(value, pages.get(key)!)).map(({ key }) => key),
  ...deletes.filter((key) => !pages.has(key)),
];

/** Pages as text, which is compared fast. */
export const textOf = ({ pages }: PageMap) =>
  [...pages].map(([key, page]) => `${key} ${Buffer.from(page).toString('latin1')}`).sort();
