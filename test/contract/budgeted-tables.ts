import { describe, expect, it, vi } from 'vitest';
import { replaceEntry } from '../../src/chain/light/light-client-record.js';
import { PlumblineError } from '../../src/errors.js';
import { BudgetedTable } from '../../src/store/budgeted-table.js';
import type { PageStore } from '../../src/store/page-store.js';
import { emptyUsage, encodeUsage } from '../../src/store/table-usage.js';
import { WriteBehind } from '../../src/store/write-behind.js';
import { eventually } from '../support/eventually.js';

const filled = (length: number, value = 1) => new Uint8Array(length).fill(value);

/**
 * Contract of tables with a budget, for any store.
 *
 * @param fresh - creates an empty database; the returned function opens a store on it
 */
export function describeBudgets(name: string, fresh: () => Promise<() => Promise<PageStore>>): void {
  describe(`budgets: ${name}`, () => {
    const BUDGET = 1000;
    /** Keys of two characters and values of 98 bytes, so ten entries fit. */
    const keyOf = (n: number) => String(n).padStart(2, '0');
    const tableOf = (store: PageStore, budget = BUDGET) => {
      const writer = new WriteBehind(store, { delayMs: 60_000 });
      return { writer, table: new BudgetedTable(writer, 'codes', budget) };
    };
    async function filledTable(store: PageStore, count = 10) {
      const made = tableOf(store);
      for (let n = 0; n < count; n++) await made.table.put(keyOf(n), filled(98, n));
      return made;
    }

    it('return an entry before and after it is stored, and undefined for a missing one', async () => {
      const open = await fresh();
      const store = await open();
      const { writer, table } = await filledTable(store, 3);
      expect(await table.get('01')).toEqual(filled(98, 1));
      expect(await store.keys('codes')).toEqual([]);
      await writer.flush();
      expect(await store.keys('codes')).toEqual(['00', '01', '02']);
      expect(await table.get('01')).toEqual(filled(98, 1));
      expect(await table.get('09')).toBeUndefined();
      await table.delete('01');
      expect(await table.get('01')).toBeUndefined();
      await writer.flush();
      expect(await store.keys('codes')).toEqual(['00', '02']);
      await store.close();
    });

    it('evict the least recently used entry, also after the store was opened again', async () => {
      const open = await fresh();
      let store = await open();
      const first = await filledTable(store);
      await first.table.get('00');
      await first.table.put('10', filled(98, 10));
      await first.writer.flush();
      expect(await store.keys('codes')).toEqual(['00', '02', '03', '04', '05', '06', '07', '08', '09', '10']);
      await first.table.get('02');
      for (let n = 0; n < 40; n++) await first.table.get('03');
      await first.writer.flush();
      await store.close();

      store = await open();
      const second = tableOf(store);
      expect(await second.table.keys()).toEqual(['04', '05', '06', '07', '08', '09', '00', '10', '02', '03']);
      expect(second.table.bytes).toBe(BUDGET);
      await second.table.put('11', filled(298, 11));
      await second.writer.flush();
      expect(await store.keys('codes')).toEqual(['00', '02', '03', '07', '08', '09', '10', '11']);
      await store.close();
    });

    it('replace an entry by what the store holds then, with two writers at a time', async () => {
      const open = await fresh();
      const store = await open();
      const [one, other] = [tableOf(store), tableOf(store)];
      const larger = (value: number) => (held: Uint8Array | undefined) =>
        held !== undefined && held[0]! > value ? undefined : filled(98, value);
      for (let n = 0; n < 20; n++) {
        const key = keyOf(n % 3);
        const values = [n % 7, (n * 5) % 11];
        await Promise.all([one, other].map(({ table }, i) => replaceEntry(table, key, larger(values[i]!))));
      }
      // The largest value that was written under each key, in whatever order.
      const most = [0, 1, 2].map((key) =>
        Math.max(...[...Array(20).keys()].filter((n) => n % 3 === key).flatMap((n) => [n % 7, (n * 5) % 11])),
      );
      const held = await store.getMany('codes', [0, 1, 2].map(keyOf));
      expect(held).toEqual(most.map((value) => filled(98, value)));
      expect(one.table.bytes).toBe(300);
      // The least recently used one goes where there is room for two.
      const { writer, table } = tableOf(store, 250);
      const left = await table.keys();
      expect(left).toHaveLength(2);
      await replaceEntry(table, '03', () => filled(98, 9));
      await writer.flush();
      expect(await store.keys('codes')).toEqual([left[1], '03'].sort());
      await store.close();
    });

    it('store the order of use in a session that only reads and is never closed', async () => {
      const open = await fresh();
      const store = await open();
      await (await filledTable(store)).writer.flush();
      const table = new BudgetedTable(new WriteBehind(store, { delayMs: 1 }), 'codes', BUDGET);
      for (let n = 0; n < 40; n++) await table.get('00');
      const expected = ['01', '02', '03', '04', '05', '06', '07', '08', '09', '00'];
      await eventually(async () => expect(await tableOf(store).table.keys()).toEqual(expected));
      await store.close();
    });

    it('keep a smaller budget, with a large entry, and with an entry that grows', async () => {
      const open = await fresh();
      const store = await open();
      await (await filledTable(store)).writer.flush();
      const { writer, table } = tableOf(store, 250);
      expect(await table.keys()).toEqual(['08', '09']);
      await table.put('xx', filled(400));
      expect(await table.keys()).toEqual(['08', '09']);
      await table.put('09', filled(240));
      expect(await table.keys()).toEqual(['09']);
      await writer.flush();
      expect(await store.keys('codes')).toEqual(['09']);
      await store.close();
    });

    it('keep the budget when the index is missing, damaged, or lists missing entries', async () => {
      const open = await fresh();
      const store = await open();
      await (await filledTable(store)).writer.flush();
      const index = (await store.get('meta', 'index-codes'))!;
      const damaged = index.slice();
      damaged[damaged.length - 4]! ^= 1;
      // A whole record, of the store's figures.
      const other = encodeUsage(emptyUsage());
      for (const value of [undefined, damaged, other]) {
        const entry = { table: 'meta' as const, key: 'index-codes' };
        await store.commit(value === undefined ? { deletes: [entry] } : { puts: [{ ...entry, value }] });
        const { table } = tableOf(store);
        expect((await table.keys()).sort()).toEqual(Array.from({ length: 10 }, (_, n) => keyOf(n)));
        expect(table.bytes).toBe(BUDGET);
      }
      await store.commit({
        puts: [{ table: 'meta', key: 'index-codes', value: index }],
        deletes: [{ table: 'codes', key: '04' }],
      });
      const { table } = tableOf(store);
      expect(await table.keys()).not.toContain('04');
      expect(table.bytes).toBe(BUDGET - 100);
      await store.close();
    });

    it('keep entries written after a failed commit of the same keys', async () => {
      const open = await fresh();
      const store = await open();
      const { writer, table } = tableOf(store);
      await table.put('aa', filled(10, 1));
      await table.put('bb', filled(10, 1));
      await table.put('cc', filled(10, 1));
      let end = () => {};
      vi.spyOn(store, 'commit').mockImplementationOnce(
        () =>
          new Promise((_, reject) => {
            end = () => reject(new Error('full'));
          }),
      );
      const failing = writer.flush();
      await table.put('aa', filled(90, 2));
      await table.delete('bb');
      end();
      await failing;
      expect(await table.get('aa')).toEqual(filled(90, 2));
      expect(await table.keys()).toEqual(['aa']);
      expect(table.bytes).toBe(92);
      await writer.flush();
      expect(await store.get('codes', 'aa')).toEqual(filled(90, 2));
      expect(await store.keys('codes')).toEqual(['aa']);
      expect(await tableOf(store).table.keys()).toEqual(['aa']);
      await store.close();
    });

    it('count stored entries whose replacement, deletion or eviction failed', async () => {
      const open = await fresh();
      const store = await open();
      const { writer, table } = await filledTable(store);
      await writer.flush();
      const agrees = async () => {
        const keys = await store.keys('codes');
        expect((await table.keys()).sort()).toEqual(keys);
        const values = await store.getMany('codes', keys);
        expect(table.bytes).toBe(values.reduce((sum, value, i) => sum + value!.length + String(keys[i]).length, 0));
      };
      const commit = vi.spyOn(store, 'commit').mockRejectedValueOnce(new Error('full'));
      await table.put('09', filled(48, 1));
      await table.delete('08');
      await table.put('xx', filled(198, 1));
      expect(table.bytes).toBeLessThanOrEqual(BUDGET);
      await writer.flush();
      await agrees();
      expect(await table.get('09')).toEqual(filled(98, 9));
      expect(await table.get('xx')).toBeUndefined();
      // The next write brings it within its budget again.
      await table.put('yy', filled(98, 1));
      await writer.flush();
      await agrees();
      expect(table.bytes).toBeLessThanOrEqual(BUDGET);
      expect(await store.keys('codes')).toContain('yy');
      // An entry that cannot be read at present is not lost.
      vi.spyOn(store, 'get').mockRejectedValueOnce(new Error('busy'));
      expect(await table.get('09')).toBeUndefined();
      await agrees();
      expect(await table.get('09')).toEqual(filled(98, 9));
      commit.mockRestore();
      await store.close();
    });

    it('count stored entries when waiting entries were dropped, or the store was cleared', async () => {
      const open = await fresh();
      const store = await open();
      const writer = new WriteBehind(store, { delayMs: 60_000, maxPendingBytes: 150 });
      const table = new BudgetedTable(writer, 'codes', 10_000);
      await table.put('aa', filled(98, 1));
      await writer.flush();
      const kept = store.commit.bind(store);
      let go = () => {};
      const held = new Promise<void>((resolve) => {
        go = resolve;
      });
      vi.spyOn(store, 'commit').mockImplementationOnce(async (commit) => {
        await held;
        await kept(commit);
      });
      await table.put('bb', filled(98, 1));
      const flushed = writer.flush();
      // The newer values of these are dropped while the commit hangs.
      await table.put('aa', filled(18, 2));
      await table.put('bb', filled(18, 2));
      await table.put('cc', filled(138, 2));
      go();
      await flushed;
      await writer.flush();
      expect(await table.get('aa')).toEqual(filled(98, 1));
      expect(await table.get('bb')).toEqual(filled(98, 1));
      expect(await table.get('cc')).toEqual(filled(138, 2));
      expect(table.bytes).toBe(340);
      // Entries written during the clearing are stored after it, and count.
      await writer.discard();
      const emptied = store.clear();
      await table.put('dd', filled(8, 1));
      await emptied;
      table.reset();
      await writer.flush();
      expect(await table.keys()).toEqual(['dd']);
      expect(table.bytes).toBe(10);
      expect(await table.get('dd')).toEqual(filled(8, 1));
      await store.close();
    });

    it('commit waiting entries together, within the limit, and do not wait for a failing store', async () => {
      const open = await fresh();
      const store = await open();
      const commit = vi.spyOn(store, 'commit');
      const failures: unknown[] = [];
      const writer = new WriteBehind(store, {
        delayMs: 60_000,
        maxPendingBytes: 500,
        onFailure: (error) => failures.push(error),
      });
      const table = new BudgetedTable(writer, 'codes', 10_000);
      for (let n = 0; n < 5; n++) await table.put(keyOf(n), filled(98, n));
      expect(commit).toHaveBeenCalledTimes(0);
      await table.put('05', filled(98, 5));
      await writer.flush();
      expect(commit).toHaveBeenCalledTimes(1);
      expect(await store.keys('codes')).toHaveLength(6);

      // While a commit hangs, no more than the limit waits: the oldest entries are dropped.
      let end = () => {};
      commit.mockImplementationOnce(
        () =>
          new Promise((_, reject) => {
            end = () => reject(new Error('full'));
          }),
      );
      for (let n = 20; n < 40; n++) await table.put(keyOf(n), filled(98, n));
      const waiting = Array.from({ length: 20 }, (_, n) => keyOf(20 + n)).filter((key) => writer.waiting('codes', key));
      expect(waiting).toHaveLength(6 + 5);
      end();
      await writer.flush();
      expect(failures).toHaveLength(1);
      expect((await table.keys()).sort()).toEqual(['00', '01', '02', '03', '04', '05', '35', '36', '37', '38', '39']);
      expect(await store.keys('codes')).toEqual((await table.keys()).sort());
      await store.close();
    });

    it('keep what a store could not take for the next commit, within the limit', async () => {
      const open = await fresh();
      const store = await open();
      const commit = vi.spyOn(store, 'commit');
      const writer = new WriteBehind(store, { delayMs: 60_000, maxPendingBytes: 500 });
      const table = new BudgetedTable(writer, 'codes', 10_000);
      const gone = new PlumblineError('STORE_UNAVAILABLE', 'gone', { reason: 'gone' });
      await table.put('00', filled(98, 1));
      await table.put('01', filled(98, 1));
      commit.mockRejectedValueOnce(gone);
      await writer.flush();
      expect(await store.keys('codes')).toEqual([]);
      expect(await table.get('00')).toEqual(filled(98, 1));
      // A later value of the same key stays the later one.
      await table.put('01', filled(98, 2));
      await writer.flush();
      expect(await store.getMany('codes', ['00', '01'])).toEqual([filled(98, 1), filled(98, 2)]);
      expect(await tableOf(store).table.keys()).toEqual(['00', '01']);

      for (let n = 2; n < 7; n++) await table.put(keyOf(n), filled(98, n));
      let end = () => {};
      commit.mockImplementationOnce(
        () =>
          new Promise((_, reject) => {
            end = () => reject(gone);
          }),
      );
      const failing = writer.flush();
      for (let n = 7; n < 10; n++) await table.put(keyOf(n), filled(98, n));
      end();
      await failing;
      const waiting = (await table.keys()).filter((key) => writer.isWaiting('codes', key));
      expect(waiting).toEqual(['05', '06', '07', '08', '09']);
      await writer.flush();
      expect(await store.keys('codes')).toEqual(['00', '01', '05', '06', '07', '08', '09']);
      await store.close();
    });
  });
}
