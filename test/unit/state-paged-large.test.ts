import { beforeAll, describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { requirePages } from '../../src/state/page-format.js';
import type { WorldState, ZkAccountChange } from '../../src/state/world-state.js';
import { load, openWithPages, PageMap, readPaged } from '../support/paged-state.js';
import { keysOf, some, textOf, unneeded } from '../support/small-pages.js';
import { address, change, set, state, word } from '../support/small-state.js';

/** Above 2 048 positions: two rows of hashes above the leaf pages. 70 accounts have storage: more than are read at once. */
const COUNT = 2_100;
const account = state(1n, 5n);
const created = (n: number): ZkAccountChange => change(n, undefined, account, n <= 70 ? [set(1, 0, n)] : []);

let held: WorldState;
const store = new PageMap();
beforeAll(async () => {
  held = await openWithPages('poseidon2');
  held.applyBlock(0, some(1, COUNT + 1).map(created));
  store.commit(held.takePages());
});

describe('pages of some thousand accounts', () => {
  it('are as many as they need, and few of them are read for a proof', async () => {
    const accounts = keysOf(store).filter((key) => key.startsWith('0'));
    const of = (pattern: RegExp) => accounts.filter((key) => pattern.test(key)).length;
    // 2102 positions with head and tail.
    expect([of(/^0\/5\//), of(/^0\/11\//), of(/^0\/17\//), of(/^0\/k/), accounts.length]).toEqual([66, 2, 0, 33, 102]);
    const hasher = await loadHasher('poseidon2');
    for (const n of [1, 70, 71, 1500, 2099, 2100, 5000]) {
      const source = new PageMap(store.pages);
      const paged = await readPaged('poseidon2', source);
      const answer = await paged.prove(address(n), [word(1)]);
      expect(answer).toEqual(held.prove(0, address(n), [word(1)]));
      const request = { address: address(n), storageKeys: [word(1)], stateRoot: held.root() };
      const verdict = verifyLineaProof(hasher, request, JSON.parse(JSON.stringify(answer)));
      if (!verdict.verified) throw new Error(verdict.reason);
      expect(verdict.account?.nonce).toBe(n > COUNT ? undefined : 1n);
      expect(verdict.slots.map(({ value }) => value)).toEqual([word(n <= 70 ? n : 0)]);
      // The header, the root, a bucket or two, two leaf pages with their rows, and the storage.
      expect(source.asked.size).toBeLessThanOrEqual(9);
      expect(source.rounds).toBeLessThanOrEqual(8);
    }
  });

  it('are requested with the row above, where that is not known', async () => {
    const source = new PageMap(store.pages);
    const paged = await readPaged('poseidon2', source);
    const positionOf = (n: number) => {
      const { accountProof } = held.prove(0, address(n), []);
      return 'leafIndex' in accountProof ? accountProof.leafIndex : 0;
    };
    // The last position of all is under another row.
    const end = some(1, COUNT + 1).find((n) => positionOf(n) === COUNT + 1)!;
    const [first, beside, last] = [1500, 1000, end].map(positionOf) as [number, number, number];
    expect([first, beside, last].map((position) => position >> 11)).toEqual([0, 0, 1]);
    const bucket = [expect.stringMatching(/^0\/k\d+\/\d+$/)];
    await paged.account(address(1500));
    const seen = [['state'], ['0'], bucket, [`0/5/${first >> 5}`, '0/11/0']];
    expect(source.requests).toEqual(seen);
    await paged.account(address(1000));
    seen.push(bucket, [`0/5/${beside >> 5}`]);
    expect(source.requests).toEqual(seen);
    await paged.account(address(end));
    seen.push(bucket, [`0/5/${last >> 5}`, '0/11/1']);
    expect(source.requests).toEqual(seen);
  });

  it('load as they are, with progress', async () => {
    const source = new PageMap(store.pages);
    const told: [number, number][] = [];
    const loaded = await load('poseidon2', source, { check: 'full', onProgress: (...one) => told.push(one) });
    expect(loaded.root()).toEqual(held.root());
    expect([...source.asked].sort()).toEqual(keysOf(store));
    // 64 leaf pages of 32 positions at once, then the rest.
    expect(told).toEqual([
      [2048, 2102],
      [2102, 2102],
      [2102, 2102],
    ]);
    expect(loaded.slot(0, address(70), word(1))).toEqual(word(70));
  });

  it('change only where a block changes the state', async () => {
    held.applyBlock(1, [change(1500, account, state(2n, 5n))]);
    const { puts, deletes } = held.takePages();
    const proof = held.prove(1, address(1500), []).accountProof;
    const position = 'leafIndex' in proof ? proof.leafIndex : 0;
    const expected = ['0', `0/11/${position >> 11}`, `0/5/${position >> 5}`, 'state'];
    expect([puts.map(({ key }) => key).sort(), deletes]).toEqual([expected, []]);
    store.commit({ puts, deletes });
    // A new account: its leaf, those of its neighbours, and its bucket.
    held.applyBlock(2, [created(3000)]);
    const next = held.takePages();
    expect(next.puts.filter(({ key }) => key.startsWith('0/k'))).toHaveLength(1);
    expect(next.puts.length).toBeLessThanOrEqual(8);
    // One that is gone: its leaf, those of its neighbours, and its bucket.
    held.revertTo(1);
    held.takePages();
    held.applyBlock(2, [change(1000, account, undefined, [], true)]);
    const gone = held.takePages();
    expect(gone.puts.filter(({ key }) => key.startsWith('0/k'))).toHaveLength(1);
    expect(gone.puts.length).toBeLessThanOrEqual(8);
    held.revertTo(1);
    held.takePages();
  });

  it('are split one after the other as the state grows, and merged as it is reverted', async () => {
    const before = textOf(store);
    const from = held.head!;
    // Nine at a time: most of what is split is not changed besides.
    for (const step of some(0, 8)) {
      held.applyBlock(
        from + 1 + step,
        some(0, 9).map((i) => created(4000 + 9 * step + i)),
      );
      const changes = held.takePages();
      expect(unneeded(store, changes)).toEqual([]);
      store.commit(changes);
    }
    expect(() => requirePages((key) => store.pages.get(key))).not.toThrow();
    const paged = await readPaged('poseidon2', store);
    for (const n of [1, 2, 70, 1500, COUNT, 4000, 4071, 5000]) {
      expect(await paged.prove(address(n), [word(1)])).toEqual(held.prove(held.head!, address(n), [word(1)]));
    }
    const pages = new PageMap(new Map(store.pages));
    const loaded = await load('poseidon2', pages, { check: 'full' });
    expect(loaded.root()).toEqual(held.root());
    expect(keysOf(pages).filter((key) => key.startsWith('0/k'))).toHaveLength(34);
    expect([...pages.asked].sort()).toEqual(keysOf(pages));
    held.revertTo(from);
    store.commit(held.takePages());
    expect(textOf(store)).toEqual(before);
  });
});
