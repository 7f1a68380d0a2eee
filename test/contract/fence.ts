import { describe, expect, test } from 'vitest';
import { claimStore, type FencedStore, LEASE_KEY, type Lease, WRITER_KEY } from '../../src/store/fence.js';
import type { PageStore } from '../../src/store/page-store.js';

const TAKEN_OVER = { code: 'STORE_TAKEN_OVER' };
const value = Uint8Array.of(1, 2, 3);
const put = (key: number) => ({ puts: [{ table: 'blocks' as const, key, value }] });

/** A lease of 1 000 ms by a clock that is set by hand. */
function leaseAt(time: { ms: number }): Lease {
  return { leaseMs: 1_000, now: () => time.ms };
}

/** How a store has one writer at a time, whatever it is kept in. @param open - gives a store on an empty place */
export function describeFence(name: string, open: () => Promise<PageStore>): void {
  describe(`one writer at a time: ${name}`, () => {
    test('commits of an earlier one are refused, whatever they hold', async () => {
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

    test('of several that claim it at once, the last one writes', async () => {
      const store = await open();
      const claims = (await Promise.all([1, 2, 3].map(() => claimStore(store)))) as FencedStore[];
      expect(new Set(claims.map(({ epoch }) => epoch)).size).toBe(3);
      const outcomes = await Promise.allSettled(claims.map((claim, i) => claim.commit(put(i))));
      const written = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
      const last = claims.reduce((best, { epoch }, i) => (epoch > claims[best]!.epoch ? i : best), 0);
      expect(written).toEqual([last]);
      await store.close();
    });

    test('clearing keeps who writes', async () => {
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

    test('clearing is one commit: nothing of a later writer is cleared, nor that it writes', async () => {
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

    test('a record that cannot be read holds nobody up', async () => {
      for (const text of ['', '{', '{"epoch":"x"}', 'null', '{"epoch":-1e99}']) {
        const store = await open();
        await store.commit({ puts: [{ table: 'meta', key: WRITER_KEY, value: new TextEncoder().encode(text) }] });
        const claimed = (await claimStore(store))!;
        await claimed.commit(put(1));
        await store.close();
      }
    });

    test('a lease is respected until it has run out, and renewed', async () => {
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

    test('a lease of a clock that was ahead counts for nothing', async () => {
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
      // Closed by each of its users.
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

/** A store on top of another, with some of its methods. */
function over(store: PageStore, own: Partial<PageStore>): PageStore {
  const names = ['get', 'getMany', 'keys', 'commit', 'clear', 'close'] as const;
  const methods = names.map((name) => [name, (store[name] as (...args: unknown[]) => unknown).bind(store)]);
  return Object.assign(Object.create(store), Object.fromEntries(methods), own) as PageStore;
}
