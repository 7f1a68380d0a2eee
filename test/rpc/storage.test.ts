import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import 'fake-indexeddb/auto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { openIdbStore } from '../../src/store/idb-store.js';
import { accountAt } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { lightScene } from '../support/light-node.js';
import { freshName, grow, opened } from '../support/storage-scene.js';

describe('storage()', () => {
  test('tells what a devnet keeps, and nothing of a node in memory', async () => {
    const storeName = freshName();
    const dev = await opened({ storeName, storage: { durability: 'strict', budgets: { devnet: 10 ** 7 } } });
    await grow(dev);
    const { tables, bytes, devnet: own, ...rest } = await dev.node.storage();
    expect(rest).toEqual({ status: { mode: 'durable' }, durability: 'strict' });
    expect(tables.blocks.records).toBe(7);
    const store = await openIdbStore(storeName);
    const blocks = await store.getMany('blocks', await store.keys('blocks'));
    expect(tables.blocks.bytes).toBe(blocks.reduce((sum, value) => sum + value!.length + 8, 0));
    await store.close();
    expect(bytes).toBe(Object.values(tables).reduce((sum, table) => sum + table.bytes, 0));
    expect(own).toEqual({ bytes: tables.blocks.bytes + tables.state.bytes + tables.trie.bytes, budget: 10 ** 7 });
    expect(tables.dictionaries.budget).toBe(2 ** 20);

    const inMemory = await (await opened({})).node.storage();
    expect(inMemory).toMatchObject({ status: { mode: 'memory' }, bytes: 0, devnet: { bytes: 0 } });
    expect(inMemory.durability).toBeUndefined();
  });

  test('answers with its status and the reason while the store cannot be read', async () => {
    const storeName = freshName();
    const { node } = await opened({ storeName });
    const transact = IDBDatabase.prototype.transaction;
    const spy = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(() => {
      throw new DOMException('the server was lost', 'UnknownError');
    });
    onTestFinished(() => spy.mockRestore());
    const { status, bytes, durability } = await node.storage();
    const message = 'the store is not available: the server was lost';
    expect(status).toEqual({ mode: 'memory', reason: 'STORE_UNAVAILABLE', message });
    expect([bytes, durability]).toEqual([0, 'relaxed']);
    spy.mockImplementation(function (this: IDBDatabase, ...args) {
      return transact.apply(this, args as Parameters<typeof transact>);
    });
    expect(await node.storage()).toMatchObject({ status: { mode: 'durable' }, tables: { blocks: { records: 1 } } });
  });

  test('carries what the browser says, and is silent where it says nothing', async () => {
    const { node } = await opened({});
    expect(await node.storage()).not.toHaveProperty('origin');
    const storage = { estimate: async () => ({ usage: 10, quota: 100 }), persisted: async () => false };
    vi.stubGlobal('navigator', { storage });
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    expect(await node.storage()).toMatchObject({ origin: { usage: 10, quota: 100 }, persisted: false });
    storage.estimate = () => Promise.reject(new TypeError('not a secure context'));
    expect(await node.storage()).not.toHaveProperty('origin');
  });

  test('of a light node: each table with its budget', async () => {
    const scene = await lightScene({ more: { storeName: freshName(), storage: { budgets: { proofs: 100_000 } } } });
    for (let nonce = 0; nonce < 6; nonce++) await scene.dev.transfer(0, { nonce });
    await scene.ask('linea_getProof', accountAt(0), [], 'latest');
    await eventually(async () => {
      const { tables } = await scene.light.storage();
      expect(tables.proofs).toMatchObject({ records: 1, budget: 100_000 });
      expect(tables.finalizations.records).toBe(1);
    });
    expect((await scene.light.storage()).devnet).toBeUndefined();
  });

  test.each([{ budgets: { devnet: -1 } }, { budgets: { codes: 1.5 } }, { durability: 'sometimes' as never }])(
    'options that are none are refused: %o',
    async (storage) => {
      await expect(createInlineNode({ storage })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
    },
  );
});

test('layer 1 of a stored devnet is whole for the first who asks', async () => {
  const storeName = freshName();
  const dev = await opened({ storeName });
  await grow(dev, 40);
  const latest = { method: 'eth_getBlockByNumber', params: ['latest', false] };
  const before = await dev.node.l1.request<UntypedMethod>(latest);
  await dev.node.close();
  expect(await (await opened({ storeName })).node.l1.request<UntypedMethod>(latest)).toEqual(before);
});
