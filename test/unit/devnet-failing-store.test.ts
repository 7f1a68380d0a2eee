import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Devnet } from '../../src/chain/devnet/devnet.js';
import type { DevnetSettings } from '../../src/chain/devnet/options.js';
import { DevnetStore } from '../../src/chain/devnet/persistence.js';
import { PlumblineError } from '../../src/errors.js';
import type { Commit, Key, PageStore, Table } from '../../src/store/page-store.js';
import { StoreHealth, type StoreStatus } from '../../src/store/store-status.js';
import { KeptStore } from '../support/dev-node.js';
import { seededRandom } from '../support/random.js';
import { copyOf, openDevnet, portrait, sealScripted } from '../support/stored-devnet.js';

const full = () => new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {});

/** A store that fails while it is told to; `after`: having carried the commit out all the same. */
class FailingStore extends KeptStore {
  failure: (() => PlumblineError) | undefined;
  after = false;
  commits = 0;

  override async commit(commit: Commit): Promise<void> {
    this.commits++;
    if (this.failure !== undefined && !this.after) throw this.failure();
    await super.commit(commit);
    if (this.failure !== undefined) throw this.failure();
  }
}

/** A devnet on a store that can be made to fail, and what is told of the store. */
async function scene(more: Partial<DevnetSettings> = {}, store = new FailingStore()) {
  const health = new StoreHealth('durable');
  const told: StoreStatus[] = [];
  health.listeners.add((status) => told.push(status));
  const chain = await openDevnet(store, { health, storing: { retryMs: 5 }, ...more });
  onTestFinished(() => chain.close());
  const seal = async (from: number, to: number) => {
    for (let number = from; number <= to; number++) await sealScripted(chain, number);
  };
  const isDurable = () => vi.waitFor(() => expect(health.status.mode).toBe('durable'));
  return { store, chain, health, told, seal, isDurable };
}

async function reopened(store: PageStore, more: Partial<DevnetSettings> = {}): Promise<Devnet> {
  const chain = await openDevnet(await copyOf(store), { check: 'full', ...more });
  onTestFinished(() => chain.close());
  return chain;
}

/** The same blocks on a devnet without a store. */
async function lasting(blocks: number): Promise<Devnet> {
  const chain = await openDevnet();
  onTestFinished(() => chain.close());
  for (let number = 1; number <= blocks; number++) await sealScripted(chain, number);
  return chain;
}

/** Blocks of a store: each follows from the one before it, and the pointer names the last. */
async function storedBlocks(store: PageStore): Promise<number> {
  const blocks = new DevnetStore(store, 59139);
  const repairs: unknown[] = [];
  const head = (await blocks.head((repair) => repairs.push(repair)))!;
  expect(repairs).toEqual([]);
  let parent: Uint8Array | undefined;
  await blocks.each(0, head, ({ block }) => {
    if (parent !== undefined) expect(block.header.parentHash).toEqual(parent);
    parent = block.hash;
  });
  return head;
}

describe('a devnet whose store fails', () => {
  test('goes on in memory, says so, and stores what waited as soon as it can', async () => {
    const { store, chain, health, told, seal, isDurable } = await scene();
    await seal(1, 3);
    store.failure = full;
    await seal(4, 6);
    expect(health.status).toEqual({
      mode: 'memory',
      reason: 'STORE_QUOTA_EXCEEDED',
      message: 'store is full',
      since: 4,
    });
    expect(told).toHaveLength(1);
    expect(await portrait(chain, 4)).toEqual(await portrait(await lasting(6), 4));
    expect(await storedBlocks(store)).toBe(3);
    store.failure = undefined;
    await isDurable();
    expect(told.at(-1)).toEqual({ mode: 'durable' });
    expect(await storedBlocks(store)).toBe(6);
    await seal(7, 12);
    expect(await portrait(await reopened(store), 10)).toEqual(await portrait(await lasting(12), 10));
  });

  test('stores what waited when it is closed', async () => {
    const { store, chain, seal } = await scene({ storing: { retryMs: 100_000 } });
    store.failure = full;
    await seal(1, 3);
    store.failure = undefined;
    await chain.close();
    expect(await storedBlocks(store)).toBe(3);
    expect(await portrait(await reopened(store), 1)).toEqual(await portrait(await lasting(3), 1));
  });

  test('is closed all the same when its store is gone', async () => {
    const { store, chain, health, seal } = await scene();
    await seal(1, 2);
    store.failure = full;
    await seal(3, 4);
    const closed = vi.spyOn(store, 'close');
    await chain.close();
    expect(closed).toHaveBeenCalledOnce();
    expect(health.status).toMatchObject({ mode: 'memory', since: 3 });
    expect(await storedBlocks(store)).toBe(2);
  });

  test('asks the store again ever more seldom, and not for each block', async () => {
    const { store, seal } = await scene({ storing: { retryMs: 100_000 } });
    store.failure = full;
    const before = store.commits;
    await seal(1, 5);
    expect(store.commits).toBe(before + 1);
  });

  test('keeps edits that could not be stored', async () => {
    const { store, chain, isDurable } = await scene();
    const address = new Uint8Array(20).fill(0xa1);
    const edit = (balance: bigint) => chain.control.edit({ kind: 'balance', address, balance });
    const stored = async () => {
      const again = await reopened(store);
      return (await (await again.stateAt(await again.head())).account(address))?.balance;
    };
    await edit(1n);
    store.failure = full;
    await edit(2n);
    expect(await stored()).toBe(1n);
    store.failure = undefined;
    await isDurable();
    expect(await stored()).toBe(2n);
    store.failure = full;
    await chain.control.mine(1);
    await edit(3n);
    store.failure = undefined;
    await isDurable();
    expect(await stored()).toBe(3n);
    expect(await storedBlocks(store)).toBe(1);
  });

  // To a block that is stored, to the newest stored one, and to one that waits.
  test.each([2, 4, 5])('goes back to block %i while the store fails', async (back) => {
    const { store, chain, seal, isDurable } = await scene();
    const other = await openDevnet();
    onTestFinished(() => other.close());
    for (let number = 1; number <= back; number++) await sealScripted(other, number);
    const failFrom = 5;
    for (let number = 1; number <= back; number++) {
      if (number === failFrom) store.failure = full;
      await seal(number, number);
    }
    const id = await chain.control.snapshot();
    for (let number = back + 1; number <= 8; number++) {
      if (number === failFrom) store.failure = full;
      await seal(number, number);
    }
    await chain.control.revert(id);
    // Until it can be stored, the chain from before the failure stands.
    expect(await storedBlocks(store)).toBe(4);
    for (const each of [chain, other]) await each.control.mine(1, { first: 1_900_000_000 });
    expect(await storedBlocks(store)).toBe(4);
    store.failure = undefined;
    await isDurable();
    expect(await storedBlocks(store)).toBe(back + 1);
    const since = Math.max(0, back - 1);
    expect(await portrait(await reopened(store), since)).toEqual(await portrait(other, since));
  });

  test('lets no more blocks wait than it may, and leaves no gap behind them', async () => {
    const { store, chain, health, seal, isDurable } = await scene({ storing: { retryMs: 5, maxWaitingBytes: 3000 } });
    await seal(1, 1);
    const id = await chain.control.snapshot();
    store.failure = full;
    await seal(2, 12);
    store.failure = undefined;
    await vi.waitFor(() => expect(health.status.since).toBeGreaterThan(2));
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

  test('is not confused by commits that were carried out and reported as failed', async () => {
    const { store, chain, seal, isDurable } = await scene();
    await seal(1, 1);
    const id = await chain.control.snapshot();
    store.failure = () => new PlumblineError('STORE_UNAVAILABLE', 'the connection broke', { reason: 'broken' });
    store.after = true;
    await seal(2, 3);
    await vi.waitFor(async () => expect(await storedBlocks(store)).toBe(3));
    await chain.control.revert(id);
    store.failure = undefined;
    await isDurable();
    expect(await storedBlocks(store)).toBe(1);
    await seal(2, 2);
    expect(await portrait(await reopened(store), 0)).toEqual(await portrait(await lasting(2), 0));
  });

  test('fails as a whole when another writer has taken the store over', async () => {
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
    await vi.waitFor(() => expect(store.commits).toBeGreaterThan(before));
    await expect(chain.control.mine(1)).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
  });

  test('does not write into a database that was emptied meanwhile, or holds another chain', async () => {
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
      await vi.waitFor(() => expect(health.status.reason).toBe('STORE_UNAVAILABLE'));
      expect(health.status.message).toContain('no longer holds this chain');
      await seal(4, 4);
      expect(await store.keys('blocks')).toEqual([]);
    }
  });

  test('holds a whole chain at every moment, whatever is done to it and whenever the store fails', async () => {
    const seen: number[] = [];
    for (let seed = 1; seed <= 4; seed++) {
      const random = seededRandom(seed);
      const { store, chain, isDurable, health } = await scene({ storing: { retryMs: 1, maxWaitingBytes: 20_000 } });
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

describe('what a devnet finds damaged', () => {
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

  test('the head pointer is known from the blocks, one bit of it flipped or all of it gone', async () => {
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

  test('a pointer of an earlier version, without a checksum, that names an earlier block loses none', async () => {
    const store = await stored(12);
    await store.commit(put(...HEAD, new TextEncoder().encode('2')));
    expect(await repaired(store)).toMatchObject({
      number: 12,
      repaired: [{ table: 'meta', reason: 'the head pointer was 2' }],
    });
  });

  test('blocks that are missing, at the end too, are reported', async () => {
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

  test('any flipped bit of the edits that wait is reported', async () => {
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

  test('edits that do not decode cost nothing but themselves, and are told of', async () => {
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

  test('a checkpoint that had to be rebuilt from the blocks is told of', async () => {
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
});
