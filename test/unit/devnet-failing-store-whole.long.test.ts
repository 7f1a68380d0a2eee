import { describe, expect, test } from 'vitest';
import { storedCheckpoint } from '../../src/chain/devnet/storage/checkpoints.js';
import { PlumblineError } from '../../src/errors.js';
import { eventually } from '../support/eventually.js';
import { full, lasting, reopened, scene, storedBlocks } from '../support/failing-store.js';
import { seededRandom } from '../support/random.js';
import { portrait } from '../support/stored-devnet.js';

describe('a devnet whose store fails', () => {
  test('queues no more blocks than allowed, and leaves no gap', async () => {
    const { store, chain, health, seal, isDurable } = await scene({ storing: { retryMs: 5, maxWaitingBytes: 3000 } });
    await seal(1, 1);
    const id = await chain.control.snapshot();
    store.failure = full;
    await seal(2, 12);
    store.failure = undefined;
    await eventually(() => expect(health.status.since).toBeGreaterThan(2));
    const { since } = health.status;
    expect(since).toBeLessThan(12);
    await seal(13, 15);
    expect(await storedBlocks(store)).toBe(since! - 1);
    expect(health.status).toMatchObject({ mode: 'memory', since });
    expect((await chain.head()).header.number).toBe(15);
    // Back before the gap there is none.
    await chain.control.revert(id);
    await isDurable();
    await seal(2, 3);
    expect(await storedBlocks(store)).toBe(3);
    expect(await portrait(await reopened(store), 1)).toEqual(await portrait(await lasting(3), 1));
  });

  test('handles commits that succeeded but were reported as failed', async () => {
    const { store, chain, seal, isDurable } = await scene();
    await seal(1, 1);
    const id = await chain.control.snapshot();
    store.failure = () => new PlumblineError('STORE_UNAVAILABLE', 'the connection broke', { reason: 'broken' });
    store.after = true;
    await seal(2, 3);
    await eventually(async () => expect(await storedBlocks(store)).toBe(3));
    await chain.control.revert(id);
    store.failure = undefined;
    await isDurable();
    expect(await storedBlocks(store)).toBe(1);
    await seal(2, 2);
    expect(await portrait(await reopened(store), 0)).toEqual(await portrait(await lasting(2), 0));
  });

  test('stops when another writer has taken over the store', async () => {
    const { store, chain, health, seal } = await scene();
    await seal(1, 2);
    store.failure = () => new PlumblineError('STORE_TAKEN_OVER', 'another page writes', {});
    await expect(seal(3, 3)).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
    expect((await chain.head()).header.number).toBe(2);
    const id = await chain.control.snapshot();
    await expect(chain.control.revert(id)).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
    expect(health.status).toEqual({ mode: 'durable' });
    expect(await storedBlocks(store)).toBe(2);
  });

  test('makes no blocks in memory for a store that was taken over while it failed', async () => {
    const { store, chain, seal } = await scene();
    store.failure = full;
    await seal(1, 1);
    const before = store.commits;
    store.failure = () => new PlumblineError('STORE_TAKEN_OVER', 'another page writes', {});
    await eventually(() => expect(store.commits).toBeGreaterThan(before));
    await expect(chain.control.mine(1)).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
  });

  test('writes no checkpoint of a block that is not stored', async () => {
    const { store, chain, seal, isDurable } = await scene({ storing: { retryMs: 300 } });
    await seal(1, 2);
    // Full for blocks, while there is room for what comes in between.
    const kept = store.commit.bind(store);
    store.commit = (commit) =>
      commit.puts?.some(({ table }) => table === 'blocks') ? Promise.reject(full()) : kept(commit);
    await seal(3, 14);
    const stateOf = async () => (await storedCheckpoint(store))?.block ?? 0;
    expect(await stateOf()).toBeLessThanOrEqual(await storedBlocks(store));
    expect(await portrait(await reopened(store), 0)).toEqual(await portrait(await lasting(2), 0));
    store.commit = kept;
    await isDurable();
    await seal(15, 18);
    await eventually(async () => expect(await stateOf()).toBeGreaterThan(2));
    expect(await portrait(await reopened(store), 16)).toEqual(await portrait(chain, 16));
  });

  test('does not write into a database that was cleared, or that holds another chain', async () => {
    for (const other of [undefined, 7]) {
      const { store, health, seal } = await scene();
      await seal(1, 2);
      store.failure = full;
      await seal(3, 3);
      await store.clear();
      store.failure = undefined;
      if (other !== undefined) {
        const value = new TextEncoder().encode(String(other));
        await store.commit({ puts: [{ table: 'meta', key: 'devnet-head', value }] });
      }
      await eventually(() => expect(health.status.reason).toBe('STORE_UNAVAILABLE'));
      expect(health.status.message).toContain('no longer holds this chain');
      await seal(4, 4);
      expect(await store.keys('blocks')).toEqual([]);
    }
  });

  test('keeps a complete chain in the store at every moment, whenever the store fails', async () => {
    const seen: number[] = [];
    for (let seed = 1; seed <= 4; seed++) {
      const random = seededRandom(seed);
      const { store, chain, isDurable, health } = await scene({ storing: { retryMs: 1 } });
      const ids: number[] = [];
      const kept = store.commit.bind(store);
      store.commit = async (commit) => {
        try {
          await kept(commit);
        } finally {
          seen.push(await storedBlocks(store));
        }
      };
      for (let step = 0; step < 60; step++) {
        const head = (await chain.head()).header;
        const first = head.timestamp + 1;
        const address = new Uint8Array(20).fill(0xa0 + random(8));
        if (random(4) === 0) store.failure = store.failure === undefined ? full : undefined;
        store.after = random(3) === 0;
        const what = random(8);
        if (what < 4) await chain.control.mine(1, { first });
        else if (what < 6) await chain.control.edit({ kind: 'balance', address, balance: BigInt(step) });
        else if (what === 6) ids.push(await chain.control.snapshot());
        else if (ids.length > 0) await chain.control.revert(ids.splice(random(ids.length))[0]!);
        if (random(5) === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      store.failure = undefined;
      await isDurable();
      expect(health.status.mode).toBe('durable');
      const again = await reopened(store);
      const { number } = (await chain.head()).header;
      expect(await portrait(again, Math.max(0, number - 2))).toEqual(await portrait(chain, Math.max(0, number - 2)));
    }
    expect(seen.length).toBeGreaterThan(60);
  });
});
