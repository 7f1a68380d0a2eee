import { describe, expect, onTestFinished, test } from 'vitest';
import { decodeSegment, encodeSegment } from '../../src/chain/devnet/records/checkpoint-codec.js';
import { storedCheckpoint } from '../../src/chain/devnet/storage/checkpoints.js';
import { DevnetStore } from '../../src/chain/devnet/storage/devnet-store.js';
import type { Commit, Key, PageStore, Table } from '../../src/store/page-store.js';
import { StoreHealth } from '../../src/store/store-status.js';
import { reopened, scene } from '../support/failing-store.js';
import { copyOf, openDevnet, portrait, sealScripted } from '../support/stored-devnet.js';

describe('a damaged store of a devnet', () => {
  async function stored(blocks: number) {
    const { store, seal, chain } = await scene();
    await seal(1, blocks);
    await chain.close();
    return store;
  }
  const HEAD = ['meta', 'devnet-head'] as const;
  const put = (table: Table, key: Key, value: Uint8Array): Commit => ({ puts: [{ table, key, value }] });
  const repaired = async (store: PageStore) => {
    const health = new StoreHealth('durable');
    const chain = await openDevnet(store, { health });
    onTestFinished(() => chain.close());
    const { number } = (await chain.head()).header;
    await chain.stateAt(await chain.head());
    return { number, repaired: health.status.repaired, chain };
  };

  test('a damaged or missing head pointer is repaired from the blocks', async () => {
    const store = await stored(12);
    const pointer = (await store.get(...HEAD))!;
    for (let at = 0; at < pointer.length; at++) {
      for (const bit of [1, 4, 64]) {
        const damaged = pointer.slice();
        damaged[at]! ^= bit;
        const copy = await copyOf(store);
        await copy.commit(put(...HEAD, damaged));
        const blocks = new DevnetStore(copy, 59139);
        const repairs: unknown[] = [];
        expect(await blocks.head((repair) => repairs.push(repair))).toBe(12);
        expect(repairs).toHaveLength(1);
      }
    }
    const copy = await copyOf(store);
    await copy.commit({ deletes: [{ table: 'meta', key: 'devnet-head' }] });
    const found = await repaired(copy);
    expect(found.number).toBe(12);
    expect(found.repaired).toEqual([{ table: 'meta', reason: 'the head pointer was missing' }]);
    // It is written again with the next block, or when the devnet is closed.
    const other = await copyOf(copy);
    await sealScripted(found.chain, 13);
    expect((await repaired(copy)).repaired).toBeUndefined();
    await (await repaired(other)).chain.close();
    expect((await repaired(other)).repaired).toBeUndefined();
  });

  test('a pointer of an earlier version without checksum, to an earlier block, loses no block', async () => {
    const store = await stored(12);
    await store.commit(put(...HEAD, new TextEncoder().encode('2')));
    expect(await repaired(store)).toMatchObject({
      number: 12,
      repaired: [{ table: 'meta', reason: 'the head pointer was 2' }],
    });
  });

  test('missing blocks are reported, also at the end', async () => {
    const store = await stored(5);
    const corrupt = (reason: string) => ({ code: 'STORE_CORRUPT', details: { table: 'blocks', reason } });
    const gone = async (...keys: number[]) => {
      const copy = await copyOf(store);
      await copy.commit({ deletes: keys.map((key) => ({ table: 'blocks', key })) });
      return openDevnet(copy);
    };
    await expect(gone(5)).rejects.toMatchObject(corrupt('block 5 is missing'));
    await expect(gone(4, 5)).rejects.toMatchObject(corrupt('block 4 is missing'));
    await expect(gone(0)).rejects.toMatchObject(corrupt('block 0 is missing'));
    await expect(gone(2)).rejects.toMatchObject(corrupt('block 2 is missing'));
    await expect(gone(0, 1, 2, 3, 4, 5)).rejects.toMatchObject(corrupt('all 6 blocks are missing'));
  });

  test('any flipped bit of a block record is reported with the number of the block', async () => {
    const store = await stored(3);
    const value = (await store.get('blocks', 2))!;
    for (let at = 0; at < value.length; at += 7) {
      const damaged = value.slice();
      damaged[at]! ^= 1 << (at % 8);
      const copy = await copyOf(store);
      await copy.commit(put('blocks', 2, damaged));
      const reading = new DevnetStore(copy, 59139).each(0, 3, () => {});
      await expect(reading).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
        details: { table: 'blocks', reason: expect.stringMatching(/^block 2: /) },
      });
    }
  });

  test('any flipped bit of the pending edits is reported', async () => {
    const { store, chain } = await scene();
    const edits = () => new DevnetStore(store, 59139).edits();
    for (const balance of [undefined, 5n]) {
      const address = new Uint8Array(20).fill(0xa1);
      if (balance !== undefined) await chain.control.edit({ kind: 'balance', address, balance });
      const value = (await store.get('meta', 'devnet-edits'))!;
      for (let at = 0; at < value.length; at++) {
        for (let bit = 1; bit < 256; bit *= 2) {
          const damaged = value.slice();
          damaged[at]! ^= bit;
          await store.commit(put('meta', 'devnet-edits', damaged));
          await expect(edits()).rejects.toMatchObject({ code: 'STORE_CORRUPT', details: { table: 'meta' } });
        }
      }
      await store.commit(put('meta', 'devnet-edits', value));
      expect(await edits()).toEqual(balance === undefined ? [] : [{ kind: 'balance', address, balance }]);
    }
  });

  test('edits that cannot be decoded are dropped and reported, and nothing else is lost', async () => {
    for (const blocks of [0, 9]) {
      const { store, seal, chain } = await scene();
      await seal(1, blocks);
      const address = new Uint8Array(20).fill(0xa9);
      await chain.control.edit({ kind: 'balance', address, balance: 5n });
      await chain.close();
      const value = (await store.get('meta', 'devnet-edits'))!;
      await store.commit(put('meta', 'devnet-edits', value.with(3, value[3]! ^ 1)));
      for (const withState of [true, false]) {
        const copy = await copyOf(store);
        if (!withState) await copy.commit({ deletes: [{ table: 'meta', key: 'devnet-checkpoint' }] });
        const found = await repaired(copy);
        expect(found.number).toBe(blocks);
        expect(found.repaired).toEqual([{ table: 'meta', reason: expect.stringContaining('devnet-edits') }]);
        expect(await (await found.chain.stateAt(await found.chain.head())).account(address)).toBeUndefined();
        await sealScripted(found.chain, blocks + 1);
        expect((await repaired(copy)).repaired).toBeUndefined();
      }
    }
  });

  test('a checkpoint that was rebuilt from the blocks is reported', async () => {
    const store = await stored(9);
    const cases: [Table, Key][] = [
      ['meta', 'devnet-checkpoint'],
      ['state', (await store.keys('state'))[0]!],
      ['trie', (await store.keys('trie'))[0]!],
    ];
    for (const [table, key] of cases) {
      const copy = await copyOf(store);
      const value = (await copy.get(table, key))!;
      value[value.length >> 1]! ^= 8;
      await copy.commit(put(table, key, value));
      const found = await repaired(copy);
      expect(found.repaired).toEqual([{ table, reason: expect.stringContaining(String(key)) }]);
    }
  });

  test.each(['sampled', 'full'] as const)('an undamaged state of another block is noticed: %s check', async (check) => {
    const store = await stored(10);
    // As many blocks on the same accounts: its checkpoint is of the same number.
    const foreign = await scene();
    const address = new Uint8Array(20).fill(0xa1);
    for (let number = 1; number <= 10; number++) {
      await foreign.chain.control.edit({ kind: 'balance', address, balance: 99n });
      await foreign.chain.control.mine(1);
    }
    await foreign.chain.close();
    const numbers = [store, foreign.store].map(async (one) => (await storedCheckpoint(one))!.block);
    expect(new Set(await Promise.all(numbers)).size).toBe(1);
    const opened = async (from: PageStore, health?: StoreHealth) => {
      const chain = await openDevnet(from, { check, health });
      onTestFinished(() => chain.close());
      // Asked before the state is loaded.
      const proof = chain.zkProof(address, [], { tag: 'latest' });
      return [await proof, await portrait(chain, 8)];
    };
    const expected = await opened(await copyOf(store));
    for (const table of ['state', 'trie'] as const) {
      const copy = await copyOf(store);
      const [own, theirs] = [await copy.keys(table), await foreign.store.keys(table)];
      const values = await foreign.store.getMany(table, theirs);
      const puts = theirs.map((key, i) => ({ table, key, value: values[i]! }));
      await copy.commit({ deletes: own.map((key) => ({ table, key })), puts });
      const health = new StoreHealth('durable');
      expect(await opened(copy, health)).toEqual(expected);
      expect(health.status.repaired).toEqual([expect.objectContaining({ table })]);
    }
  });

  test('a trie node that does not match its hash is noticed, even if everything else is undamaged', async () => {
    const store = await stored(10);
    const { segments } = (await storedCheckpoint(store))!;
    const expected = await portrait(await reopened(store), 8);
    for (const { number } of segments) {
      const nodes = new Map<string, Uint8Array>();
      decodeSegment(number, await store.get('trie', number), nodes);
      for (const [name, node] of [...nodes].slice(0, 3)) {
        const other = new Map(nodes).set(name, node.with(node.length - 1, node.at(-1)! ^ 1));
        const copy = await copyOf(store);
        await copy.commit(put('trie', number, encodeSegment(number, other)));
        const health = new StoreHealth('durable');
        expect(await portrait(await reopened(copy, { health }), 8)).toEqual(expected);
        const reason = expect.stringContaining('does not match its hash');
        expect(health.status.repaired).toEqual([{ table: 'trie', reason }]);
      }
    }
  });
});
