import 'fake-indexeddb/auto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { decodeBlockRecord, encodeBlockRecord } from '../../src/chain/devnet/records/block-record.js';
import { PlumblineError } from '../../src/errors.js';
import { accountAt, KeptStore, stranger } from '../support/dev-node.js';
import { eventually, settled } from '../support/eventually.js';
import { lightScene } from '../support/light-node.js';
import { behindFullStore, freshName, grow, opened, portrait } from '../support/storage-scene.js';

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
    await new Promise((resolve) => setTimeout(resolve));
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

  test('when it fails, no block that is only in memory is lost', async () => {
    const { store, dev, before } = await behindFullStore();
    store.clears = false;
    await expect(dev.node.clear()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await portrait(dev.node)).toEqual(before);
    expect((await dev.node.storage()).status).toMatchObject({ mode: 'memory', since: 4 });
    store.isFull = false;
    await eventually(async () => expect((await dev.node.storage()).status).toEqual({ mode: 'durable' }));
    await dev.node.close();
    expect(await portrait((await opened({ store })).node)).toEqual(before);
  });

  test('makes room, and nothing that waited for the store comes after', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { store, dev } = await behindFullStore();
    store.isFull = false;
    await dev.node.clear();
    expect(await dev.ask('eth_blockNumber')).toBe('0x0');
    expect((await dev.node.storage()).status).toEqual({ mode: 'durable' });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await store.keys('blocks')).toEqual([0]);
    await grow(dev, 2);
    await dev.node.close();
    expect(await store.keys('blocks')).toEqual([0, 1, 2]);
  });

  test('on a devnet whose head pointer was to be repaired, writes no pointer afterwards', async () => {
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

  test('on a damaged devnet, leaves one that starts again from genesis', async () => {
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

  /** A devnet whose state cannot be read until the store is cleared, or that can be read at once. */
  async function loading(clear: (store: KeptStore, stages: readonly string[]) => Promise<void>, isHeld = true) {
    const kept = new KeptStore();
    const dev = await opened({ store: kept });
    await grow(dev, 40);
    const before = await portrait(dev.node);
    await dev.node.close();
    let go = () => {};
    const told = new Promise<void>((resolve) => {
      go = resolve;
    });
    class Slow extends KeptStore {
      override get: KeptStore['get'] = async (table, key) => {
        if (isHeld && table === 'trie') await told;
        return kept.get(table, key);
      };
      override getMany: KeptStore['getMany'] = (table, keys) => kept.getMany(table, keys);
      override keys: KeptStore['keys'] = (table) => kept.keys(table);
      override commit: KeptStore['commit'] = (commit) => kept.commit(commit);
      override async clear(): Promise<void> {
        await clear(kept, stages).finally(go);
      }
    }
    const stages: string[] = [];
    const onProgress = ({ stage, fraction }: { stage: string; fraction: number }) =>
      stages.push(`${stage} ${fraction}`);
    const again = await opened({ store: new Slow(), onProgress });
    return { kept, before, again };
  }

  test('does not wait for a state that is being loaded', async () => {
    const { kept, again } = await loading(async (store) => {
      await settled();
      await store.clear();
    });
    const waiting = again.ask('evm_mine').catch((error: { code: number }) => error.code);
    await again.node.clear();
    expect(await again.ask('eth_blockNumber')).toBe('0x0');
    expect(await kept.keys('blocks')).toEqual([0]);
    expect([4900, -32603]).toContain(await waiting);
    await grow(again, 2);
    await again.node.close();
    expect(await (await opened({ store: kept })).ask('eth_blockNumber')).toBe('0x2');
  });

  test('lets nothing that waited for the state be done in between, though it is loaded meanwhile', async () => {
    const { kept, again } = await loading(async (store, stages) => {
      await eventually(() => expect(stages).toContain('state 1'));
      await settled();
      await store.clear();
    }, false);
    const waiting = again.ask('evm_mine').catch((error: { code: number }) => error.code);
    await again.node.clear();
    expect(await waiting).not.toBe('0x0');
    expect(await kept.keys('blocks')).toEqual([0]);
    await grow(again, 1);
  });

  test('when it fails while a state is being loaded, the loading goes on', async () => {
    const { before, again } = await loading(async () => {
      await settled();
      throw new PlumblineError('STORE_UNAVAILABLE', 'no', { reason: 'no' });
    });
    const seen = portrait(again.node);
    await expect(again.node.clear()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await seen).toEqual(before);
    expect(await portrait(again.node)).toEqual(before);
    expect((await again.node.storage()).status).toEqual({ mode: 'durable' });
    await grow(again, 1);
  });

  test('when the store reports a failure after emptying itself, counts as done', async () => {
    class Broken extends KeptStore {
      override async clear(): Promise<void> {
        await super.clear();
        throw new PlumblineError('STORE_UNAVAILABLE', 'the connection broke', { reason: 'broken' });
      }
    }
    const store = new Broken();
    const dev = await opened({ store });
    await grow(dev);
    await dev.node.clear();
    expect(await dev.ask('eth_blockNumber')).toBe('0x0');
    await grow(dev, 2);
    await dev.node.close();
    expect(await (await opened({ store })).ask('eth_blockNumber')).toBe('0x2');
  });

  test('on a light node, empties its caches, and nothing that waited is written afterwards', async () => {
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
