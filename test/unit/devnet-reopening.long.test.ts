import { RLP } from '@ethereumjs/rlp';
import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, test } from 'vitest';
import { concatBytes } from '../../src/primitives/bytes.js';
import { StoreHealth } from '../../src/store/store-status.js';
import { KeptStore } from '../support/dev-node.js';
import {
  copyOf,
  DyingStore,
  loaded,
  openDevnet,
  openTillEnd,
  portrait,
  sealScripted,
  storedChain,
  TOKEN,
} from '../support/stored-devnet.js';

const CHECKPOINT = 'devnet-checkpoint';

describe('a stored devnet', () => {
  test('is the same when opened after each block, closed or not, as one that never closed', async () => {
    const { store, chain } = await storedChain(0);
    const lasting = await openTillEnd();
    for (let number = 1; number <= 9; number++) {
      const copy = await copyOf(store);
      const reopened = await openTillEnd(copy);
      // What may be asked before the state is loaded, first.
      const first = reopened.zkProof(new Uint8Array(20).fill(0xa1), [], { tag: 'latest' });
      expect(await first).toEqual(await lasting.zkProof(new Uint8Array(20).fill(0xa1), [], { tag: 'latest' }));
      // The tries are held from the newest finalized block on.
      const since = Math.max(0, number - 3);
      expect(await portrait(reopened, since)).toEqual(await portrait(lasting, since));
      for (const each of [lasting, chain, reopened]) await sealScripted(each, number);
      expect((await reopened.head()).hash).toEqual((await lasting.head()).hash);
      await reopened.close();
      // A devnet that is closed leaves a checkpoint of its newest finalized block.
      const closed = Math.max(0, number - 2);
      expect(await loaded(copy, closed, { check: 'full' })).toEqual(await portrait(lasting, closed));
    }
  });

  test('loads its state from a checkpoint, and applies the blocks since', async () => {
    const { store } = await storedChain(11);
    const stages = new Set<string>();
    const reopened = await openTillEnd(await copyOf(store), { onProgress: (stage) => stages.add(stage) });
    await portrait(reopened, 9);
    expect([...stages]).toEqual(['blocks', 'state']);
    await expect(reopened.zkProof(new Uint8Array(20), [], { number: 1 })).rejects.toMatchObject({
      code: 'BLOCK_NOT_PROVABLE',
    });
  });

  test('opens at a stored block, wherever the store was cut off', async () => {
    const lasting = await openTillEnd();
    const hashes: Uint8Array[] = [(await lasting.head()).hash];
    for (let number = 1; number <= 12; number++) {
      await sealScripted(lasting, number);
      hashes.push((await lasting.head()).hash);
    }
    for (let commits = 0; ; commits++) {
      const kept = new KeptStore();
      const dying = new DyingStore(kept, commits);
      const health = new StoreHealth('durable');
      let stored = -1;
      try {
        const chain = await openDevnet(dying, { health });
        stored = 0;
        for (let number = 1; number <= 9; number++) {
          await sealScripted(chain, number);
          if (health.status.mode === 'durable') stored = number;
          else expect(health.status).toMatchObject({ reason: 'STORE_UNAVAILABLE', since: stored + 1 });
        }
        // The chain went on in memory.
        expect((await chain.head()).hash).toEqual(hashes[9]);
        await chain.close();
      } catch (error) {
        expect(stored).toBe(-1);
        expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      }
      const reopened = await openTillEnd(kept);
      const { number } = (await reopened.head()).header;
      expect(number).toBeGreaterThanOrEqual(Math.max(0, stored));
      expect((await reopened.head()).hash).toEqual(hashes[number]);
      await portrait(reopened, Math.max(0, number - 2));
      for (let next = number + 1; next <= number + 3; next++) {
        await sealScripted(reopened, next);
        expect((await reopened.head()).hash).toEqual(hashes[next]);
      }
      await reopened.close();
      if (dying.commits < commits) break;
    }
  });

  // The checkpoint is of a later block than the snapshot, or of one that is not final any more.
  test.each([
    [3, 12],
    [5, 7],
  ])('reverts to block %i from block %i, and can be reopened there', async (back, head) => {
    const { store, chain } = await storedChain(back);
    const lasting = await openTillEnd();
    for (let number = 1; number <= back; number++) await sealScripted(lasting, number);
    const ids = [await chain.control.snapshot(), await lasting.control.snapshot()];
    for (const each of [chain, lasting]) {
      for (let number = back + 1; number <= head; number++) await sealScripted(each, number);
    }
    expect(await store.get('meta', CHECKPOINT)).toBeDefined();
    await chain.control.revert(ids[0]!);
    await lasting.control.revert(ids[1]!);
    expect(await portrait(await openTillEnd(await copyOf(store)), back - 2)).toEqual(await portrait(lasting, back - 2));
    for (let number = back + 1; number <= back + 6; number++) {
      for (const each of [chain, lasting]) await sealScripted(each, number);
      const shown = await portrait(await openTillEnd(await copyOf(store)), number - 2);
      expect(shown).toEqual(await portrait(lasting, number - 2));
      const isThere = (await store.get('meta', CHECKPOINT)) !== undefined;
      if (isThere) expect(await loaded(await copyOf(store), number - 2, { check: 'full' })).toEqual(shown);
      else expect(number).toBeLessThan(back + 4);
    }
  });

  test('proves from its pages before the state is loaded, and is closed while it loads', async () => {
    const { store, chain } = await storedChain(9);
    await chain.close();
    const seen: string[] = [];
    const options = { onProgress: (stage: string, fraction: number) => seen.push(`${stage} ${fraction}`) };
    const reopened = await openTillEnd(store, options);
    expect(await reopened.zkProof(TOKEN, [], { tag: 'latest' })).toBeDefined();
    expect(seen).toEqual(['blocks 1']);
    await reopened.close();
    expect(seen).not.toContain('state 1');
  });

  test.each(['flip', 'delete'])('does not open when the record of a block is damaged: %s', async (how) => {
    const { store } = await storedChain(6);
    const value = (await store.get('blocks', 2))!;
    value[60]! ^= 1;
    const [table, key] = ['blocks', 2] as const;
    await store.commit(how === 'flip' ? { puts: [{ table, key, value }] } : { deletes: [{ table, key }] });
    await expect(openDevnet(store)).rejects.toMatchObject({ code: 'STORE_CORRUPT', details: { table: 'blocks' } });
  });

  test('finds damage that the checksum misses when the block is read, or on opening with a full check', async () => {
    const { store } = await storedChain(6);
    const record = (await store.get('blocks', 2))!;
    const items = RLP.decode(record, true).data as [Uint8Array, Uint8Array[], Uint8Array[][]];
    items[2][0]![0] = Uint8Array.of(2, 0xc0);
    const encoded = RLP.encode(items);
    const value = concatBytes(encoded, sha256(encoded).subarray(0, 8));
    await store.commit({ puts: [{ table: 'blocks', key: 2, value }] });
    const corrupt = { code: 'STORE_CORRUPT', details: expect.objectContaining({ table: 'blocks' }) };
    const chain = await openTillEnd(await copyOf(store));
    const [block, next] = [(await chain.block({ number: 2 }))!, (await chain.block({ number: 3 }))!];
    expect(() => block.transactions).toThrow(expect.objectContaining(corrupt));
    expect(next.transactions.length).toBe(1);
    expect(block.hash).toEqual(next.header.parentHash);
    await expect(openDevnet(store, { check: 'full' })).rejects.toMatchObject(corrupt);
  });
});
