import { describe, expect, test } from 'vitest';
import { storedCheckpoint } from '../../src/chain/devnet/storage/checkpoints.js';
import { PlumblineError } from '../../src/errors.js';
import type { Key, PageStore, Table } from '../../src/store/page-store.js';
import { KeptStore } from '../support/dev-node.js';
import {
  copyOf,
  earlierAlloc,
  loaded,
  openTillEnd,
  portrait,
  sealScripted,
  storedChain,
} from '../support/stored-devnet.js';

async function bytesOf(store: PageStore, table: Table): Promise<number> {
  const values = await store.getMany(table, await store.keys(table));
  return values.reduce((sum, value) => sum + value!.length, 0);
}

describe('a stored devnet', () => {
  test.each([1, 3])(
    'writes checkpoints even if it is always closed before one is due: after %i blocks',
    async (blocks) => {
      let { store } = await storedChain(0);
      const checkpoints = { everyBlocks: 6, lazyBytes: 0 };
      const lasting = await openTillEnd();
      let number = 0;
      while (number < 21) {
        // As a page that is reloaded leaves it: the devnet is not closed.
        store = await copyOf(store);
        const chain = await openTillEnd(store, { checkpoints });
        await chain.stateAt(await chain.head());
        for (const end = number + blocks; number < end; ) {
          number++;
          for (const each of [chain, lasting]) await sealScripted(each, number);
        }
        const { block } = (await storedCheckpoint(store))!;
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
    const checkpoint = (await storedCheckpoint(copy))!;
    const earlier = await storedChain(checkpoint.block - 4);
    for (const table of ['state', 'trie'] as const) {
      for (const key of await copy.keys(table)) await copy.commit({ deletes: [{ table, key }] });
      for (const key of await earlier.store.keys(table)) {
        await copy.commit({ puts: [{ table, key, value: (await earlier.store.get(table, key))! }] });
      }
    }
    const reopened = await openTillEnd(copy, { check: 'full' });
    expect(await portrait(reopened, 9)).toEqual(expected);
    for (let number = 12; number <= 18; number++)
      for (const each of [chain, reopened]) await sealScripted(each, number);
    expect(await loaded(copy, 16, { check: 'full' })).toEqual(await portrait(chain, 16));
  });

  test('continues when only checkpoints cannot be written', async () => {
    const store = new KeptStore();
    const full = new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {});
    const kept = store.commit.bind(store);
    store.commit = (commit) =>
      commit.puts?.some(({ table }) => table === 'state') ? Promise.reject(full) : kept(commit);
    const chain = await openTillEnd(store);
    for (let number = 1; number <= 9; number++) await sealScripted(chain, number);
    expect(await store.keys('state')).toEqual([]);
    expect(await portrait(await openTillEnd(await copyOf(store)), 7)).toEqual(await portrait(chain, 7));
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
    damages.push(['meta', 'devnet-checkpoint', 'flip'], ['meta', 'devnet-checkpoint', 'delete']);
    for (const [table, key, how] of damages) {
      const copy = await copyOf(store);
      const value = (await copy.get(table, key))!;
      value[Math.floor(value.length / 2)]! ^= 4;
      await copy.commit(how === 'flip' ? { puts: [{ table, key, value }] } : { deletes: [{ table, key }] });
      const reopened = await openTillEnd(copy, { check: 'full' });
      expect(await portrait(reopened, 8)).toEqual(expected);
      await reopened.close();
    }
    for (const table of ['state', 'trie'] as const) {
      const copy = await copyOf(store);
      await copy.commit({ deletes: (await copy.keys(table)).map((key) => ({ table, key })) });
      await copy.commit({ puts: [{ table, key: 9999, value: Uint8Array.of(1) }] });
      const reopened = await openTillEnd(copy);
      expect(await portrait(reopened, 8)).toEqual(expected);
      await reopened.close();
      expect(await copy.keys(table)).not.toContain(9999);
      // A new checkpoint has been written.
      expect(await loaded(copy, 8)).toEqual(expected);
    }
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
