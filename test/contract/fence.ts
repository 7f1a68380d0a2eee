import { describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { claimLater, claimStore, type FencedStore, LEASE_KEY, type Lease, WRITER_KEY } from '../../src/store/fence.js';
import type { PageStore } from '../../src/store/page-store.js';

const TAKEN_OVER = { code: 'STORE_TAKEN_OVER' };
const FULL = { code: 'STORE_QUOTA_EXCEEDED' };
const value = Uint8Array.of(1, 2, 3);
const put = (key: number) => ({ puts: [{ table: 'blocks' as const, key, value }] });

/** A lease of 1 000 ms with a clock that the test sets. */
function leaseAt(time: { ms: number }): Lease {
  return { leaseMs: 1_000, now: () => time.ms };
}

/** A store on a disk that can be full. @param deletes - whether commits that only delete succeed then, as in browsers */
function onDisk(store: PageStore, disk: { isFull: boolean }, deletes = true): PageStore {
  return over(store, {
    commit: async (commit) => {
      const isRefused = (commit.puts ?? []).length + (deletes ? 0 : (commit.deletes ?? []).length) > 0;
      if (disk.isFull && isRefused) throw new PlumblineError('STORE_QUOTA_EXCEEDED', 'full', {});
      return store.commit(commit);
    },
  });
}

/** Claims a store on a full disk, as a writer with a Web Lock does. */
async function claimFull(store: PageStore): Promise<FencedStore> {
  const failure = await claimStore(store).catch((error: unknown) => error);
  expect(failure).toMatchObject(FULL);
  return claimLater(store, failure as PlumblineError<'STORE_QUOTA_EXCEEDED'>);
}

/** Contract of claims, for any store. @param open - opens an empty store */
export function describeFence(name: string, open: () => Promise<PageStore>): void {
  describe(`one writer at a time: ${name}`, () => {
    test('commits of an earlier writer are refused', async () => {
      const store = await open();
      const first = (await claimStore(store))!;
      await first.commit(put(1));
      const second = (await claimStore(store))!;
      expect(second.epoch).toBeGreaterThan(first.epoch);
      let told = 0;
      first.onTakenOver = () => told++;
      await expect(first.commit(put(2))).rejects.toMatchObject(TAKEN_OVER);
      await expect(first.commit({ deletes: [{ table: 'blocks', key: 1 }] })).rejects.toMatchObject(TAKEN_OVER);
      await expect(first.clear()).rejects.toMatchObject(TAKEN_OVER);
      expect(told).toBe(1);
      await second.commit(put(3));
      expect(await second.keys('blocks')).toEqual([1, 3]);
      await store.close();
    });

    test('of several claims at once, the last one is the writer', async () => {
      const store = await open();
      const claims = (await Promise.all([1, 2, 3].map(() => claimStore(store)))) as FencedStore[];
      expect(new Set(claims.map(({ epoch }) => epoch)).size).toBe(3);
      const outcomes = await Promise.allSettled(claims.map((claim, i) => claim.commit(put(i))));
      const written = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
      const last = claims.reduce((best, { epoch }, i) => (epoch > claims[best]!.epoch ? i : best), 0);
      expect(written).toEqual([last]);
      await store.close();
    });

    test('clearing keeps the records of writer and lease', async () => {
      const store = await open();
      const first = (await claimStore(store))!;
      await first.commit(put(1));
      await first.clear();
      await first.commit(put(2));
      expect(await store.keys('blocks')).toEqual([2]);
      expect(await store.keys('meta')).toEqual([WRITER_KEY]);
      const leased = (await claimStore(store, leaseAt({ ms: 1e12 })))!;
      await leased.clear();
      expect(await claimStore(store, leaseAt({ ms: 1e12 }))).toBeUndefined();
      await store.close();
    });

    test('clearing is one commit: an earlier writer clears nothing of a later one', async () => {
      const kept = await open();
      let go = () => {};
      const waiting = new Promise<void>((resolve) => {
        go = resolve;
      });
      const slow = over(kept, {
        clear: async (...given) => {
          await waiting;
          return kept.clear(...given);
        },
      });
      const old = (await claimStore(slow))!;
      const refused = expect(old.clear()).rejects.toMatchObject(TAKEN_OVER);
      const next = (await claimStore(kept))!;
      await next.commit(put(1));
      go();
      await refused;
      expect(await kept.get('blocks', 1)).toEqual(value);
      await next.commit(put(2));
      await expect(old.commit(put(3))).rejects.toMatchObject(TAKEN_OVER);
      expect(await kept.keys('blocks')).toEqual([1, 2]);
      await kept.close();
    });

    test.each([true, false])(
      'on a full disk the first commit claims the store (deleting works: %s)',
      async (deletes) => {
        const kept = await open();
        const disk = { isFull: false };
        const store = onDisk(kept, disk, deletes);
        const first = (await claimStore(store))!;
        await first.commit({ puts: [...put(1).puts, ...put(2).puts] });
        disk.isFull = true;
        const late = await claimFull(store);
        expect(late.epoch).toBeGreaterThan(first.epoch);
        if (late.health !== undefined) expect(late.health.status).toMatchObject({ mode: 'memory', reason: FULL.code });
        expect(await late.get('blocks', 1)).toEqual(value);
        await expect(late.commit(put(3))).rejects.toMatchObject(FULL);
        await late.commit({});
        if (deletes) {
          await late.commit({ deletes: [{ table: 'blocks', key: 2 }] });
          await expect(first.commit({ deletes: [{ table: 'blocks', key: 1 }] })).rejects.toMatchObject(TAKEN_OVER);
        }
        disk.isFull = false;
        await Promise.all([late.commit(put(3)), late.commit(put(4)), late.commit(put(5))]);
        expect(JSON.parse(new TextDecoder().decode(await kept.get('meta', WRITER_KEY)))).toMatchObject({
          epoch: late.epoch,
        });
        if (late.health !== undefined) expect(late.health.status).toEqual({ mode: 'durable' });
        await expect(first.commit(put(1))).rejects.toMatchObject(TAKEN_OVER);
        expect(await kept.keys('blocks')).toEqual(deletes ? [1, 3, 4, 5] : [1, 2, 3, 4, 5]);
        const next = (await claimStore(store))!;
        expect(next.epoch).toBeGreaterThan(late.epoch);
        await expect(late.commit(put(6))).rejects.toMatchObject(TAKEN_OVER);
        await kept.close();
      },
    );

    test.each([true, false])(
      'a claim that comes late is one that may have been lost (deleting works: %s)',
      async (deletes) => {
        const kept = await open();
        const disk = { isFull: false };
        const store = onDisk(kept, disk, deletes);
        await (await claimStore(store))!.commit(put(1));
        disk.isFull = true;
        const [one, other] = [await claimFull(store), await claimFull(store)];
        disk.isFull = false;
        await other.commit(put(2));
        await expect(one.commit(put(3))).rejects.toMatchObject(TAKEN_OVER);
        await expect(one.clear()).rejects.toMatchObject(TAKEN_OVER);
        expect(await kept.keys('blocks')).toEqual([1, 2]);
        await kept.close();
      },
    );

    test('a full disk can be cleared, and then the store can be claimed', async () => {
      const kept = await open();
      const disk = { isFull: false };
      const store = onDisk(kept, disk);
      await (await claimStore(store))!.commit(put(1));
      disk.isFull = true;
      const late = await claimFull(store);
      await late.clear();
      expect(await kept.keys('blocks')).toEqual([]);
      disk.isFull = false;
      await late.commit(put(2));
      const next = (await claimStore(store))!;
      await expect(late.commit(put(3))).rejects.toMatchObject(TAKEN_OVER);
      await next.commit(put(4));
      expect(await kept.keys('blocks')).toEqual([2, 4]);
      await kept.close();
    });

    test('a damaged writer record is replaced', async () => {
      for (const text of ['', '{', '{"epoch":"x"}', 'null', '{"epoch":-1e99}']) {
        const store = await open();
        await store.commit({ puts: [{ table: 'meta', key: WRITER_KEY, value: new TextEncoder().encode(text) }] });
        const claimed = (await claimStore(store))!;
        await claimed.commit(put(1));
        await store.close();
      }
    });

    test('a lease is respected until it expires, and can be renewed', async () => {
      const time = { ms: 1e12 };
      const lease = leaseAt(time);
      const store = await open();
      const first = (await claimStore(store, lease))!;
      time.ms += 900;
      expect(await claimStore(store, lease)).toBeUndefined();
      await first.renew();
      time.ms += 900;
      expect(await claimStore(store, lease)).toBeUndefined();
      await first.commit(put(1));
      time.ms += 200;
      const second = (await claimStore(store, lease))!;
      await expect(first.renew()).rejects.toMatchObject(TAKEN_OVER);
      await second.commit(put(2));
      await store.close();
    });

    test('a lease of a clock that was ahead is ignored', async () => {
      const time = { ms: 1e12 };
      const store = await open();
      await claimStore(store, leaseAt(time));
      time.ms -= 60_000;
      expect(await claimStore(store, leaseAt(time))).toBeDefined();
      await store.close();
    });

    test('closing gives a lease back, but not that of a later writer', async () => {
      const time = { ms: 1e12 };
      const lease = leaseAt(time);
      const kept = await open();
      // Each of its users closes it.
      const store = over(kept, { close: async () => {} });
      const first = (await claimStore(store, lease))!;
      await first.close();
      expect(await kept.get('meta', LEASE_KEY)).toBeUndefined();
      const second = (await claimStore(store, lease))!;
      time.ms += 2_000;
      const third = (await claimStore(store, lease))!;
      await second.close();
      expect(await kept.get('meta', LEASE_KEY)).toBeDefined();
      await third.commit(put(1));
      await kept.close();
    });
  });
}

/** A store with some methods of another replaced. */
function over(store: PageStore, own: Partial<PageStore>): PageStore {
  const names = ['get', 'getMany', 'keys', 'commit', 'clear', 'close'] as const;
  const methods = names.map((name) => [name, (store[name] as (...args: unknown[]) => unknown).bind(store)]);
  return Object.assign(Object.create(store), Object.fromEntries(methods), own) as PageStore;
}
