import { deleteDB, openDB } from 'idb';
import { describe, expect, it, vi } from 'vitest';
import { claimStore } from '../../src/store/fence.js';
import { openIdbStore } from '../../src/store/idb-store.js';
import { SCHEMA_VERSION, TABLES } from '../../src/store/schema.js';
import { settled } from '../support/eventually.js';

let count = 0;
const freshName = () => `plumbline-connection-${Date.now()}-${count++}`;

const value = new Uint8Array([1, 2, 3]);
const puts = [{ table: 'blocks' as const, key: 1, value }];

/**
 * A store, and functions that end its connection as a browser does: `terminate` with the event `close`, `kill` without it, so that every
 * transaction is an InvalidStateError.
 */
async function terminable(name: string, onLost: (code: string) => void = () => {}) {
  const listen = IDBDatabase.prototype.addEventListener;
  const ends: (() => void)[] = [];
  const databases: IDBDatabase[] = [];
  const spy = vi.spyOn(IDBDatabase.prototype, 'addEventListener').mockImplementation(function (
    this: IDBDatabase,
    ...args: Parameters<typeof listen>
  ) {
    const [type, listener] = args;
    if (type === 'close') {
      databases.push(this);
      ends.push(() => {
        this.close();
        (listener as () => void)();
      });
    }
    return listen.apply(this, args);
  });
  const store = await openIdbStore(name, { onLost: ({ code }) => onLost(code) });
  spy.mockRestore();
  return { store, terminate: () => ends.at(-1)!(), kill: () => databases.at(-1)!.close() };
}

/** Has the browser say of the next transaction that it failed, although it was made. @returns the spy of all transactions */
function completesAsFailed() {
  const transact = IDBDatabase.prototype.transaction;
  let isNext = true;
  return vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
    const transaction = transact.apply(this, args as Parameters<typeof transact>);
    if (!isNext) return transaction;
    isNext = false;
    const listen = transaction.addEventListener;
    const own = new Map<string, () => void>();
    transaction.addEventListener = (type: string, listener: unknown) => {
      const isOwn = type === 'complete' && !own.has(type);
      if (!own.has(type)) own.set(type, listener as () => void);
      listen.call(transaction, type, isOwn ? () => own.get('abort')!() : (listener as () => void));
    };
    return transaction;
  });
}

/** Contract of connections to a database that is damaged, blocked or deleted. */
export function describeIdbConnection(): void {
  describe('IndexedDB connection', () => {
    it('creates missing tables again, reports them, and leaves the others unchanged', async () => {
      const name = freshName();
      const damaged = await openDB(name, SCHEMA_VERSION, {
        upgrade(database) {
          for (const table of TABLES) if (table !== 'state' && table !== 'trie') database.createObjectStore(table);
        },
      });
      await damaged.put('blocks', value, 1);
      damaged.close();
      for (const expected of [['state', 'trie'], []]) {
        const store = await openIdbStore(name);
        const { repaired = [] } = store.health.status;
        expect(repaired.map(({ table }) => table)).toEqual(expected);
        expect(await store.get('blocks', 1)).toEqual(value);
        await store.commit({ puts: [{ table: 'state', key: 1, value }] });
        expect(await store.keys('trie')).toEqual([]);
        await store.close();
      }
    });

    it('opens a repaired database of the same schema, and refuses a newer one without changing it', async () => {
      const name = freshName();
      const newer = await openDB(name, 2000 + SCHEMA_VERSION + 1, {
        upgrade: (database) => void database.createObjectStore('later'),
      });
      newer.close();
      await expect(openIdbStore(name)).rejects.toMatchObject({
        code: 'STORE_TOO_NEW',
        details: { version: SCHEMA_VERSION + 1, supported: SCHEMA_VERSION },
      });
      const again = await openDB(name);
      expect([again.version, [...again.objectStoreNames]]).toEqual([2001 + SCHEMA_VERSION, ['later']]);
      again.close();
    });

    it('migrates a repaired database of an older schema', async () => {
      const name = freshName();
      const old = await openDB(name, 1001, {
        upgrade(database) {
          for (const table of ['meta', 'blocks', 'dictionaries']) database.createObjectStore(table);
        },
      });
      await old.put('blocks', value, 1);
      old.close();
      const store = await openIdbStore(name);
      expect(await store.get('blocks', 1)).toEqual(value);
      expect(await store.keys('trie')).toEqual([]);
      await store.close();
    });

    it('waits up to its timeout for a page that keeps an older version open, and opens after that page closed', async () => {
      const name = freshName();
      const holder = await openDB(name, 1, {
        upgrade(database) {
          for (const table of ['meta', 'blocks', 'dictionaries']) database.createObjectStore(table);
        },
      });
      const reason = 'another page keeps an older version of the store open; close that page';
      await expect(openIdbStore(name, { openTimeoutMs: 1_000 })).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        details: { reason },
      });
      expect(holder.version).toBe(1);
      await holder.put('blocks', value, 1);
      holder.close();
      const store = await openIdbStore(name);
      expect(await store.get('blocks', 1)).toEqual(value);
      await store.close();
    });

    it('opens the database again after the browser ended the connection', async () => {
      const lost: string[] = [];
      const { store, terminate } = await terminable(freshName(), (code) => lost.push(code));
      await store.commit({ puts });
      terminate();
      expect(await Promise.all([store.get('blocks', 1), store.keys('blocks')])).toEqual([value, [1]]);
      await store.commit({ puts: [{ table: 'blocks', key: 2, value }] });
      expect(await store.keys('blocks')).toEqual([1, 2]);
      expect(lost).toEqual([]);
      await store.close();
    });

    it('opens the database again when its transactions fail, and makes what failed', async () => {
      const lost: string[] = [];
      const { store, kill } = await terminable(freshName(), (code) => lost.push(code));
      await store.commit({ puts });
      kill();
      const second = { table: 'blocks' as const, key: 2, value };
      const commit = { expects: [{ ...second, value: undefined }], puts: [second] };
      expect(await Promise.all([store.get('blocks', 1), store.commit(commit)])).toEqual([value, undefined]);
      kill();
      expect(await Promise.all([store.keys('blocks'), store.getMany('blocks', [1, 2])])).toEqual([
        [1, 2],
        [value, value],
      ]);
      kill();
      await store.clear({ expects: puts });
      expect(await store.keys('blocks')).toEqual([]);
      expect(lost).toEqual([]);
      expect(store.health.status).toEqual({ mode: 'durable' });
      await store.close();
      await expect(store.get('blocks', 1)).rejects.toMatchObject({ details: { reason: 'closed' } });
    });

    it.each(['InvalidStateError', 'UnknownError'])(
      'tries once more after a %s, and again with the next use',
      async (name) => {
        const store = await openIdbStore(freshName());
        const transact = IDBDatabase.prototype.transaction;
        let failures = 1;
        const spy = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
          this: IDBDatabase,
          ...args
        ) {
          if (failures-- > 0) throw new DOMException('the server was lost', name);
          return transact.apply(this, args as Parameters<typeof transact>);
        });
        try {
          await store.commit({ puts });
          failures = 2;
          const reason = 'the server was lost';
          await expect(store.keys('blocks')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { reason } });
          expect(await store.keys('blocks')).toEqual([1]);
        } finally {
          spy.mockRestore();
        }
        await store.close();
      },
    );

    it('takes a commit that was made, although the browser said that it failed, as made', async () => {
      const store = await openIdbStore(freshName());
      const expects = [{ table: 'blocks' as const, key: 1, value: undefined }];
      const begun = completesAsFailed();
      await store.commit({ expects, puts });
      expect(begun).toHaveBeenCalledTimes(2);
      begun.mockRestore();
      expect(await store.keys('blocks')).toEqual([1]);
      // That it failed is not why: with another value there, it is refused.
      await expect(store.commit({ expects, puts })).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
      await store.close();
    });

    it('writes nothing on a new connection once another writer has the store', async () => {
      const name = freshName();
      const { store, kill } = await terminable(name);
      const writer = (await claimStore(store))!;
      await writer.commit({ puts });
      kill();
      const other = await openIdbStore(name);
      const later = (await claimStore(other))!;
      await expect(writer.commit({ puts: [{ ...puts[0]!, key: 2 }] })).rejects.toMatchObject({
        code: 'STORE_TAKEN_OVER',
      });
      expect(await later.keys('blocks')).toEqual([1]);
      await later.commit({ puts: [{ ...puts[0]!, key: 3 }] });
      await store.close();
      await other.close();
    });

    it('blames no other page for a database that does not open', async () => {
      const silent = Object.create(IDBOpenDBRequest.prototype, { addEventListener: { value: () => {} } });
      const spy = vi.spyOn(IDBFactory.prototype, 'open').mockReturnValue(silent as IDBOpenDBRequest);
      try {
        await expect(openIdbStore(freshName(), { openTimeoutMs: 20 })).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          details: {
            reason: expect.stringMatching(/^the browser did not open the database within 20 ms, and gave no reason/),
          },
        });
      } finally {
        spy.mockRestore();
      }
    });

    it('creates no new database after the old one was deleted or upgraded', async () => {
      for (const meanwhile of ['delete', 'upgrade'] as const) {
        const name = freshName();
        const lost: string[] = [];
        const { store, terminate } = await terminable(name, (code) => lost.push(code));
        await store.commit({ puts });
        terminate();
        if (meanwhile === 'delete') await deleteDB(name);
        else (await openDB(name, 99)).close();
        await expect(store.commit({ puts })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
        await expect(store.get('blocks', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
        expect(lost).toEqual(['STORE_UNAVAILABLE']);
        expect(store.health.status).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
        const names = (await indexedDB.databases()).map((database) => database.name);
        expect(names.includes(name)).toBe(meanwhile === 'upgrade');
        await store.close();
      }
    });

    it('aborts a transaction that has to wait too long', async () => {
      const name = freshName();
      const store = await openIdbStore(name, { transactionTimeoutMs: 1_000 });
      const holder = await openDB(name);
      const kept = holder.transaction('blocks', 'readwrite');
      let isHeld = true;
      const holding = (async () => {
        while (isHeld) await kept.store.get(1);
      })();
      const late = { code: 'STORE_UNAVAILABLE', details: { reason: 'a transaction did not end in time; try again' } };
      await expect(store.commit({ puts })).rejects.toMatchObject(late);
      await expect(store.get('blocks', 1)).rejects.toMatchObject(late);
      await expect(store.clear()).rejects.toMatchObject(late);
      isHeld = false;
      await holding;
      await kept.done;
      holder.close();
      expect(await store.keys('blocks')).toEqual([]);
      await store.commit({ puts });
      expect(await store.keys('blocks')).toEqual([1]);
      await store.close();
    });

    it('leaves no unhandled rejection when the connection ends during a read', async () => {
      const unhandled: unknown[] = [];
      const note = (event: { reason?: unknown }) => void unhandled.push(event.reason ?? event);
      const isNode = typeof window === 'undefined';
      if (isNode) process.on('unhandledRejection', note);
      else addEventListener('unhandledrejection', note);
      const store = await openIdbStore(freshName());
      const transact = IDBDatabase.prototype.transaction;
      const spy = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
        this: IDBDatabase,
        ...args
      ) {
        const transaction = transact.apply(this, args as Parameters<typeof transact>);
        queueMicrotask(() => transaction.abort());
        return transaction;
      });
      const unavailable = { code: 'STORE_UNAVAILABLE' };
      await expect(store.get('blocks', 1)).rejects.toMatchObject(unavailable);
      await expect(store.keys('blocks')).rejects.toMatchObject(unavailable);
      await expect(store.getMany('blocks', [1, 2])).rejects.toMatchObject(unavailable);
      await expect(store.commit({ puts })).rejects.toMatchObject(unavailable);
      spy.mockRestore();
      // Reported at the end of the turn in which it was not caught.
      await settled();
      if (isNode) process.off('unhandledRejection', note);
      else removeEventListener('unhandledrejection', note);
      expect(unhandled).toEqual([]);
      await store.close();
    });
  });
}
