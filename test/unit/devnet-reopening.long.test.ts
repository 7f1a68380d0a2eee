import { RLP } from '@ethereumjs/rlp';
import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Devnet } from '../../src/chain/devnet/devnet.js';
import type { DevnetSettings } from '../../src/chain/devnet/options.js';
import { Checkpoints } from '../../src/chain/devnet/storage/checkpoints.js';
import { PlumblineError } from '../../src/errors.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import type { Key, PageStore, Table } from '../../src/store/page-store.js';
import { StoreHealth } from '../../src/store/store-status.js';
import { KeptStore } from '../support/dev-node.js';
import {
  copyOf,
  DyingStore,
  earlierAlloc,
  openDevnet,
  portrait,
  sealScripted,
  TOKEN,
} from '../support/stored-devnet.js';

const CHECKPOINT = 'devnet-checkpoint';

async function open(...given: Parameters<typeof openDevnet>): Promise<Devnet> {
  const chain = await openDevnet(...given);
  onTestFinished(() => chain.close());
  return chain;
}

/** What a devnet on this store shows, its state loaded from a checkpoint: nothing was rebuilt from genesis. */
async function loaded(store: PageStore, since: number, more: Partial<DevnetSettings> = {}): Promise<unknown> {
  const stages = new Set<string>();
  const chain = await open(store, { ...more, onProgress: (stage) => stages.add(stage) });
  const shown = await portrait(chain, since);
  expect([...stages]).toContain('state');
  expect([...stages]).not.toContain('genesis');
  await chain.close();
  return shown;
}

/** A store after so many blocks, and the devnet that wrote it. */
async function storedChain(blocks: number, more: Partial<DevnetSettings> = {}) {
  const store = new KeptStore();
  const chain = await open(store, more);
  for (let number = 1; number <= blocks; number++) await sealScripted(chain, number);
  return { store, chain };
}

async function bytesOf(store: PageStore, table: Table): Promise<number> {
  const values = await store.getMany(table, await store.keys(table));
  return values.reduce((sum, value) => sum + value!.length, 0);
}

describe('a stored devnet', () => {
  test('is the same when opened after each block, closed or not, as one that never closed', async () => {
    const { store, chain } = await storedChain(0);
    const lasting = await open();
    for (let number = 1; number <= 9; number++) {
      const copy = await copyOf(store);
      const reopened = await open(copy);
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
    const reopened = await open(await copyOf(store), { onProgress: (stage) => stages.add(stage) });
    await portrait(reopened, 9);
    expect([...stages]).toEqual(['blocks', 'state']);
    await expect(reopened.zkProof(new Uint8Array(20), [], { number: 1 })).rejects.toMatchObject({
      code: 'BLOCK_NOT_PROVABLE',
    });
  });

  test('opens at a stored block, wherever the store was cut off', async () => {
    const lasting = await open();
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
      const reopened = await open(kept);
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
    const lasting = await open();
    for (let number = 1; number <= back; number++) await sealScripted(lasting, number);
    const ids = [await chain.control.snapshot(), await lasting.control.snapshot()];
    for (const each of [chain, lasting]) {
      for (let number = back + 1; number <= head; number++) await sealScripted(each, number);
    }
    expect(await store.get('meta', CHECKPOINT)).toBeDefined();
    await chain.control.revert(ids[0]!);
    await lasting.control.revert(ids[1]!);
    expect(await portrait(await open(await copyOf(store)), back - 2)).toEqual(await portrait(lasting, back - 2));
    for (let number = back + 1; number <= back + 6; number++) {
      for (const each of [chain, lasting]) await sealScripted(each, number);
      const shown = await portrait(await open(await copyOf(store)), number - 2);
      expect(shown).toEqual(await portrait(lasting, number - 2));
      const isThere = (await store.get('meta', CHECKPOINT)) !== undefined;
      if (isThere) expect(await loaded(await copyOf(store), number - 2, { check: 'full' })).toEqual(shown);
      else expect(number).toBeLessThan(back + 4);
    }
  });

  test.each([1, 3])(
    'writes checkpoints even if it is always closed before one is due: after %i blocks',
    async (blocks) => {
      let { store } = await storedChain(0);
      const checkpoints = { everyBlocks: 6, lazyBytes: 0 };
      const lasting = await open();
      let number = 0;
      while (number < 21) {
        // As a page that is reloaded leaves it: the devnet is not closed.
        store = await copyOf(store);
        const chain = await open(store, { checkpoints });
        await chain.stateAt(await chain.head());
        for (const end = number + blocks; number < end; ) {
          number++;
          for (const each of [chain, lasting]) await sealScripted(each, number);
        }
        const { block } = (await new Checkpoints(store, new Uint8Array(32)).read())!;
        // Due after six blocks, and written when its block is final, two blocks later.
        expect(number - block).toBeLessThan(12);
      }
      expect(await loaded(store, number - 2, { check: 'full' })).toEqual(await portrait(lasting, number - 2));
    },
  );

  test('restarts its checkpoints if the stored one does not lead to the later blocks', async () => {
    const { store, chain } = await storedChain(11);
    const expected = await portrait(chain, 9);
    // A checkpoint that fits its checksums and says another block: the blocks after it do not follow from its state.
    const copy = await copyOf(store);
    const checkpoint = (await new Checkpoints(copy, new Uint8Array(32)).read())!;
    const earlier = await storedChain(checkpoint.block - 4);
    for (const table of ['state', 'trie'] as const) {
      for (const key of await copy.keys(table)) await copy.commit({ deletes: [{ table, key }] });
      for (const key of await earlier.store.keys(table)) {
        await copy.commit({ puts: [{ table, key, value: (await earlier.store.get(table, key))! }] });
      }
    }
    const reopened = await open(copy, { check: 'full' });
    expect(await portrait(reopened, 9)).toEqual(expected);
    for (let number = 12; number <= 18; number++)
      for (const each of [chain, reopened]) await sealScripted(each, number);
    expect(await loaded(copy, 16, { check: 'full' })).toEqual(await portrait(chain, 16));
  });

  test('proves from its pages before the state is loaded, and is closed while it loads', async () => {
    const { store, chain } = await storedChain(9);
    await chain.close();
    const seen: string[] = [];
    const options = { onProgress: (stage: string, fraction: number) => seen.push(`${stage} ${fraction}`) };
    const reopened = await open(store, options);
    expect(await reopened.zkProof(TOKEN, [], { tag: 'latest' })).toBeDefined();
    expect(seen).toEqual(['blocks 1']);
    await reopened.close();
    expect(seen).not.toContain('state 1');
  });

  test('continues when only checkpoints cannot be written', async () => {
    const store = new KeptStore();
    const full = new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {});
    const kept = store.commit.bind(store);
    store.commit = (commit) =>
      commit.puts?.some(({ table }) => table === 'state') ? Promise.reject(full) : kept(commit);
    const chain = await open(store);
    for (let number = 1; number <= 9; number++) await sealScripted(chain, number);
    expect(await store.keys('state')).toEqual([]);
    expect(await portrait(await open(await copyOf(store)), 7)).toEqual(await portrait(chain, 7));
    store.commit = kept;
    for (let number = 10; number <= 15; number++) await sealScripted(chain, number);
    expect(await store.keys('state')).not.toEqual([]);
    expect(await loaded(await copyOf(store), 13, { check: 'full' })).toEqual(await portrait(chain, 13));
  });

  test('is rebuilt from its blocks when anything of the checkpoint is damaged or missing', async () => {
    const { store, chain } = await storedChain(10);
    const expected = await portrait(chain, 8);
    const damages: [Table, Key, 'flip' | 'delete'][] = [];
    for (const table of ['state', 'trie'] as const) {
      for (const key of await store.keys(table)) damages.push([table, key, 'flip']);
    }
    damages.push(['meta', CHECKPOINT, 'flip'], ['meta', CHECKPOINT, 'delete']);
    for (const [table, key, how] of damages) {
      const copy = await copyOf(store);
      const value = (await copy.get(table, key))!;
      value[Math.floor(value.length / 2)]! ^= 4;
      await copy.commit(how === 'flip' ? { puts: [{ table, key, value }] } : { deletes: [{ table, key }] });
      const reopened = await open(copy, { check: 'full' });
      expect(await portrait(reopened, 8)).toEqual(expected);
      await reopened.close();
    }
    for (const table of ['state', 'trie'] as const) {
      const copy = await copyOf(store);
      await copy.commit({ deletes: (await copy.keys(table)).map((key) => ({ table, key })) });
      await copy.commit({ puts: [{ table, key: 9999, value: Uint8Array.of(1) }] });
      const reopened = await open(copy);
      expect(await portrait(reopened, 8)).toEqual(expected);
      await reopened.close();
      expect(await copy.keys(table)).not.toContain(9999);
      // A new checkpoint has been written.
      expect(await loaded(copy, 8)).toEqual(expected);
    }
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
    const chain = await open(await copyOf(store));
    const [block, next] = [(await chain.block({ number: 2 }))!, (await chain.block({ number: 3 }))!];
    expect(() => block.transactions).toThrow(expect.objectContaining(corrupt));
    expect(next.transactions.length).toBe(1);
    expect(block.hash).toEqual(next.header.parentHash);
    await expect(openDevnet(store, { check: 'full' })).rejects.toMatchObject(corrupt);
  });

  test('holds no more old states than configured', async () => {
    // The system contracts keep a ring of 8 191 values each, which grows for long.
    const { store, chain } = await storedChain(6, { alloc: earlierAlloc() });
    const rows = async () => [await bytesOf(store, 'state'), await bytesOf(store, 'trie')] as const;
    const [state, trie] = await rows();
    for (let round = 0; round < 60; round++) {
      for (let i = 0; i < 4; i++) {
        // A bystander.
        const address = new Uint8Array(20).map((_, at) => (at % 2) * (1 + ((4 * round + i) % 150)));
        await chain.control.edit({ kind: 'balance', address, balance: BigInt(1000 + round) });
      }
      await chain.control.mine(1);
    }
    const [stateAfter, trieAfter] = await rows();
    expect(stateAfter).toBeLessThan(state + 1000);
    // Twice the trie, and 2 000 bytes.
    expect(trieAfter).toBeLessThan(2 * trie + 4000);
    // It was written anew, and what was old is gone.
    expect(await store.keys('trie')).not.toContain(0);
    expect(await loaded(await copyOf(store), 64, { check: 'full' })).toEqual(await portrait(chain, 64));
  });
});
