import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { hashAddress } from '../../src/accumulator/keys.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { bigIntToBytes, compareBytes, concatBytes, equalBytes } from '../../src/primitives/bytes.js';
import { loadWorldState } from '../../src/state/load-world-state.js';
import type { WorldState } from '../../src/state/world-state.js';
import { load, type PageMap, readPaged, reseal } from '../support/paged-state.js';
import { COUNT, keysOf, openSmallPages, some } from '../support/small-pages.js';
import { address, word } from '../support/small-state.js';

let held: WorldState;
/** The pages after each block. */
let stores: PageMap[];
beforeAll(async () => {
  ({ held, stores } = await openSmallPages());
});

describe('a damaged page', () => {
  afterEach(() => vi.restoreAllMocks());

  const corrupt = (key: string, reason: string) =>
    expect.objectContaining({ code: 'STORE_CORRUPT', message: `stored state, page ${key}: ${reason}` });
  const edited = (key: string, edit: (content: Uint8Array) => void, store = stores[2]!) =>
    store.with(key, reseal(key, store.pages.get(key)!, edit));
  const flipAt = (at: number) => (content: Uint8Array) => {
    content[at < 0 ? content.length + at : at]! ^= 1;
  };

  it('is named when it is missing', async () => {
    for (const key of stores[2]!.pages.keys()) {
      const store = stores[2]!.with(key, undefined);
      await expect(load('poseidon2', store, { check: 'full' })).rejects.toEqual(corrupt(key, 'missing'));
    }
  });

  it('is named when it does not follow from the others', async () => {
    // A leaf's hash: the row above does not follow from it. A key of the index, which is no part of the hash.
    const keys = '0/k1/0';
    await expect(load('poseidon2', edited(keys, flipAt(-1)), { check: 'full' })).rejects.toEqual(
      corrupt(keys, 'does not follow from the leaves'),
    );
    expect((await load('poseidon2', edited(keys, flipAt(-1)))).root()).toEqual(held.root(2));
    await expect(load('poseidon2', edited('0/5/1', flipAt(20)))).rejects.toEqual(
      corrupt('0', 'the loaded state has another root than the stored header'),
    );
    await expect(load('poseidon2', edited('state', flipAt(-1)))).rejects.toEqual(
      corrupt('0', 'the loaded state has another root than the stored header'),
    );
  });

  it('is named when a value is not that of its leaf', async () => {
    // The last account of the last leaf page: before its flags, the code size.
    const store = edited('0/5/2', flipAt(-2));
    await expect(load('poseidon2', store, { check: 'full' })).rejects.toEqual(
      expect.objectContaining({ code: 'STORE_CORRUPT', message: expect.stringContaining('page 0/5/2: ') }),
    );
    const paged = await readPaged('poseidon2', store);
    const position = held.nextFreeNode(2) - 1;
    const refused = (await Promise.allSettled(some(36, COUNT).map((n) => paged.account(address(n))))).filter(
      ({ status }) => status === 'rejected',
    );
    expect(refused).toEqual([
      { status: 'rejected', reason: corrupt('0/5/2', `the value at position ${position} does not match its hash`) },
    ]);
    // Of a single page: the last account of all.
    const last = held.nextFreeNode(0) - 1;
    const single = await readPaged('poseidon2', edited('0', flipAt(-2), stores[0]!));
    const answers = await Promise.allSettled(some(1, 21).map((n) => single.account(address(n))));
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([
      { status: 'rejected', reason: corrupt('0', `the value at position ${last} does not match its hash`) },
    ]);
  });

  it('is noticed for one value of each page, unless each is to be checked', async () => {
    const last = held.nextFreeNode(2) - 1;
    const message = `the value at position ${last} does not match its hash`;
    const refused = corrupt('0/5/2', message);
    // A balance: 32 bytes from the 32nd of the value. The flags are one byte, the checksum is not part of it.
    const store = edited('0/5/2', flipAt(-1 - 192 + 63));
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    expect((await load('poseidon2', store)).root()).toEqual(held.root(2));
    await expect(load('poseidon2', store, { check: 'full' })).rejects.toEqual(refused);
    random.mockReturnValue(0.999);
    await expect(load('poseidon2', store)).rejects.toEqual(refused);
    await expect(load('poseidon2', store, { check: 'sampled' })).rejects.toEqual(refused);
  });

  it('is named when an account with a storage root has none stored', async () => {
    const [position] = keysOf(stores[0]!).filter((key) => !/^(0|state)/.test(key));
    // The flags follow the value of each account: 4 bytes of used positions, then 264 and one byte of flags each.
    const at = 1 + 4 + 4 + 2 * 72 + (Number(position) - 2) * (72 + 192 + 1) + 72 + 192;
    const store = edited(
      '0',
      (content) => {
        expect(content[at]).toBe(1);
        content[at] = 0;
      },
      stores[0]!,
    );
    const paged = await readPaged('poseidon2', store);
    await expect(paged.account(address(5))).rejects.toEqual(
      corrupt(position!, 'the account has a storage root, but no storage is stored'),
    );
    await expect(load('poseidon2', store)).rejects.toEqual(
      corrupt(position!, 'the loaded storage has another root than the account'),
    );
    expect(await paged.account(address(4))).toEqual(held.account(0, address(4)));
  });

  it('of storage is named when it does not lead to the root of the account', async () => {
    const [position] = keysOf(stores[0]!).filter((key) => !/^(0|state)/.test(key));
    const store = edited(position!, flipAt(5 + 4 + 2 * 72 + 3), stores[0]!);
    const paged = await readPaged('poseidon2', store);
    await expect(paged.slot(address(5), word(1))).rejects.toEqual(corrupt(position!, 'does not lead to the root'));
    expect(await paged.account(address(5))).toEqual(held.account(0, address(5)));
    await expect(load('poseidon2', store)).rejects.toEqual(
      corrupt(position!, 'the loaded storage has another root than the account'),
    );
  });

  it('of leaves is named when the page above has another hash', async () => {
    const paged = await readPaged('poseidon2', edited('0/5/1', flipAt(20)));
    const answers = await Promise.allSettled(some(1, COUNT).map((n) => paged.account(address(n))));
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(reasons.length).toBeGreaterThan(10);
    for (const reason of reasons) expect(reason).toEqual(corrupt('0/5/1', 'does not match the page above'));
    expect(answers.length - reasons.length).toBeGreaterThan(10);
  });

  it('of keys hides none: what it says is compared with the leaves', async () => {
    for (const key of ['0/k1/0', '0/k1/1']) {
      const page = stores[2]!.pages.get(key)!;
      const entries = (page.length - 9) / 36;
      for (const entry of [1, entries - 2]) {
        const at = 1 + 36 * entry;
        const shorter = reseal(key, concatBytes(page.slice(0, at), page.slice(at + 36)), () => undefined);
        const paged = await readPaged('poseidon2', stores[2]!.with(key, shorter));
        const answers = await Promise.allSettled(some(1, COUNT).map((n) => paged.account(address(n))));
        const refused = answers.filter(({ status }) => status === 'rejected');
        expect(refused).toEqual([
          { status: 'rejected', reason: corrupt('0', 'the key index does not match the leaves') },
        ]);
        for (const [i, answer] of answers.entries()) {
          if (answer.status === 'fulfilled') expect(answer.value).toEqual(held.account(2, address(i + 1)));
        }
      }
    }
  });

  describe('of keys that has been changed', () => {
    type Entry = { hkey: Uint8Array; position: number };
    const broken = corrupt('0', 'the key index does not match the leaves');
    /** The pages with other entries in a bucket: 32 bytes of a key, 4 of a position, ascending. */
    function withEntries(key: string, edit: (entries: Entry[]) => Entry[]): PageMap {
      const page = stores[2]!.pages.get(key)!;
      const entries = Array.from({ length: (page.length - 9) / 36 }, (_, i) => {
        const entry = page.slice(1 + 36 * i, 37 + 36 * i);
        return { hkey: entry.slice(0, 32), position: new DataView(entry.buffer).getUint32(32) };
      });
      const bytes = edit(entries).flatMap(({ hkey, position }) => [hkey, bigIntToBytes(BigInt(position), 4)]);
      return stores[2]!.with(
        key,
        reseal(key, concatBytes(page.slice(0, 1), ...bytes, page.slice(-8)), () => undefined),
      );
    }
    /** Accounts in the order of their hashed keys; the third was destroyed. */
    let ordered: { n: number; hkey: Uint8Array }[];
    beforeAll(async () => {
      const hasher = await loadHasher('poseidon2');
      const all = some(1, COUNT).map((n) => ({ n, hkey: hashAddress(hasher, address(n)) }));
      ordered = all.sort((a, b) => compareBytes(a.hkey, b.hkey)).filter(({ n }) => n !== 3);
    });
    const near = (entries: Entry[], i: number) => ordered.find(({ hkey }) => equalBytes(hkey, entries[i]!.hkey))!.n;

    it('is refused where it names no key that is small enough', async () => {
      const paged = await readPaged(
        'poseidon2',
        withEntries('0/k1/0', () => []),
      );
      await expect(paged.account(address(ordered[0]!.n))).rejects.toEqual(broken);
      await expect(paged.prove(address(ordered[0]!.n), [])).rejects.toEqual(broken);
    });

    it('is refused where it names a position without a leaf', async () => {
      const free = held.nextFreeNode(2);
      // The position of the account that was destroyed: as it was created, after head and tail.
      const before = held.prove(1, address(3), []).accountProof;
      const removed = 'leafIndex' in before ? before.leafIndex : 0;
      expect(removed).toBeGreaterThan(1);
      for (const position of [free, 2 ** 31, removed]) {
        let n = 0;
        const store = withEntries('0/k1/0', (entries) => {
          n = near(entries, 4);
          return entries.with(4, { hkey: entries[4]!.hkey, position });
        });
        const paged = await readPaged('poseidon2', store);
        await expect(paged.account(address(n))).rejects.toEqual(broken);
      }
    });

    it('is refused where it names the leaf of a larger or smaller key', async () => {
      for (const other of [3, 5]) {
        let n = 0;
        const store = withEntries('0/k1/0', (entries) => {
          n = near(entries, 4);
          return entries.with(4, { hkey: entries[4]!.hkey, position: entries[other]!.position });
        });
        const paged = await readPaged('poseidon2', store);
        await expect(paged.account(address(n))).rejects.toEqual(broken);
        await expect(paged.prove(address(n), [])).rejects.toEqual(broken);
      }
    });
  });

  it('is refused where a word is no field element', async () => {
    const wide = (content: Uint8Array) => content.fill(0xff, 1 + 4 + 8 + 32, 1 + 4 + 8 + 64);
    const store = edited('0/5/1', wide);
    await expect(load('poseidon2', store)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    const paged = await readPaged('poseidon2', store);
    const answers = await Promise.allSettled(some(1, COUNT).map((n) => paged.account(address(n))));
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(reasons.length).toBeGreaterThan(10);
    for (const { code, message, cause } of reasons) {
      expect([code, message]).toEqual(['STORE_CORRUPT', expect.stringMatching(/page 0\/5\/1: /)]);
      expect(cause).toMatchObject({ code: 'HASH_INPUT_NOT_CANONICAL' });
    }
  });

  it('is refused where a key is that of the head', async () => {
    const store = edited('0/5/1', (content) => content.fill(0, 1 + 4 + 8, 1 + 4 + 8 + 32));
    await expect(load('poseidon2', store)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringMatching(/^stored state, page 0\/5\/1: hkey is that of head or tail/),
      cause: { code: 'OUT_OF_RANGE' },
    });
  });

  it('leaves nothing in the memory of the kernel', async () => {
    const kernel = await loadTrieKernel('poseidon2', { undo: true, nodes: true });
    const hasher = await loadHasher('poseidon2');
    const { usedBytes } = kernel.statistics();
    for (const [key, store] of [
      ['0/5/2', stores[2]!],
      ['0', stores[0]!],
    ] as const) {
      await expect(
        loadWorldState(hasher, kernel, edited(key, flipAt(-20), store), { check: 'full' }),
      ).rejects.toThrow();
      expect(kernel.statistics().usedBytes).toBe(usedBytes);
    }
    expect((await loadWorldState(hasher, kernel, stores[2]!)).root()).toEqual(held.root(2));
    expect(kernel.statistics().usedBytes).toBeGreaterThan(usedBytes);
  });
});
