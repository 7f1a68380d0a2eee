import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import {
  type ChainFile,
  type ChainFileEntry,
  decodeChainFile,
  encodeChainFile,
} from '../../src/chain/devnet/chain-file.js';
import { PlumblineError } from '../../src/errors.js';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Commit } from '../../src/store/page-store.js';
import { devNode, KeptStore, stranger } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { lightScene } from '../support/light-node.js';
import {
  behindFullStore,
  CHAIN,
  contents,
  FullStore,
  freshName,
  grow,
  opened,
  portrait,
} from '../support/storage-scene.js';

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

  test('a file names tables by numbers that do not change', async () => {
    const entries = (['meta', 'blocks', 'state', 'trie'] as const).map((table) => ({
      table,
      key: 0,
      value: new Uint8Array(),
    }));
    const header = { chainId: 1, network: 'n', scheme: 's', genesis: '0x', head: 0 } as const;
    // An entry: table u8, kind of key u8, key f64, length of value u32. The checksum of 32 bytes comes last.
    const bytes = (await encodeChainFile({ ...header, entries })).slice(0, -32);
    expect(entries.map((_, i) => bytes.at((i - 4) * 14))).toEqual([0, 1, 2, 3]);
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
      ['nothing', new Uint8Array(0), /not an exported devnet/],
      ['something else', new Uint8Array(5000).fill(7), /not an exported devnet/],
      ['cut off', file.subarray(0, file.length - 1), /checksum/],
      ['with more', new Uint8Array([...file, 0]), /checksum/],
      ['of a later format', newer, /format 2/],
      ...[0, 17, 40, 300, file.length >> 1, file.length - 40, file.length - 1].map(
        (at): [string, Uint8Array, RegExp] => [`damaged at ${at}`, damaged(at), /checksum|not an exported|format/],
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
    const whole = await decodeChainFile(file);
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
      const made = await encodeChainFile({ ...whole, ...change });
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
    await eventually(async () => expect((await dev.node.storage()).status).toEqual({ mode: 'durable' }));
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

  /** A store whose connection breaks with a large commit, which is carried out all the same. */
  class Breaking extends KeptStore {
    /** For this commit alone, or from then on. */
    breaks: 'once' | 'for good' | undefined;
    isGone = false;
    private reading<T>(read: () => Promise<T>): Promise<T> {
      if (this.isGone) throw new PlumblineError('STORE_UNAVAILABLE', 'gone', { reason: 'gone' });
      return read();
    }
    override get: KeptStore['get'] = async (...given) => this.reading(() => super.get(...given));
    override getMany: KeptStore['getMany'] = async (...given) => this.reading(() => super.getMany(...given));
    override keys: KeptStore['keys'] = async (...given) => this.reading(() => super.keys(...given));
    override async commit(commit: Commit): Promise<void> {
      await this.reading(() => super.commit(commit));
      if (this.breaks === undefined || (commit.puts?.length ?? 0) < 20) return;
      this.isGone = this.breaks === 'for good';
      throw new PlumblineError('STORE_UNAVAILABLE', 'gone', { reason: 'gone' });
    }
  }

  test('an import that was carried out and reported as failed has been carried out', async () => {
    const { file, before } = await exported();
    const store = new Breaking();
    const dev = await opened({ store });
    await grow(dev, 2);
    store.breaks = 'once';
    expect(await dev.node.importChain(file)).toEqual({ head: 36 });
    store.breaks = undefined;
    expect(await portrait(dev.node)).toEqual(before);
    await dev.node.close();
    expect(await portrait((await opened({ store })).node)).toEqual(before);
  });

  test('when the outcome of an import is unknown, the old devnet goes on in memory and does not write over the imported one', async () => {
    const { file, before } = await exported();
    const store = new Breaking();
    const dev = await opened({ store });
    // As long as the other one, and of other blocks.
    await grow(dev, 35);
    await dev.ask('evm_mine');
    const own = await portrait(dev.node);
    store.breaks = 'for good';
    await expect(dev.node.importChain(file)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await portrait(dev.node)).toEqual(own);
    store.breaks = undefined;
    store.isGone = false;
    await dev.ask('evm_mine');
    await eventually(async () => {
      const { status } = await dev.node.storage();
      expect(status).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
      expect(status.message).toContain('no longer holds this chain');
    });
    await dev.ask('evm_mine');
    await dev.node.close();
    expect(await portrait((await opened({ store })).node)).toEqual(before);
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
