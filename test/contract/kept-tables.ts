import { describe, expect, it, vi } from 'vitest';
import { MeteredStore } from '../../src/store/metered-store.js';
import type { Key, PageStore, Table } from '../../src/store/page-store.js';
import { TABLES } from '../../src/store/schema.js';
import { encodeChecked } from '../../src/store/table-usage.js';
import { describeBudgets } from './budgeted-tables.js';
import { describePageStore } from './page-store.js';

const KEY_BYTES = 8;
const filled = (length: number, value = 1) => new Uint8Array(length).fill(value);

/** Records and bytes of every table, counted record by record. A numeric key counts as eight bytes. */
async function read(store: PageStore): Promise<Record<string, { records: number; bytes: number }>> {
  const figures: Record<string, { records: number; bytes: number }> = {};
  for (const table of TABLES) {
    const keys = (await store.keys(table)).filter(
      (key) => table !== 'meta' || !['usage', 'writer'].includes(String(key)),
    );
    const values = await store.getMany(table, keys);
    const bytes = keys.map((key, i) => (typeof key === 'number' ? KEY_BYTES : key.length) + values[i]!.length);
    figures[table] = { records: keys.length, bytes: bytes.reduce((sum, size) => sum + size, 0) };
  }
  return figures;
}

/**
 * Contract of figures and budgets (`budgeted-tables.ts`), for any store.
 *
 * @param fresh - creates an empty database; the returned function opens a store on it
 * @param once - opens an empty store that `close` ends, if the stores of `fresh` stay open
 */
export function describeKeptTables(
  name: string,
  fresh: () => Promise<() => Promise<PageStore>>,
  once: () => Promise<PageStore> = async () => (await fresh())(),
): void {
  describePageStore(`${name}, metered`, async () => new MeteredStore(await once()));

  describe(`figures: ${name}`, () => {
    it('are right after puts, replacements, deletions and repetitions', async () => {
      const open = await fresh();
      let store = new MeteredStore(await open());
      const put = (table: Table, key: Key, length: number) => ({ table, key, value: filled(length) });
      const steps = [
        { puts: [put('blocks', 0, 100), put('blocks', 1, 50), put('meta', 'head', 1)] },
        { puts: [put('blocks', 1, 70), put('blocks', 1, 90)], deletes: [{ table: 'blocks' as const, key: 0 }] },
        { puts: [put('codes', 'a', 10)], deletes: [{ table: 'codes' as const, key: 'a' }] },
        { deletes: [{ table: 'blocks' as const, key: 77 }] },
        { puts: Array.from({ length: 200 }, (_, n) => put('state', `page ${n}`, n)) },
        { deletes: Array.from({ length: 150 }, (_, n) => ({ table: 'state' as const, key: `page ${n}` })) },
        {},
      ];
      for (const [i, step] of steps.entries()) {
        await store.commit(step);
        // The figures of the commits, before any table is counted.
        expect(await store.noted(), `step ${i}`).toEqual(await read(store));
        expect(await store.usage(), `step ${i}`).toEqual(await read(store));
        // A store that was just opened has the same figures and continues from them.
        if (i % 2 === 0) continue;
        await store.close();
        store = new MeteredStore(await open());
        expect(await store.noted(), `step ${i}`).toEqual(await read(store));
        expect(await store.usage(), `step ${i}`).toEqual(await read(store));
      }
      await store.clear();
      expect(Object.values(await store.usage()).every(({ records, bytes }) => records + bytes === 0)).toBe(true);
      await store.close();
    });

    it('are right after a commit that failed, whether it was carried out or not', async () => {
      const open = await fresh();
      const bare = await open();
      const store = new MeteredStore(bare);
      const put = (key: Key, length: number) => ({ puts: [{ table: 'blocks' as const, key, value: filled(length) }] });
      await store.commit(put(1, 500));
      const commit = bare.commit.bind(bare);
      for (const isDone of [false, true]) {
        vi.spyOn(bare, 'commit').mockImplementationOnce(async (given) => {
          if (isDone) await commit(given);
          throw new Error('the connection broke');
        });
        await expect(store.commit(put(1, 70))).rejects.toThrow();
        expect(await store.usage()).toEqual(await read(bare));
        await store.commit(put(2, 30));
        expect(await store.usage()).toEqual(await read(bare));
      }
      await bare.close();
    });

    it('are counted again when they are missing, damaged or wrong', async () => {
      const open = await fresh();
      const bare = await open();
      const record = { table: 'blocks' as const, key: 1, value: filled(500) };
      await bare.commit({ puts: [record, { ...record, key: 2 }] });
      expect(await new MeteredStore(bare).usage()).toEqual(await read(bare));
      const metered = new MeteredStore(bare);
      await metered.commit({ puts: [{ ...record, key: 3 }] });
      const stored = (await bare.get('meta', 'usage'))!;
      const flipped = (at: number) => stored.map((byte, i) => (i === at ? byte ^ 1 : byte));
      // The last one is a whole record, of something else.
      for (const damaged of [flipped(0), flipped(stored.length - 9), encodeChecked('{"number":1}')]) {
        await bare.commit({ puts: [{ table: 'meta', key: 'usage', value: damaged }] });
        expect(await new MeteredStore(bare).usage()).toEqual(await read(bare));
      }
      // Other code deletes a record.
      await bare.commit({
        puts: [{ table: 'meta', key: 'usage', value: stored }],
        deletes: [{ table: 'blocks', key: 1 }],
      });
      const later = new MeteredStore(bare);
      expect(await later.usage()).toEqual(await read(bare));
      await bare.close();
    });

    it('do not change with a commit that fails', async () => {
      const open = await fresh();
      const store = new MeteredStore(await open());
      await store.commit({ puts: [{ table: 'blocks', key: 1, value: filled(10) }] });
      const before = await store.usage();
      const failing = {
        expects: [{ table: 'blocks' as const, key: 1, value: undefined }],
        puts: [{ table: 'blocks' as const, key: 2, value: filled(10) }],
      };
      await expect(store.commit(failing)).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
      expect(await store.usage()).toEqual(before);
      expect(before).toEqual(await read(store));
      await store.close();
    });
  });

  describeBudgets(name, fresh);
}
