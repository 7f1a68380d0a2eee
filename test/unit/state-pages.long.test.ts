import { describe, expect, it } from 'vitest';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { loadWorldState } from '../../src/state/load-world-state.js';
import type { PagedState } from '../../src/state/paged-state.js';
import type { WorldState } from '../../src/state/world-state.js';
import { referenceHasher } from '../reference/hasher.js';
import { load, openWithPages, PageMap, readPaged } from '../support/paged-state.js';
import { seededRandom } from '../support/random.js';
import { addressOf, type BlockShape, RandomChain, wordOf } from '../support/random-chain.js';

/** Slots that are asked for: written ones, and some that never are. */
const SLOTS = Array.from({ length: 8 }, (_, i) => wordOf(13 * i));

/** Compares everything a stored state answers about some accounts with the state it was stored from. */
async function expectSame(paged: PagedState, state: WorldState, accounts: Iterable<number>): Promise<void> {
  const block = state.head!;
  expect(paged.block).toBe(block);
  expect(rootOf(paged)).toBe(rootOf(state));
  for (const n of accounts) {
    const address = addressOf(n);
    expect(await paged.account(address)).toEqual(state.account(block, address));
    expect(await paged.slot(address, SLOTS[1]!)).toEqual(state.slot(block, address, SLOTS[1]!));
    expect(await paged.prove(address, SLOTS)).toEqual(state.prove(block, address, SLOTS));
  }
}

function pagesOf({ pages }: PageMap): Record<string, string> {
  return Object.fromEntries([...pages].map(([key, page]) => [key, bytesToHex(page)]));
}

const rootOf = (state: WorldState | PagedState) =>
  bytesToHex(typeof state.root === 'function' ? state.root() : state.root);

const some = (count: number, random: (bound: number) => number, below: number) =>
  new Set(Array.from({ length: count }, () => random(below)));

/** Loads with the full check, which asks for every page there should be: no page is missing, and none is left over. */
async function loadInFull(scheme: HashScheme, { pages }: PageMap): Promise<WorldState> {
  const store = new PageMap(pages);
  const loaded = await load(scheme, store, { check: 'full' });
  expect([...store.asked].sort()).toEqual([...pages.keys()].sort());
  return loaded;
}

describe.each<[HashScheme, number, BlockShape[]]>([
  [
    'poseidon2',
    24,
    [
      { accounts: 12, touched: 6, slots: 9, writes: 5 },
      { accounts: 90, touched: 30, slots: 110, writes: 60 },
      { accounts: 400, touched: 60, slots: 20, writes: 9 },
    ],
  ],
  ['mimc', 8, [{ accounts: 30, touched: 15, slots: 40, writes: 20 }]],
])('%s: pages of a random chain', (scheme, blocks, shapes) => {
  it('answer like the state, load as the same state, and can be continued', async () => {
    const random = seededRandom(blocks + 3);
    const chain = new RandomChain(random);
    const state = await openWithPages(scheme);
    const store = new PageMap();
    let running: WorldState | undefined;
    let runningStore = store;
    for (let step = 0; step < blocks; step++) {
      const block = (state.head ?? -1) + 1;
      const changes = chain.nextBlock(shapes[Math.floor((step * shapes.length) / blocks)]!);
      // A block that is refused, even late, leaves no trace in the pages.
      const refused = {
        address: addressOf(9999),
        after: { nonce: 2n ** 256n, balance: 0n },
        destroyed: false,
        slots: [],
      };
      expect(() => state.applyBlock(block, [...changes, refused])).toThrow();
      if (step % 5 === 4) state.applyBlockTraced(block, changes);
      else state.applyBlock(block, changes);
      store.commit(state.takePages());
      if (running !== undefined) {
        expect(bytesToHex(running.applyBlock(block, changes))).toBe(rootOf(state));
        runningStore.commit(running.takePages());
        expect(pagesOf(runningStore)).toEqual(pagesOf(store));
        running = undefined;
      }
      if (step % 6 === 5) {
        const back = 1 + random(3);
        const kept = state.head! - back;
        chain.revert(back);
        state.revertTo(kept);
        store.commit(state.takePages());
      }
      if (step % 4 !== 3) continue;
      await expectSame(await readPaged(scheme, store), state, some(12, random, 420));
      running = await loadInFull(scheme, store);
      expect(running.head).toBe(state.head);
      expect(running.oldest).toBe(state.head);
      expect(rootOf(running)).toBe(rootOf(state));
      expect(running.nextFreeNode()).toBe(state.nextFreeNode());
      runningStore = new PageMap(new Map(store.pages));
      await expectSame(await readPaged(scheme, store), running, some(12, random, 420));
    }
  });
});

describe('an account recreated with its old storage root', () => {
  it('starts from an empty storage trie after loading, as before', async () => {
    const address = addressOf(1);
    const state = await openWithPages('poseidon2');
    const store = new PageMap();
    const slot = (before: number, after: number) => [{ key: wordOf(1), before: wordOf(before), after: wordOf(after) }];
    const account = { nonce: 1n, balance: 1n };
    state.applyBlock(0, [{ address, after: account, destroyed: false, slots: slot(0, 5) }]);
    state.applyBlock(1, [{ address, before: account, after: account, destroyed: false, slots: slot(5, 0) }]);
    const old = bytesToHex(state.account(1, address)!.storageRoot);
    state.applyBlock(2, [{ address, before: account, after: account, destroyed: true, slots: [] }]);
    expect(bytesToHex(state.account(2, address)!.storageRoot)).toBe(old);
    store.commit(state.takePages());
    const loaded = await loadInFull('poseidon2', store);
    const next = [{ address, before: account, after: account, destroyed: false, slots: slot(0, 5) }];
    expect(bytesToHex(loaded.applyBlock(3, next))).toBe(bytesToHex(state.applyBlock(3, next)));
    expect(bytesToHex(loaded.account(3, address)!.storageRoot)).toBe(
      bytesToHex(state.account(3, address)!.storageRoot),
    );
  });
});

describe('pages of 5 000 accounts', () => {
  const opened = (async () => {
    const random = seededRandom(77);
    const state = await openWithPages('poseidon2');
    const store = new PageMap();
    const accounts = Array.from({ length: 5000 }, (_, n) => ({
      address: addressOf(n),
      after: { nonce: 1n, balance: BigInt(n) },
      destroyed: false,
      slots:
        n % 50 === 0
          ? Array.from({ length: 1 + random(150) }, (_, key) => ({
              key: wordOf(key),
              before: wordOf(0),
              after: wordOf(key + 1),
            }))
          : [],
    }));
    state.applyBlock(7, accounts);
    store.commit(state.takePages());
    return { random, state, store };
  })();

  it('are few for a proof, and the strict verifier accepts it', async () => {
    const { random, state, store } = await opened;
    const hasher = referenceHasher('poseidon2');
    for (const n of [...some(8, random, 5000), 50 * random(100), 5001, 5002]) {
      const paged = await readPaged('poseidon2', store);
      const address = addressOf(n);
      const answer = await paged.prove(address, SLOTS.slice(0, 2));
      expect(answer).toEqual(state.prove(7, address, SLOTS.slice(0, 2)));
      const request = { address, storageKeys: SLOTS.slice(0, 2), stateRoot: state.root() };
      expect(verifyLineaProof(hasher, request, JSON.parse(JSON.stringify(answer))).verified).toBe(true);
      // State, root, one or two buckets, two leaf pages and the row above each, and of the storage as many at most.
      expect(paged.pagesRead).toBeLessThanOrEqual(24);
    }
    expect(store.pages.size).toBeGreaterThan(300);
  });

  it('are requested together, however many slots are proved', async () => {
    const { state, store } = await opened;
    const address = addressOf(100);
    const slots = Array.from({ length: 160 }, (_, i) => wordOf(i));
    const paged = await readPaged('poseidon2', store);
    const before = store.rounds;
    expect(await paged.prove(address, slots)).toEqual(state.prove(7, address, slots));
    expect(store.rounds - before).toBeLessThanOrEqual(8);
  });

  it('change only where a block changed the state', async () => {
    const { state, store } = await opened;
    const before = { nonce: 1n, balance: 1001n };
    state.applyBlock(8, [
      { address: addressOf(1001), before, after: { nonce: 2n, balance: 5n }, destroyed: false, slots: [] },
    ]);
    const { puts, deletes } = state.takePages();
    // The page that names the state, the account's leaf page, the row above it and the root page.
    const position = leafOf(state, 1001);
    const expected = ['0', `0/11/${position >> 11}`, `0/5/${position >> 5}`, 'state'];
    expect(puts.map(({ key }) => key).sort()).toEqual(expected);
    expect(deletes).toEqual([]);
    expect(puts.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(20_000);
    store.commit({ puts, deletes });
    expect(state.takePages().puts.map(({ key }) => key)).toEqual(['state']);
  });

  it('are split, merged and deleted as tries grow and shrink', async () => {
    const { state, store } = await opened;
    const account = (n: number) => ({
      address: addressOf(n),
      after: { nonce: 1n, balance: BigInt(n) },
      destroyed: false,
      slots: [],
    });
    const gone = (n: number, slots: number[]) => ({
      address: addressOf(n),
      before: { nonce: 1n, balance: BigInt(n) },
      destroyed: true,
      slots: slots.map((key) => ({ key: wordOf(key), before: wordOf(key + 1), after: wordOf(0) })),
    });
    const check = async () => {
      store.commit(state.takePages());
      expect(rootOf(await loadInFull('poseidon2', store))).toBe(rootOf(state));
    };
    const block = state.head!;
    const buckets = () => [...store.pages.keys()].filter((key) => key.startsWith('0/k'));
    const before = buckets();
    state.applyBlock(block + 1, [gone(17, [])]);
    await check();
    expect(buckets()).toEqual(before);
    // Nine at a time: most of what is split is not changed besides.
    for (let i = 1; i <= 15; i++) {
      state.applyBlock(
        block + 1 + i,
        Array.from({ length: 9 }, (_, j) => account(6000 + 9 * i + j)),
      );
      store.commit(state.takePages());
    }
    await check();
    expect(buckets().length).toBeGreaterThanOrEqual(before.length + 2);
    state.applyBlock(state.head! + 1, [gone(200, [])]);
    await check();
    state.revertTo(block);
    await check();
    expect(buckets().sort()).toEqual(before.sort());
  });

  it('load with progress, and loading can be aborted', async () => {
    const { state, store } = await opened;
    const seen: number[] = [];
    const loaded = await load('poseidon2', store, {
      onProgress: (count, total) => {
        expect(total).toBe(5002);
        seen.push(count);
      },
    });
    expect(rootOf(loaded)).toBe(rootOf(state));
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(5002);
    const stop = new AbortController();
    const [hasher, kernel] = await Promise.all([
      loadHasher('poseidon2'),
      loadTrieKernel('poseidon2', { undo: true, nodes: true }),
    ]);
    const { usedBytes } = kernel.statistics();
    const given = loadWorldState(hasher, kernel, store, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(given).rejects.toMatchObject({ code: 'ABORTED' });
    expect(kernel.statistics().usedBytes).toBe(usedBytes);
  });
});

function leafOf(state: WorldState, n: number): number {
  const item = state.prove(state.head!, addressOf(n), []).accountProof;
  return 'leafIndex' in item ? item.leafIndex : Number.NaN;
}
