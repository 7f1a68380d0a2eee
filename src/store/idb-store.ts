import type { IDBPDatabase, IDBPTransaction } from 'idb';
import { PlumblineError } from '../errors.js';
import { copyBytes } from '../primitives/bytes.js';
import { isAsExpected, takenOver } from './expectation.js';
import { Connection, type LossListener } from './idb-connection.js';
import { storeError, unavailable } from './idb-request.js';
import { checkCommit, checkKey, compareKeys } from './keys.js';
import type { Clearing, Commit, Durability, Key, PageStore, Table } from './page-store.js';
import { type StoreSchema, TABLES } from './schema.js';
import { StoreHealth } from './store-status.js';

type Database = IDBPDatabase<StoreSchema>;
type Reading = IDBPTransaction<StoreSchema, [Table], 'readonly'>;
type Writing = IDBPTransaction<StoreSchema, Table[], 'readwrite'>;
/** Takes a request of the current transaction. */
type Queue = (request: Promise<unknown>) => void;

/** Options of a store in IndexedDB. */
export interface IdbStoreOptions {
  /**
   * `relaxed` when left out: a commit survives a crash of the page, but a power cut may lose the newest commits, each as a whole.
   * `strict` waits for the disk.
   */
  readonly durability?: Durability | undefined;
  /** How long opening waits for pages that keep an older version open, ms; 10 000 when left out. */
  readonly openTimeoutMs?: number | undefined;
  /** How long a transaction may take, including the wait for others, ms; 30 000 when left out. Then it is aborted. */
  readonly transactionTimeoutMs?: number | undefined;
  /**
   * Called once when the connection is lost for good. Every later call throws `STORE_UNAVAILABLE`. A connection that only the
   * browser has ended is opened again by the next call.
   */
  readonly onLost?: LossListener | undefined;
}

/**
 * Opens the store in the IndexedDB database `name`. Creates or upgrades the database if needed. When a page later opens a newer
 * version, this store is closed.
 *
 * @throws PlumblineError `STORE_TOO_NEW` when a newer plumbline wrote it (it is not changed), `STORE_UNAVAILABLE`,
 *   `STORE_QUOTA_EXCEEDED`
 */
export async function openIdbStore(name: string, options: IdbStoreOptions = {}): Promise<IdbStore> {
  const { durability = 'relaxed', openTimeoutMs = 10_000, transactionTimeoutMs = 30_000, onLost } = options;
  const health = new StoreHealth('durable');
  const connection = await Connection.open(name, {
    openTimeoutMs,
    onLost: (error) => {
      health.memory(error);
      onLost?.(error);
    },
    onRepair: (repair) => health.repaired(repair),
  });
  return new IdbStore(connection, { durability, transactionTimeoutMs, health });
}

/** A page store in IndexedDB, made by `openIdbStore`. Inside a transaction, only requests of IndexedDB are awaited. */
export class IdbStore implements PageStore {
  readonly health: StoreHealth;
  readonly #connection: Connection;
  readonly #durability: Durability;
  readonly #timeoutMs: number;

  constructor(
    connection: Connection,
    options: { readonly durability: Durability; readonly transactionTimeoutMs: number; readonly health: StoreHealth },
  ) {
    this.#connection = connection;
    this.#durability = options.durability;
    this.#timeoutMs = options.transactionTimeoutMs;
    this.health = options.health;
  }

  get(table: Table, key: Key): Promise<Uint8Array | undefined> {
    return this.#use(async (database) => {
      checkKey(key);
      return bytesOf(table, await this.#read(database, table, ({ store }) => store.get(key)));
    });
  }

  keys(table: Table): Promise<Key[]> {
    return this.#use((database) => this.#read(database, table, ({ store }) => store.getAllKeys()));
  }

  getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    return this.#use(async (database) => {
      for (const key of keys) checkKey(key);
      if (keys.length === 0) return [];
      const values = await this.#read(database, table, ({ store }) => Promise.all(keys.map((key) => store.get(key))));
      return values.map((value) => bytesOf(table, value));
    });
  }

  commit(commit: Commit): Promise<void> {
    const { expects = [], puts = [], deletes = [] } = commit;
    return this.#use(async (database, isSecondTry) => {
      checkCommit(commit);
      const tables = [...new Set([...expects, ...deletes, ...puts].map(({ table }) => table))];
      if (tables.length === 0) return;
      // The first try may have been written although it failed. Then the store holds what it put.
      const alsoExpected = isSecondTry ? puts : [];
      await this.#change(database, tables, { expects, alsoExpected }, (transaction, queue) => {
        for (const { table, key } of deletes) queue(transaction.objectStore(table).delete(key));
        for (const { table, key, value } of puts) queue(transaction.objectStore(table).put(exact(value), key));
      });
    });
  }

  clear({ expects = [], keeps = [] }: Clearing = {}): Promise<void> {
    return this.#use(async (database) => {
      for (const { key } of [...expects, ...keeps]) checkKey(key);
      await this.#change(database, [...TABLES], { expects }, (transaction, queue) => {
        for (const table of TABLES) {
          const kept = keeps.filter((keep) => keep.table === table).map(({ key }) => key);
          const store = transaction.objectStore(table);
          if (kept.length === 0) queue(store.clear());
          for (const range of around(kept)) queue(store.delete(range));
        }
      });
    });
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  /** Makes the changes that `fill` queues in one transaction, if the store holds the expected values. */
  async #change(
    database: Database,
    tables: Table[],
    { expects, alsoExpected = [] }: Expectations,
    fill: (transaction: Writing, queue: Queue) => void,
  ): Promise<void> {
    const transaction = database.transaction(tables, 'readwrite', { durability: this.#durability });
    let isExpected = true;
    const expect = (held: unknown, values: readonly (Uint8Array | undefined)[]) => {
      if (values.some((value) => isAsExpected(held, value))) return;
      isExpected = false;
      transaction.abort();
    };
    const written = whole(transaction, (queue) => {
      for (const { table, key, value } of expects) {
        const reading = transaction.objectStore(table).get(key);
        const also = alsoExpected.filter((put) => put.table === table && put.key === key).map((put) => put.value);
        queue(reading.then((held) => expect(held, [value, ...also])));
      }
      fill(transaction, queue);
    });
    await this.#inTime(database, transaction, written).catch((error: unknown) => {
      if (isExpected) throw error;
    });
    if (!isExpected) throw takenOver();
  }

  #read<T>(database: Database, table: Table, work: (transaction: Reading) => Promise<T>): Promise<T> {
    const transaction = database.transaction(table, 'readonly');
    // If the transaction fails, its requests fail too, so this rejection is not needed.
    transaction.done.catch(() => {});
    return this.#inTime(database, transaction, work(transaction));
  }

  /**
   * The result of a transaction. A transaction that takes too long is aborted, and changes nothing. Its connection may be the reason, so
   * the next use opens another.
   */
  async #inTime<T>(database: Database, transaction: { abort(): void }, result: Promise<T>): Promise<T> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#connection.abandon(database);
      try {
        transaction.abort();
      } catch {
        // It has just ended.
      }
    }, this.#timeoutMs);
    try {
      return await result;
    } catch (error) {
      throw isLate ? unavailable('a transaction did not end in time; try again') : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Works on the database. If the connection turns out to be dead, which not all browsers say by an event, the database is opened again,
   * once, and the work is done there.
   */
  async #use<T>(work: (database: Database, isSecondTry: boolean) => Promise<T>): Promise<T> {
    for (let isSecondTry = false; ; isSecondTry = true) {
      let database: Database | Promise<Database> | undefined;
      try {
        // Does not wait if the database is open, so that a transaction that was requested before `close` is still made.
        database = this.#connection.database();
        if (database instanceof Promise) database = await database;
        return await work(database, isSecondTry);
      } catch (error) {
        const isDead = database !== undefined && !(database instanceof Promise) && saysDead(error);
        if (isDead) this.#connection.abandon(database as Database);
        if (!isDead || isSecondTry) throw storeError(error);
      }
    }
  }
}

/** What a commit expects, and further values that will do. */
interface Expectations {
  readonly expects: NonNullable<Commit['expects']>;
  readonly alsoExpected?: NonNullable<Commit['puts']>;
}

/**
 * Whether an error shows that a connection no longer works: it is closed, its transactions are aborted by the browser, or (WebKit) the
 * process behind it is gone.
 */
function saysDead(error: unknown): boolean {
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  return name === 'InvalidStateError' || name === 'UnknownError' || name === 'AbortError';
}

/**
 * Queues requests and waits for their transaction. If a request cannot be queued, the transaction is aborted. If a request fails
 * later, the error of the transaction is thrown.
 */
async function whole(
  transaction: { readonly done: Promise<void>; abort(): void },
  fill: (queue: Queue) => void,
): Promise<void> {
  const ignore = () => {};
  transaction.done.catch(ignore);
  try {
    fill((request) => request.catch(ignore));
  } catch (error) {
    transaction.abort();
    throw error;
  }
  await transaction.done;
}

/** Ranges of all keys except these. */
function around(keys: readonly Key[]): IDBKeyRange[] {
  const sorted = [...keys].sort(compareKeys);
  return sorted.flatMap((key, i) => {
    const next = sorted[i + 1];
    const after = next === undefined ? IDBKeyRange.lowerBound(key, true) : IDBKeyRange.bound(key, next, true, true);
    return i === 0 ? [IDBKeyRange.upperBound(key, true), after] : [after];
  });
}

/** A copy, unless the value owns its whole buffer: IndexedDB stores the whole buffer of a view, and refuses shared memory. */
function exact(value: Uint8Array): Uint8Array {
  const owned = value.buffer instanceof ArrayBuffer && value.byteLength === value.buffer.byteLength;
  return owned ? value : copyBytes(value);
}

function bytesOf(table: Table, value: unknown): Uint8Array | undefined {
  if (value === undefined || value instanceof Uint8Array) return value;
  const reason = 'a value is not bytes';
  throw new PlumblineError(
    'STORE_CORRUPT',
    `the store is damaged: in table ${table}, ${reason}; clear it and start again`,
    { table, reason },
  );
}
