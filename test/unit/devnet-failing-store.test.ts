import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { full, lasting, reopened, scene, storedBlocks } from '../support/failing-store.js';
import { openDevnet, portrait, sealScripted } from '../support/stored-devnet.js';

describe('a devnet whose store fails', () => {
  test('continues in memory, reports it, and stores queued blocks as soon as it can', async () => {
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

  test('stores queued blocks when it is closed', async () => {
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
});
