import { deleteDB, openDB } from 'idb';
import { describe, expect, it, vi } from 'vitest';
import { openIdbStore } from '../../src/store/idb-store.js';
import { SCHEMA_VERSION } from '../../src/store/schema.js';
import { describePageStore } from './page-store.js';

let count = 0;
const freshName = () => `plumbline-test-${Date.now()}-${count++}`;

const value = new Uint8Array([1, 2, 3]);
const puts = [{ table: 'blocks' as const, key: 1, value }];

/** The contract of page stores, and that of a database: persistence, other pages, versions. */
export function describeIdbStore(): void {
  describePageStore('IndexedDB', () => openIdbStore(freshName()));
  describePageStore('IndexedDB, strict durability', () => openIdbStore(freshName(), { durability: 'strict' }));

  describe('IndexedDB store', () => {
    it('holds committed values after it was closed and opened again', async () => {
      const name = freshName();
      const first = await openIdbStore(name);
      await first.commit({ puts });
      await first.close();
      const second = await openIdbStore(name);
      expect(await second.get('blocks', 1)).toEqual(value);
      await second.close();
    });

    it('finishes a commit under way when the store is closed', async () => {
      const name = freshName();
      const first = await openIdbStore(name);
      const committed = first.commit({ puts });
      await first.close();
      await committed;
      const second = await openIdbStore(name);
      expect(await second.get('blocks', 1)).toEqual(value);
      await second.close();
    });

    it('shows two connections the same data', async () => {
      const name = freshName();
      const [a, b] = [await openIdbStore(name), await openIdbStore(name)];
      await a.commit({ puts });
      expect(await b.get('blocks', 1)).toEqual(value);
      await a.close();
      await b.close();
    });

    it('writes nothing of a commit with bytes that cannot be cloned', async () => {
      const store = await openIdbStore(freshName());
      const detached = new Uint8Array(4);
      structuredClone(detached.buffer, { transfer: [detached.buffer] });
      const commit = { puts: [...puts, { table: 'meta' as const, key: 'x', value: detached }] };
      await expect(store.commit(commit)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(await store.keys('blocks')).toEqual([]);
      await store.commit({ puts });
      expect(await store.keys('blocks')).toEqual([1]);
      await store.close();
    });

    it('refuses a database that a newer version wrote, and does not change it', async () => {
      const name = freshName();
      const newer = await openDB(name, 99, { upgrade: (database) => void database.createObjectStore('later') });
      await newer.put('later', 'kept', 1);
      newer.close();
      await expect(openIdbStore(name)).rejects.toMatchObject({
        code: 'STORE_TOO_NEW',
        details: { version: 99, supported: SCHEMA_VERSION },
      });
      const again = await openDB(name);
      expect(again.version).toBe(99);
      expect([...again.objectStoreNames]).toEqual(['later']);
      expect(await again.get('later', 1)).toBe('kept');
      again.close();
    });

    it('closes for a newer version, reports it once, and is unavailable then', async () => {
      const name = freshName();
      const lost: string[] = [];
      const store = await openIdbStore(name, { onLost: (error) => lost.push(error.code) });
      const newer = await openDB(name, 99);
      expect(newer.version).toBe(99);
      await expect(store.get('meta', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await store.close();
      expect(lost).toEqual(['STORE_UNAVAILABLE']);
      newer.close();
    });

    it('does not report a loss when its owner closes it', async () => {
      const name = freshName();
      const lost: string[] = [];
      const store = await openIdbStore(name, { onLost: (error) => lost.push(error.code) });
      await store.close();
      await deleteDB(name);
      expect(lost).toEqual([]);
    });

    it('stops waiting for a page that blocks opening, and closes a database that opens later', async () => {
      const name = freshName();
      // A page that ignores `versionchange`, and a deletion that waits for it: opening has to wait for both.
      const holder = await openDB(name, 1, { upgrade: (database) => void database.createObjectStore('old') });
      const deletion = deleteDB(name);
      await expect(openIdbStore(name, { openTimeoutMs: 20 })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      const closed = vi.spyOn(IDBDatabase.prototype, 'close');
      try {
        holder.close();
        await deletion;
        const store = await openIdbStore(name);
        expect(await store.keys('blocks')).toEqual([]);
        await store.close();
        await deleteDB(name);
        // Only the page and the store are open: the database that opened too late was closed.
        expect(closed).toHaveBeenCalledTimes(2);
      } finally {
        closed.mockRestore();
      }
    });

    it('reports a full disk, at a put and at the commit, and writes nothing', async () => {
      const store = await openIdbStore(freshName());
      const full = () => new DOMException('full', 'QuotaExceededError');
      const put = IDBObjectStore.prototype.put;
      const spy = vi.spyOn(IDBObjectStore.prototype, 'put');
      try {
        spy.mockImplementation(() => {
          throw full();
        });
        await expect(store.commit({ puts })).rejects.toMatchObject({ code: 'STORE_QUOTA_EXCEEDED' });
        spy.mockImplementation(function (this: IDBObjectStore, ...args) {
          const request = put.apply(this, args);
          Object.defineProperty(this.transaction, 'error', { value: full() });
          this.transaction.abort();
          return request;
        });
        await expect(store.commit({ puts })).rejects.toMatchObject({ code: 'STORE_QUOTA_EXCEEDED' });
      } finally {
        spy.mockRestore();
      }
      expect(await store.keys('blocks')).toEqual([]);
      await store.close();
    });

    it.each(['relaxed', 'strict', 'default'] as const)(
      'does each commit and each reading in one transaction, commits of durability %s',
      async (durability) => {
        const options = durability === 'relaxed' ? {} : { durability };
        const store = await openIdbStore(freshName(), options);
        const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
        try {
          const many = Array.from({ length: 100 }, (_, key) => ({ table: 'blocks' as const, key, value }));
          const [expects, deletes] = [[{ table: 'meta' as const, key: 'x', value: undefined }], [{ ...many[0]! }]];
          await store.commit({ expects, deletes, puts: [...many, { table: 'state', key: 'page', value }] });
          expect(begun.mock.calls).toEqual([[['meta', 'blocks', 'state'], 'readwrite', { durability }]]);
          expect(await store.getMany('blocks', many.map(({ key }) => key).reverse())).toHaveLength(100);
          expect(begun).toHaveBeenCalledTimes(2);
          await store.clear();
          expect(begun.mock.calls[2]!.slice(1)).toEqual(['readwrite', { durability }]);
          expect(begun).toHaveBeenCalledTimes(3);
        } finally {
          begun.mockRestore();
        }
        await store.close();
      },
    );

    it('finishes a commit under way when another page upgrades', async () => {
      const name = freshName();
      const store = await openIdbStore(name);
      const [committed, upgraded] = [store.commit({ puts }), openDB(name, 99)];
      await committed;
      const newer = await upgraded;
      expect(await newer.get('blocks', 1)).toEqual(value);
      newer.close();
      await expect(store.commit({ puts })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await store.close();
    });

    it('reports a value that is not bytes as corrupt', async () => {
      const name = freshName();
      const store = await openIdbStore(name);
      const other = await openDB(name);
      await other.put('blocks', 'text', 1);
      other.close();
      const corrupt = { code: 'STORE_CORRUPT', details: { table: 'blocks' } };
      await expect(store.get('blocks', 1)).rejects.toMatchObject(corrupt);
      await expect(store.getMany('blocks', [1])).rejects.toMatchObject(corrupt);
      await store.close();
    });
  });
}
