import { describe, expect, test, vi } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { openInline } from '../../src/hosts/opening/open-inline.js';
import type { Commit } from '../../src/store/page-store.js';
import { ask, sharingOf } from '../support/stub-node.js';
import { TestBrowser } from '../support/tabs.js';

const CHAIN = { options: { chain: { kind: 'devnet', scheme: 'poseidon2' }, dictionary: { kind: 'general' } } } as const;
const FULL = { mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED' };

/** A browser whose disk can be full. Commits that only delete succeed, as in browsers. */
function browserWithDisk(hasLocks = true) {
  const browser = new TestBrowser(hasLocks);
  const disk = { isFull: false, refused: 0 };
  const commit = browser.store.commit.bind(browser.store);
  vi.spyOn(browser.store, 'commit').mockImplementation(async (given: Commit) => {
    if (disk.isFull && (given.puts ?? []).length > 0) {
      disk.refused++;
      throw new PlumblineError('STORE_QUOTA_EXCEEDED', 'full', {});
    }
    return commit(given);
  });
  return { browser, disk };
}

const epochOf = async ({ store }: TestBrowser) =>
  (JSON.parse(new TextDecoder().decode(await store.get('meta', 'writer'))) as { epoch: number }).epoch;

test('a full disk: the next writer reads the store, works in memory, and claims the store when there is space', async () => {
  const { browser, disk } = browserWithDisk();
  const one = await browser.open(browser.tab(), openInline, CHAIN);
  const two = await browser.open(browser.tab(), openInline, CHAIN);
  await ask(two, 'evm_mine');
  disk.isFull = true;
  await ask(two, 'evm_mine');
  expect(one.storeStatus).toMatchObject({ ...FULL, since: 2 });
  expect(await ask(two, 'eth_blockNumber')).toBe('0x2');
  const told: unknown[] = [];
  two.onStoreStatus!((status) => told.push(status));
  await one.close();
  // Block 2 was only in memory, as its status said.
  expect(await ask(two, 'eth_blockNumber')).toBe('0x1');
  expect((await sharingOf(two)).role).toBe('writer');
  expect(told).toEqual([expect.objectContaining(FULL)]);
  await ask(two, 'evm_mine');
  expect(two.storeStatus).toMatchObject({ ...FULL, since: 2 });
  const head = await ask(two, 'eth_getBlockByNumber', ['latest', false]);
  disk.isFull = false;
  await expect.poll(() => two.storeStatus).toEqual({ mode: 'durable' });
  expect(await epochOf(browser)).toBe((await sharingOf(two)).epoch);
  await two.close();
  const three = await browser.open(browser.tab(), openInline, CHAIN);
  expect(await ask(three, 'eth_getBlockByNumber', ['latest', false])).toEqual(head);
});

test('a full disk: followers get the status of the writer, and changes of it by the next writer', async () => {
  const { browser, disk } = browserWithDisk();
  const one = await browser.open(browser.tab(), openInline, CHAIN);
  const two = await browser.open(browser.tab(), openInline, CHAIN);
  const told: unknown[] = [];
  two.onStoreStatus!((status) => told.push(status));
  await ask(two, 'evm_mine');
  expect(two.storeStatus).toEqual({ mode: 'durable' });
  disk.isFull = true;
  await ask(two, 'evm_mine');
  await expect.poll(() => two.storeStatus).toMatchObject({ ...FULL, since: 2 });
  const three = await browser.open(browser.tab(), openInline, CHAIN);
  expect(three.storeStatus).toMatchObject({ ...FULL, since: 2 });
  expect(told).toEqual([expect.objectContaining({ ...FULL, since: 2 })]);
  disk.isFull = false;
  await expect.poll(() => told.at(-1)).toEqual({ mode: 'durable' });
  expect(told).toHaveLength(2);
  disk.isFull = true;
  await ask(three, 'evm_mine');
  await expect.poll(() => told).toHaveLength(3);
  // There is space when the next writer begins, so it stores everything.
  disk.isFull = false;
  await one.close();
  expect(await ask(two, 'eth_blockNumber')).toBe('0x3');
  await expect.poll(() => told.slice(3)).toEqual([{ mode: 'durable' }]);
  expect(two.storeStatus).toEqual({ mode: 'durable' });
});

test('a full disk: a stored devnet opens, reads, and works in memory', async () => {
  const { browser, disk } = browserWithDisk();
  const one = await browser.open(browser.tab(), openInline, CHAIN);
  await ask(one, 'evm_mine');
  const head = await ask(one, 'eth_getBlockByNumber', ['latest', false]);
  await one.close();
  disk.isFull = true;
  const again = await browser.open(browser.tab(), openInline, CHAIN);
  expect(await ask(again, 'eth_getBlockByNumber', ['latest', false])).toEqual(head);
  expect(again.storeStatus).toMatchObject(FULL);
  await ask(again, 'evm_mine');
  expect(again.storeStatus).toMatchObject({ ...FULL, since: 2 });
});

test('a writer that hung while the disk became full overwrites nothing of the next writer', async () => {
  const { browser, disk } = browserWithDisk();
  const [first, second] = [browser.tab(), browser.tab()];
  const sharing = { hungAfterMs: 1_000 };
  const one = await browser.open(first, openInline, { ...CHAIN, sharing });
  const two = await browser.open(second, openInline, { ...CHAIN, sharing });
  await ask(one, 'evm_mine');
  first.hang();
  disk.isFull = true;
  expect(await ask(two, 'eth_blockNumber')).toBe('0x1');
  expect((await sharingOf(two)).role).toBe('writer');
  await ask(two, 'anvil_setBalance', [`0x${'22'.repeat(20)}`, '0x7']);
  await ask(two, 'evm_mine');
  const head = await ask(two, 'eth_getBlockByNumber', ['latest', false]);
  disk.isFull = false;
  first.resume();
  await expect.poll(async () => (await sharingOf(one)).role).toBe('follower');
  await expect.poll(() => two.storeStatus).toEqual({ mode: 'durable' });
  expect(await ask(one, 'eth_getBlockByNumber', ['latest', false])).toEqual(head);
});

describe('without locks', () => {
  const sharing = { hungAfterMs: 1_000 };

  test('a writer whose lease cannot be renewed because the disk is full stays the writer, in memory', async () => {
    const { browser, disk } = browserWithDisk(false);
    const one = await browser.open(browser.tab(), openInline, { ...CHAIN, sharing });
    const two = await browser.open(browser.tab(), openInline, { ...CHAIN, sharing });
    disk.isFull = true;
    await ask(two, 'evm_mine');
    const { epoch } = await sharingOf(two);
    // Its lease expires while it tries to renew it, at most three times in a lease.
    const { refused } = disk;
    await expect.poll(() => disk.refused).toBeGreaterThan(refused + 9);
    expect(await ask(two, 'eth_blockNumber')).toBe('0x1');
    const three = await browser.open(browser.tab(), openInline, { ...CHAIN, sharing });
    await ask(three, 'evm_mine');
    expect(await sharingOf(one)).toMatchObject({ role: 'writer', epoch });
    disk.isFull = false;
    await expect.poll(() => one.storeStatus).toEqual({ mode: 'durable' });
    expect(await ask(two, 'eth_blockNumber')).toBe('0x2');
  });

  test('another node takes over on a full disk, and a first node opens on one', async () => {
    const { browser, disk } = browserWithDisk(false);
    const first = browser.tab();
    await browser.open(first, openInline, { ...CHAIN, sharing });
    const two = await browser.open(browser.tab(), openInline, { ...CHAIN, sharing });
    await ask(two, 'evm_mine');
    disk.isFull = true;
    first.kill();
    expect(await ask(two, 'eth_blockNumber')).toBe('0x1');
    expect(two.storeStatus).toMatchObject(FULL);
    await ask(two, 'evm_mine');
    await two.close();
    const three = await browser.open(browser.tab(), openInline, { ...CHAIN, sharing });
    expect(await ask(three, 'eth_blockNumber')).toBe('0x1');
    expect(three.storeStatus).toMatchObject(FULL);
    disk.isFull = false;
    await ask(three, 'evm_mine');
    await expect.poll(() => three.storeStatus).toEqual({ mode: 'durable' });
    expect(await epochOf(browser)).toBe((await sharingOf(three)).epoch);
  });
});
