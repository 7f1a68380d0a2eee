import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Key, PageStore } from '../../src/store/page-store.js';

/** Contract of every page store. @param open - opens an empty store */
export function describePageStore(name: string, open: () => Promise<PageStore>): void {
  describe(`page store: ${name}`, () => {
    let store: PageStore;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    const bytes = (...values: number[]) => new Uint8Array(values);
    const put = (key: Key, ...values: number[]) => ({ table: 'blocks' as const, key, value: bytes(...values) });
    const del = (key: Key) => ({ table: 'blocks' as const, key });

    it('returns stored values, and undefined for missing ones', async () => {
      await store.commit({ puts: [put(7, 1, 2, 3), put('head', 4), put('empty')] });
      expect(await store.get('blocks', 7)).toEqual(bytes(1, 2, 3));
      expect(await store.get('blocks', 'head')).toEqual(bytes(4));
      expect(await store.get('blocks', 'empty')).toEqual(bytes());
      expect(await store.get('blocks', 8)).toBeUndefined();
    });

    it('keeps tables, and number and string keys, apart', async () => {
      const at = (table: 'meta' | 'blocks', key: Key, value: number) => ({ table, key, value: bytes(value) });
      await store.commit({ puts: [at('meta', 1, 1), at('blocks', 1, 2), at('blocks', '1', 3)] });
      expect(await store.get('meta', 1)).toEqual(bytes(1));
      expect(await store.get('blocks', 1)).toEqual(bytes(2));
      expect(await store.get('blocks', '1')).toEqual(bytes(3));
      expect(await store.keys('dictionaries')).toEqual([]);
    });

    it('replaces, deletes, and puts after deleting the same key', async () => {
      await store.commit({ puts: [put('a', 1), put('b', 2), put('c', 3)] });
      await store.commit({ puts: [put('a', 9), put('b', 8)], deletes: [del('b'), del('c'), del('never there')] });
      expect(await store.getMany('blocks', ['a', 'b', 'c'])).toEqual([bytes(9), bytes(8), undefined]);
    });

    it('takes the last of two puts to one key', async () => {
      await store.commit({ puts: [put('a', 1), put('a', 2)] });
      expect(await store.get('blocks', 'a')).toEqual(bytes(2));
    });

    it('lists keys in ascending order, numbers before strings', async () => {
      await store.commit({ puts: ['b', 10, 'a', 9, -1, 'B', '', 2 ** 53 - 1, 'é', '10'].map((key) => put(key, 0)) });
      expect(await store.keys('blocks')).toEqual([-1, 9, 10, 2 ** 53 - 1, '', '10', 'B', 'a', 'b', 'é']);
    });

    it('answers many keys in the order asked, repeats included', async () => {
      await store.commit({ puts: [put(1, 1), put(2, 2)] });
      expect(await store.getMany('blocks', [2, 3, 1, 2])).toEqual([bytes(2), undefined, bytes(1), bytes(2)]);
      expect(await store.getMany('blocks', [])).toEqual([]);
    });

    it('holds copies: changing written or read bytes does not change the store', async () => {
      const given = bytes(1, 2, 3);
      const committed = store.commit({ puts: [{ table: 'blocks', key: 'a', value: given }] });
      given.fill(9);
      await committed;
      const got = await store.get('blocks', 'a');
      expect(got).toEqual(bytes(1, 2, 3));
      got?.fill(8);
      expect(await store.get('blocks', 'a')).toEqual(bytes(1, 2, 3));
    });

    it('stores the bytes of a view, not the buffer under it', async () => {
      const view = new Uint8Array(1024).fill(5).subarray(10, 12);
      await store.commit({ puts: [{ table: 'blocks', key: 'a', value: view }] });
      const got = await store.get('blocks', 'a');
      expect(got).toEqual(bytes(5, 5));
      expect(got?.buffer.byteLength).toBe(2);
    });

    it.each([1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])(
      'refuses the key %s and writes nothing',
      async (key) => {
        await expect(store.commit({ puts: [put('a', 1), put(key, 2)] })).rejects.toMatchObject({
          code: 'INVALID_PARAMETER',
        });
        await expect(store.commit({ puts: [put('a', 1)], deletes: [del(key)] })).rejects.toMatchObject({
          code: 'INVALID_PARAMETER',
        });
        await expect(store.get('blocks', key)).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
        await expect(store.getMany('blocks', [key])).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
        expect(await store.keys('blocks')).toEqual([]);
      },
    );

    it('refuses a value that is not bytes and writes nothing', async () => {
      const wrong = { table: 'blocks' as const, key: 'b', value: [1, 2] as unknown as Uint8Array };
      await expect(store.commit({ puts: [put('a', 1), wrong] })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
      expect(await store.keys('blocks')).toEqual([]);
    });

    it('accepts an empty commit', async () => {
      await store.commit({});
      await store.commit({ puts: [], deletes: [] });
      expect(await store.keys('meta')).toEqual([]);
    });

    it('refuses a commit whose expectations are not met, and writes nothing', async () => {
      await store.commit({ puts: [put('a', 1), put('b', 2)] });
      const expects = (key: Key, ...values: number[]) => ({ ...put(key, ...values) });
      const absent = (key: Key) => ({ table: 'meta' as const, key, value: undefined });
      await store.commit({ expects: [expects('a', 1), absent('x')], puts: [put('a', 3)], deletes: [del('b')] });
      expect(await store.getMany('blocks', ['a', 'b'])).toEqual([bytes(3), undefined]);
      const takenOver = { code: 'STORE_TAKEN_OVER' };
      for (const wrong of [expects('a', 1), expects('a', 3, 0), expects('a'), absent('y')]) {
        if (wrong.key === 'y') await store.commit({ puts: [{ ...absent('y'), value: bytes() }] });
        const commit = { expects: [expects('a', 3), wrong], puts: [put('a', 9), put('c', 9)], deletes: [del('a')] };
        await expect(store.commit(commit)).rejects.toMatchObject(takenOver);
        await expect(store.commit({ expects: [wrong] })).rejects.toMatchObject(takenOver);
      }
      expect(await store.getMany('blocks', ['a', 'c'])).toEqual([bytes(3), undefined]);
      await expect(store.commit({ expects: [expects(1.5)] })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
    });

    it('accepts one of several commits that expect and change the same value', async () => {
      await store.commit({ puts: [put('a', 0)] });
      const swap = (to: number) => store.commit({ expects: [put('a', 0)], puts: [put('a', to)] });
      const outcomes = await Promise.allSettled([1, 2, 3, 4].map(swap));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled') + 1;
      expect(await store.get('blocks', 'a')).toEqual(bytes(winner));
    });

    it('applies commits that were not awaited in the order they came', async () => {
      await Promise.all([1, 2, 3, 4, 5].map((value) => store.commit({ puts: [put('a', value)] })));
      expect(await store.get('blocks', 'a')).toEqual(bytes(5));
    });

    it('clears everything', async () => {
      const everywhere = (['meta', 'blocks', 'dictionaries'] as const).map((table) => ({
        table,
        key: 1,
        value: bytes(1),
      }));
      await store.commit({ puts: everywhere });
      await store.clear();
      for (const { table } of everywhere) expect(await store.keys(table)).toEqual([]);
    });

    it('clears in one transaction if the expectations are met, and keeps the given entries', async () => {
      const at = (table: 'dictionaries' | 'blocks', key: Key) => ({ table, key, value: bytes(1) });
      const held = [
        at('dictionaries', 1),
        at('dictionaries', 'a'),
        at('dictionaries', 'b'),
        at('dictionaries', 'c'),
        at('blocks', 'a'),
        at('blocks', 5),
      ];
      await store.commit({ puts: held });
      const keeps = ['b', 'a', 'x'].map((key) => ({ table: 'dictionaries' as const, key }));
      for (const expects of [[{ ...at('blocks', 5), value: bytes(2) }], [{ ...at('blocks', 'a'), value: undefined }]]) {
        await expect(store.clear({ expects, keeps })).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
        expect(await store.keys('dictionaries')).toEqual([1, 'a', 'b', 'c']);
        expect(await store.keys('blocks')).toEqual([5, 'a']);
      }
      await store.clear({ expects: [at('blocks', 5)], keeps });
      expect(await store.keys('dictionaries')).toEqual(['a', 'b']);
      expect(await store.get('dictionaries', 'b')).toEqual(bytes(1));
      expect(await store.keys('blocks')).toEqual([]);
      await expect(store.clear({ keeps: [{ table: 'dictionaries', key: 1.5 }] })).rejects.toMatchObject({
        code: 'INVALID_PARAMETER',
      });
    });

    it('is unavailable once closed, and may be closed twice', async () => {
      await store.close();
      await store.close();
      const unavailable = { code: 'STORE_UNAVAILABLE', details: { reason: 'closed' } };
      await expect(store.get('meta', 1)).rejects.toMatchObject(unavailable);
      await expect(store.getMany('meta', [])).rejects.toMatchObject(unavailable);
      await expect(store.keys('meta')).rejects.toMatchObject(unavailable);
      await expect(store.commit({})).rejects.toMatchObject(unavailable);
      await expect(store.clear()).rejects.toMatchObject(unavailable);
    });
  });
}
