import 'fake-indexeddb/auto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { decodeBlockRecord, encodeBlockRecord } from '../../src/chain/devnet/block-record.js';
import {
  type ChainFile,
  type ChainFileEntry,
  decodeChainFile,
  encodeChainFile,
} from '../../src/chain/devnet/chain-file.js';
import { PlumblineError } from '../../src/errors.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/inline.js';
import type { PlumblineNode } from '../../src/hosts/node-handle.js';
import { devnet } from '../../src/networks/devnet.js';
import { openIdbStore } from '../../src/store/idb-store.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Commit, PageStore } from '../../src/store/page-store.js';
import { TABLES } from '../../src/store/schema.js';
import { accountAt, devNode, KeptStore, stranger } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';

let count = 0;
const freshName = () => `storage-${count++}`;
const CHAIN = { kind: 'devnet', scheme: 'poseidon2' } as const;

async function opened(options: InlineOptions) {
  return devNode({ chain: CHAIN, ...options });
}

/** Blocks of transfers, with edits among them, the last of which waits. */
async function grow({ ask, transfer }: Awaited<ReturnType<typeof opened>>, blocks = 6): Promise<void> {
  const first = Number(await ask('eth_getTransactionCount', accountAt(0), 'latest'));
  for (let nonce = first; nonce < first + blocks; nonce++) {
    if (nonce % 3 === 1) await ask('anvil_setBalance', stranger('79'), `0x${nonce.toString(16)}`);
    await transfer(0, { nonce, to: stranger((0x20 + nonce).toString(16)) });
  }
  await ask('anvil_setBalance', stranger('7a'), '0x5');
}

/** What somebody may compare of two devnets. */
async function portrait(node: PlumblineNode): Promise<unknown> {
  const ask = (method: string, ...params: unknown[]) => node.request({ method, params });
  const head = Number(await ask('eth_blockNumber'));
  const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`);
  return {
    blocks: await Promise.all(numbers.map((number) => ask('eth_getBlockByNumber', number, true))),
    receipts: await Promise.all(numbers.map((number) => ask('eth_getBlockReceipts', number))),
    balances: await Promise.all(numbers.map((number) => ask('eth_getBalance', stranger('79'), number))),
    waiting: await ask('eth_getBalance', stranger('7a'), 'latest'),
    proof: await ask('linea_getProof', accountAt(0), [], 'latest'),
    layerOne: await node.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
  };
}

/** Full when told to be: nothing can be put, what is there can be read. */
class FullStore extends KeptStore {
  isFull = false;
  clears = true;

  override async commit(commit: Commit): Promise<void> {
    const puts = commit.puts ?? [];
    if (this.isFull && puts.length > 0) throw new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {});
    await super.commit(commit);
  }

  override async clear(): Promise<void> {
    if (!this.clears) throw new PlumblineError('STORE_UNAVAILABLE', 'no', { reason: 'no' });
    await super.clear();
  }
}

/** A devnet with blocks that are in memory only: its store is full. */
async function behindFullStore() {
  const store = new FullStore();
  const dev = await opened({ store });
  await grow(dev, 3);
  store.isFull = true;
  await grow(dev, 5);
  expect((await dev.node.storage()).status).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: 4 });
  return { store, dev, before: await portrait(dev.node) };
}

async function contents(store: PageStore): Promise<unknown> {
  const all: Record<string, unknown> = {};
  for (const table of TABLES) all[table] = await store.getMany(table, await store.keys(table));
  return all;
}

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
    await vi.waitFor(async () => {
      const { tables } = await scene.light.storage();
      expect(tables.proofs).toMatchObject({ records: 1, budget: 100_000 });
      expect(tables.finalizations.records).toBe(1);
    }, 10_000);
    expect((await scene.light.storage()).devnet).toBeUndefined();
  });

  test.each([{ budgets: { devnet: -1 } }, { budgets: { codes: 1.5 } }, { durability: 'sometimes' as never }])(
    'options that are none are refused: %o',
    async (storage) => {
      await expect(createInlineNode({ storage })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
    },
  );
});

describe('clear()', () => {
  test('leaves a devnet at genesis that works on, and subscriptions with it', async () => {
    const storeName = freshName();
    const dev = await opened({ storeName });
    const genesis = await dev.ask('eth_getBlockByNumber', 'earliest', true);
    const told: unknown[] = [];
    dev.node.on('message', ({ data }) => told.push((data.result as { number: string }).number));
    await dev.ask('eth_subscribe', 'newHeads');
    await grow(dev);
    await dev.node.clear();
    expect(await dev.ask('eth_getBlockByNumber', 'latest', true)).toEqual(genesis);
    expect(await dev.ask('eth_getBalance', stranger('79'), 'latest')).toBe('0x0');
    expect(await dev.node.storage()).toMatchObject({ tables: { blocks: { records: 1 } } });
    await grow(dev, 3);
    expect(told.map(Number)).toEqual([1, 2, 3, 4, 5, 6, 1, 2, 3]);
    const before = await portrait(dev.node);
    await dev.node.close();
    expect(await portrait((await opened({ storeName })).node)).toEqual(before);
  });

  test('takes requests that come meanwhile in their turn', async () => {
    const dev = await opened({ storeName: freshName() });
    await grow(dev);
    const cleared = dev.node.clear();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(await dev.ask('eth_blockNumber')).toBe('0x0');
    await cleared;
  });

  test('a store that cannot be emptied leaves the devnet as it was', async () => {
    class Stubborn extends KeptStore {
      override async clear(): Promise<void> {
        throw new Error('no');
      }
    }
    const dev = await opened({ store: new Stubborn() });
    await grow(dev);
    const before = await portrait(dev.node);
    await expect(dev.node.clear()).rejects.toThrow();
    expect(await portrait(dev.node)).toEqual(before);
    await grow(dev, 1);
  });

  test('one that fails loses no block that is in memory only', async () => {
    const { store, dev, before } = await behindFullStore();
    store.clears = false;
    await expect(dev.node.clear()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await portrait(dev.node)).toEqual(before);
    expect((await dev.node.storage()).status).toMatchObject({ mode: 'memory', since: 4 });
    store.isFull = false;
    await vi.waitFor(async () => expect((await dev.node.storage()).status).toEqual({ mode: 'durable' }), 10_000);
    await dev.node.close();
    expect(await portrait((await opened({ store })).node)).toEqual(before);
  });

  test('makes room, and nothing that waited for the store comes after', async () => {
    const { store, dev } = await behindFullStore();
    store.isFull = false;
    await dev.node.clear();
    expect(await dev.ask('eth_blockNumber')).toBe('0x0');
    expect((await dev.node.storage()).status).toEqual({ mode: 'durable' });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await store.keys('blocks')).toEqual([0]);
    await grow(dev, 2);
    await dev.node.close();
    expect(await store.keys('blocks')).toEqual([0, 1, 2]);
  });

  test('of a devnet whose head pointer is to be written again: nothing of it comes after', async () => {
    const store = new KeptStore();
    const dev = await opened({ store });
    await grow(dev);
    await dev.node.close();
    await store.commit({ deletes: [{ table: 'meta', key: 'devnet-head' }] });
    const again = await opened({ store });
    await again.node.clear();
    expect(await store.keys('blocks')).toEqual([0]);
    await grow(again, 2);
    await again.node.close();
    expect(await (await opened({ store })).ask('eth_blockNumber')).toBe('0x2');
  });

  test('of a devnet that is damaged: it begins anew', async () => {
    const store = new KeptStore();
    const dev = await opened({ store });
    await grow(dev, 40);
    await dev.node.close();
    const value = (await store.get('blocks', 20))!;
    const trie = (await store.keys('trie'))[0]!;
    await store.commit({ puts: [{ table: 'trie', key: trie, value: value.slice(1) }] });
    const [{ changes: _, ...record }] = [decodeBlockRecord(value, 59139)];
    const other = encodeBlockRecord({ ...record, changes: [] });
    await store.commit({ puts: [{ table: 'blocks', key: 20, value: other }] });
    const again = await opened({ store });
    const balance = again.ask('eth_getBalance', accountAt(0), 'latest');
    await expect(balance).rejects.toMatchObject({ code: -32603 });
    await again.node.clear();
    expect(await again.ask('eth_getBalance', stranger('79'), 'latest')).toBe('0x0');
    await grow(again, 2);
    expect(await again.ask('eth_blockNumber')).toBe('0x2');
  });

  test('of a light node: nothing is stored, and nothing that waited comes after', async () => {
    const store = new KeptStore();
    const scene = await lightScene({ more: { store } });
    for (let nonce = 0; nonce < 6; nonce++) await scene.dev.transfer(0, { nonce });
    const answer = await scene.ask('linea_getProof', accountAt(0), [], 'latest');
    await scene.light.clear();
    expect(await scene.ask('linea_getProof', accountAt(0), [], 'latest')).toEqual(answer);
    await scene.light.close();
    expect(await store.keys('proofs')).toEqual([]);
    expect(await store.keys('codes')).toEqual([]);
  });
});

describe('exportChain() and importChain()', () => {
  async function exported(storeName = freshName()): Promise<{ file: Uint8Array; before: unknown }> {
    const dev = await opened({ storeName });
    await grow(dev, 36);
    const file = await dev.node.exportChain();
    const before = await portrait(dev.node);
    await dev.node.close();
    return { file, before };
  }

  test('a file makes the same devnet of another one, which goes on from there', async () => {
    const { file, before } = await exported();
    const storeName = freshName();
    const dev = await opened({ storeName });
    await grow(dev, 2);
    expect(await dev.node.importChain(file)).toEqual({ head: 36 });
    expect(await portrait(dev.node)).toEqual(before);
    await grow(dev, 2);
    const later = await portrait(dev.node);
    await dev.node.close();
    const again = await opened({ storeName });
    expect(await portrait(again.node)).toEqual(later);
    expect(await again.node.exportChain()).not.toEqual(file);
  });

  test('anything else than such a file is refused, and nothing is changed', async () => {
    const { file } = await exported();
    const dev = await opened({ storeName: freshName() });
    await grow(dev, 2);
    const before = await portrait(dev.node);
    const damaged = (at: number) => file.map((byte, i) => (i === at ? byte ^ 1 : byte));
    const newer = file.slice();
    new DataView(newer.buffer).setUint32(16, 2);
    const cases: [string, Uint8Array, RegExp][] = [
      ['nothing', new Uint8Array(0), /no exported devnet/],
      ['something else', new Uint8Array(5000).fill(7), /no exported devnet/],
      ['cut off', file.subarray(0, file.length - 1), /checksum/],
      ['with more', new Uint8Array([...file, 0]), /checksum/],
      ['of a later format', newer, /format 2/],
      ...[0, 17, 40, 300, file.length >> 1, file.length - 40, file.length - 1].map(
        (at): [string, Uint8Array, RegExp] => [`damaged at ${at}`, damaged(at), /checksum|no exported|format/],
      ),
    ];
    for (const [name, bytes, reason] of cases) {
      const refused = { code: 'CHAIN_FILE_REFUSED', message: expect.stringMatching(reason) };
      await expect(dev.node.importChain(bytes), name).rejects.toMatchObject(refused);
    }
    expect(await portrait(dev.node)).toEqual(before);
  });

  test('a whole file of a chain that does not hold is refused', async () => {
    const { file } = await exported();
    const whole = decodeChainFile(file);
    const dev = await opened({ storeName: freshName() });
    const before = await portrait(dev.node);
    const isBlock = (entry: ChainFileEntry, number: number) => entry.table === 'blocks' && entry.key === number;
    const block = (number: number) => whole.entries.find((entry) => isBlock(entry, number))!.value;
    const chains: [string, Partial<ChainFile>][] = [
      ['a block is missing', { entries: whole.entries.filter((entry) => !isBlock(entry, 10)) }],
      ['it ends elsewhere', { head: 35 }],
      [
        'a block twice',
        { entries: whole.entries.map((entry) => (isBlock(entry, 12) ? { ...entry, value: block(11) } : entry)) },
      ],
      ['no blocks', { entries: whole.entries.filter(({ table }) => table !== 'blocks') }],
    ];
    for (const [name, change] of chains) {
      const made = encodeChainFile({ ...whole, ...change });
      await expect(dev.node.importChain(made), name).rejects.toMatchObject({ code: 'CHAIN_FILE_REFUSED' });
    }
    expect(await portrait(dev.node)).toEqual(before);
  });

  test('a file of another devnet is refused: scheme, genesis accounts, network', async () => {
    const { file } = await exported();
    const others: NonNullable<InlineOptions['chain']>[] = [
      { kind: 'devnet', scheme: 'mimc' },
      { ...CHAIN, alloc: { [stranger('ee')]: { balance: 1n } } },
      { kind: 'devnet', network: { ...devnet({ scheme: 'poseidon2' }), name: 'other' } },
      { kind: 'devnet', network: { ...devnet({ scheme: 'poseidon2' }), chainId: 4242 } },
    ];
    for (const chain of others) {
      const { node } = await devNode({ chain, storeName: freshName() });
      await expect(node.importChain(file)).rejects.toMatchObject({
        code: 'CHAIN_FILE_REFUSED',
        message: expect.stringMatching(/another chain/),
      });
    }
  });

  test('an import into a store that lacks blocks is refused, and one that fails loses nothing', async () => {
    const { file } = await exported();
    const { store, dev, before } = await behindFullStore();
    await expect(dev.node.importChain(file)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/lacks the newest blocks/),
    });
    expect(await portrait(dev.node)).toEqual(before);
    store.isFull = false;
    await vi.waitFor(async () => expect((await dev.node.storage()).status).toEqual({ mode: 'durable' }), 10_000);
    await dev.node.importChain(file);
    expect(await dev.ask('eth_blockNumber')).toBe('0x24');
  });

  test('blocks that wait are stored for an export as soon as there is room', async () => {
    const { store, dev, before } = await behindFullStore();
    await expect(dev.node.exportChain()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    store.isFull = false;
    const file = await dev.node.exportChain();
    const other = await opened({ store: new KeptStore() });
    await other.node.importChain(file);
    expect(await portrait(other.node)).toEqual(before);
  });

  test('subscriptions and the devnet itself go on where an import fails', async () => {
    const { file } = await exported();
    const store = new FullStore();
    const dev = await opened({ store });
    const told: unknown[] = [];
    dev.node.on('message', ({ data }) => told.push((data.result as { number: string }).number));
    await dev.ask('eth_subscribe', 'newHeads');
    await dev.ask('evm_mine');
    const snapshot = await dev.ask('evm_snapshot');
    store.isFull = true;
    await expect(dev.node.importChain(file)).rejects.toMatchObject({ code: 'STORE_QUOTA_EXCEEDED' });
    store.isFull = false;
    await dev.ask('evm_mine');
    expect(told.map(Number)).toEqual([1, 2]);
    // What is only in memory is as it was, too.
    expect(await dev.ask('evm_revert', snapshot)).toBe(true);
    expect(await dev.ask('eth_blockNumber')).toBe('0x1');
  });

  test('a store that is full keeps what it had', async () => {
    class Full extends KeptStore {
      full = false;
      override async commit(commit: Commit): Promise<void> {
        if (this.full && (commit.puts?.length ?? 0) > 20) throw new Error('full');
        await super.commit(commit);
      }
    }
    const { file } = await exported();
    const store = new Full();
    const dev = await opened({ store });
    await grow(dev, 2);
    const before = await portrait(dev.node);
    const held = await contents(store);
    store.full = true;
    await expect(dev.node.importChain(file)).rejects.toThrow();
    expect(await contents(store)).toEqual(held);
    expect(await portrait(dev.node)).toEqual(before);
  });

  test('without a store, and on a light node, there is nothing to be exported', async () => {
    const { node } = await opened({});
    await expect(node.exportChain()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const scene = await lightScene();
    await expect(scene.light.exportChain()).rejects.toMatchObject({ code: 'METHOD_NOT_ENABLED' });
    await expect(scene.light.importChain(new Uint8Array(1))).rejects.toMatchObject({ code: 'METHOD_NOT_ENABLED' });
  });

  test('none of it is to be had over HTTP', async () => {
    const { node } = await opened({ store: new MemoryStore() });
    for (const method of ['storage', 'clear', 'exportChain', 'importChain']) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] });
      const response = await node.handle(new Request('http://localhost/', { method: 'POST', body }));
      expect(await response.json()).toMatchObject({ error: { code: -32601 } });
    }
  });
});

test('layer 1 of a stored devnet is whole for the first who asks', async () => {
  const storeName = freshName();
  const dev = await opened({ storeName });
  await grow(dev, 40);
  const latest = { method: 'eth_getBlockByNumber', params: ['latest', false] };
  const before = await dev.node.l1.request(latest);
  await dev.node.close();
  expect(await (await opened({ storeName })).node.l1.request(latest)).toEqual(before);
});
