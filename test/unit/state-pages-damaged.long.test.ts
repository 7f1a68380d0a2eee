import { describe, expect, it } from 'vitest';
import { isPlumblineError } from '../../src/errors.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { concatBytes, equalBytes } from '../../src/primitives/bytes.js';
import { loadWorldState } from '../../src/state/load-world-state.js';
import type { WorldState } from '../../src/state/world-state.js';
import { load, openWithPages, PageMap, readPaged, reseal } from '../support/paged-state.js';
import { seededRandom } from '../support/random.js';
import { addressOf, RandomChain, wordOf } from '../support/random-chain.js';

const SLOTS = [0, 1, 2, 60, 69, 999].map(wordOf);

interface Stored {
  readonly state: WorldState;
  readonly store: PageMap;
  /** Its pages two blocks before. */
  readonly earlier: PageMap;
  /** What the state answers, by account. */
  readonly answers: readonly string[];
}

/** A chain whose account trie and some storage tries have several leaf pages, after reverts and destroyed accounts. */
async function stored(scheme: HashScheme, blocks: number, accounts: number): Promise<Stored> {
  const chain = new RandomChain(seededRandom(blocks));
  const state = await openWithPages(scheme);
  const store = new PageMap();
  let earlier = store;
  for (let block = 0; block < blocks; block++) {
    state.applyBlock(block, chain.nextBlock({ accounts, touched: accounts / 2, slots: 70, writes: 60 }));
    store.commit(state.takePages());
    if (block === blocks - 4) earlier = new PageMap(new Map(store.pages));
  }
  state.revertTo(blocks - 2);
  store.commit(state.takePages());
  const answers = Array.from({ length: accounts + 5 }, (_, n) => answerOf(state, n));
  return { state, store, earlier, answers };
}

function answerOf(state: WorldState, n: number): string {
  return JSON.stringify(state.prove(state.head!, addressOf(n), SLOTS));
}

/** `STORE_CORRUPT`, or what the reading gives. Other errors pass through. */
async function orCorrupt<Result>(reading: Promise<Result>): Promise<Result | 'STORE_CORRUPT'> {
  try {
    return await reading;
  } catch (error) {
    if (isPlumblineError(error, 'STORE_CORRUPT')) return error.code;
    throw error;
  }
}

/** Asks a damaged store for every account. @returns how many answers were refused; a wrong one fails the test */
async function refusals(scheme: HashScheme, store: PageMap, { answers, state }: Stored): Promise<number> {
  const paged = await orCorrupt(readPaged(scheme, store));
  if (paged === 'STORE_CORRUPT') return answers.length;
  let refused = 0;
  for (const [n, expected] of answers.entries()) {
    const address = addressOf(n);
    const answer = await orCorrupt(paged.prove(address, SLOTS));
    if (answer === 'STORE_CORRUPT') refused++;
    else if (JSON.stringify(answer) !== expected) throw new Error(`another answer for account ${n}`);
    const account = await orCorrupt(paged.account(address));
    if (account !== 'STORE_CORRUPT') expect(account).toEqual(state.account(state.head!, address));
  }
  return refused;
}

/** Scheme, blocks, accounts, pages that are given another content. */
describe.each<[HashScheme, number, number, number]>([
  ['poseidon2', 9, 70, 12],
  ['mimc', 4, 50, 5],
])('%s: damaged pages', (scheme, blocks, accounts, changed) => {
  let opened: Promise<Stored> | undefined;
  const open = () => (opened ??= stored(scheme, blocks, accounts));

  it('are refused if any byte differs or the end is missing', async () => {
    const { store, ...rest } = await open();
    const random = seededRandom(5);
    for (const [key, page] of store.pages) {
      let damaged = page.slice(0, [0, 8, random(page.length), page.length - 1][random(4)]);
      if (random(2) === 0) {
        damaged = page.slice();
        damaged[random(page.length)]! ^= 1 << random(8);
      }
      expect(await orCorrupt(load(scheme, store.with(key, damaged), { check: 'full' })), key).toBe('STORE_CORRUPT');
    }
    const keys = [...store.pages.keys()];
    for (let i = 0; i < 2; i++) {
      const key = keys[random(keys.length)]!;
      const damaged = store.pages.get(key)!.slice();
      damaged[random(damaged.length)]! ^= 1 << random(8);
      expect(await refusals(scheme, store.with(key, damaged), { store, ...rest })).toBeGreaterThan(0);
    }
  });

  it('are noticed if missing, and there are no unused pages', async () => {
    const { store } = await open();
    for (const key of store.pages.keys()) {
      expect(await orCorrupt(load(scheme, store.with(key, undefined), { check: 'full' })), key).toBe('STORE_CORRUPT');
    }
  });

  it('never change an answer, even with a valid checksum', async () => {
    const all = await open();
    const { store } = all;
    const random = seededRandom(6);
    const keys = [...store.pages.keys()].filter((key) => key !== 'state');
    let refused = 0;
    for (let i = 0; i < changed; i++) {
      const key = keys[random(keys.length)]!;
      const page = reseal(key, store.pages.get(key)!, (content) => {
        content[1 + random(content.length - 1)]! ^= 1 << random(8);
      });
      const count = await refusals(scheme, store.with(key, page), all);
      if (count > 0) refused++;
      const loaded = await orCorrupt(load(scheme, store.with(key, page), { check: 'full' }));
      if (loaded !== 'STORE_CORRUPT') throw new Error(`page ${key} was loaded`);
    }
    expect(refused).toBeGreaterThan(changed / 5);
  });

  it('cannot hide a key from the index', async () => {
    const all = await open();
    const key = [...all.store.pages.keys()].find((name) => name.startsWith('0/k'))!;
    const page = all.store.pages.get(key)!;
    for (const entry of [1, 5, 9]) {
      const at = 1 + 36 * entry;
      const shorter = reseal(key, concatBytes(page.slice(0, at), page.slice(at + 36)), () => {});
      expect(await refusals(scheme, all.store.with(key, shorter), all)).toBeGreaterThan(0);
    }
  });

  it('are refused for a state with another root', async () => {
    const all = await open();
    const page = reseal('state', all.store.pages.get('state')!, (content) => {
      content[content.length - 1]! ^= 1;
    });
    const store = all.store.with('state', page);
    expect(await orCorrupt(load(scheme, store))).toBe('STORE_CORRUPT');
    expect(await refusals(scheme, store, all)).toBe(all.answers.length);
  });

  it('of another commit or under another key are refused', async () => {
    const all = await open();
    const { store, earlier } = all;
    let mixed = 0;
    for (const [key, page] of earlier.pages) {
      const now = store.pages.get(key);
      if (key === 'state' || now === undefined || equalBytes(page, now) || mixed > 30) continue;
      mixed++;
      expect(await orCorrupt(load(scheme, store.with(key, page), { check: 'full' })), key).toBe('STORE_CORRUPT');
      if (mixed < 4) await refusals(scheme, store.with(key, page), all);
    }
    expect(mixed).toBeGreaterThan(3);
    const [first, second] = [...store.pages.keys()].filter((key) => key.includes('/5/'));
    const swapped = store.with(first!, store.pages.get(second!));
    expect(await orCorrupt(load(scheme, swapped, { check: 'full' }))).toBe('STORE_CORRUPT');
    expect(await refusals(scheme, swapped, all)).toBeGreaterThan(0);
  });

  it('leave the kernel unchanged', async () => {
    const { store, state } = await open();
    const [hasher, kernel] = await Promise.all([
      loadHasher(scheme),
      loadTrieKernel(scheme, { undo: true, nodes: true }),
    ]);
    const first = [...store.pages.keys()].findLast((key) => key.includes('/5/'))!;
    const { usedBytes } = kernel.statistics();
    for (let i = 0; i < 3; i++) {
      const loading = loadWorldState(hasher, kernel, store.with(first, undefined));
      expect(await orCorrupt(loading)).toBe('STORE_CORRUPT');
      expect(kernel.statistics().usedBytes).toBe(usedBytes);
    }
    const loaded = await loadWorldState(hasher, kernel, store);
    expect(loaded.root()).toEqual(state.root());
    expect(answerOf(loaded, 3)).toBe(answerOf(state, 3));
  });
});

describe('something that is not a stored state', () => {
  it('is refused with its reason', async () => {
    const state = await openWithPages('mimc');
    const store = new PageMap();
    expect(state.takePages()).toEqual({ puts: [], deletes: [] });
    state.applyBlock(0, []);
    store.commit(state.takePages());
    const newer = store.with(
      'state',
      reseal('state', store.pages.get('state')!, (content) => {
        content[0] = 2;
      }),
    );
    await expect(readPaged('mimc', newer)).rejects.toMatchObject({ code: 'STORE_TOO_NEW', details: { version: 2 } });
    await expect(load('poseidon2', store)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(load('mimc', new PageMap())).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    expect((await load('mimc', store, { check: 'full' })).root()).toEqual(state.root());
  });
});
