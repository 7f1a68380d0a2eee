/**
 * The store on IndexedDB: one database, a table of bytes for each name of `Table`.
 *
 * Browsers close connections when they like, and a request may then fail or never end. So a connection that died is opened again, and
 * requests that hang are given up after a time; `IdbConnection` does that. What a browser's error means stands at the end.
 */

import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';
import { messageOf, PlumblineError } from '../errors.js';
import { copyBytes } from '../primitives/bytes.js';
import { indexedDatabases } from './browser-storage.js';
import {
  type Clearing,
  type Commit,
  checkCommit,
  checkKey,
  compareKeys,
  type Durability,
  isAsExpected,
  type Key,
  type PageStore,
  type Table,
  takenOver,
} from './page-store.js';
import { migrate, SCHEMA_VERSION, type StoreSchema, TABLES } from './schema.js';
import { StoreHealth, type StoreRepair } from './store-status.js';

type Database = IDBPDatabase<StoreSchema>;
type Reading = IDBPTransaction<StoreSchema, [Table], 'readonly'>;
type Writing = IDBPTransaction<StoreSchema, Table[], 'readwrite'>;
/** Takes a request of the current transaction. */
type Queue = (request: Promise<unknown>) => void;

/** Options of a store in IndexedDB. */
interface IdbStoreOptions {
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
class IdbStore implements PageStore {
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

/** Called once when a connection is lost for good: another page has upgraded or deleted the database. */
type LossListener = (error: PlumblineError<'STORE_UNAVAILABLE'>) => void;

/** Called with each table that was missing and was created again, empty. */
type RepairListener = (repair: StoreRepair) => void;

/** Options of a connection to a database. */
interface ConnectionOptions {
  /** How long opening waits for other pages that keep an older version open or delete the database, ms. */
  readonly openTimeoutMs: number;
  readonly onLost?: LossListener | undefined;
  readonly onRepair?: RepairListener | undefined;
}

/**
 * The version of a database is that of its schema, plus 1000 for each time that missing tables were created again: IndexedDB
 * creates tables only while the version increases.
 */
const REPAIR = 1000;

/**
 * An open database, until it is closed or lost. If the browser ends the connection, as some do for pages in the background, or it no
 * longer works, the next use opens it again. A database that was deleted in between is not created again.
 */
class Connection {
  #database: Database | undefined;
  #version = 0;
  #reopening: Promise<Database> | undefined;
  #endedBy: string | undefined;
  readonly #name: string;
  readonly #options: ConnectionOptions;

  private constructor(name: string, options: ConnectionOptions) {
    this.#name = name;
    this.#options = options;
  }

  /**
   * Opens, creates or upgrades the database `name`.
   *
   * @throws PlumblineError `STORE_TOO_NEW`, `STORE_UNAVAILABLE`, `STORE_QUOTA_EXCEEDED`
   */
  static async open(name: string, options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(name, options);
    const database = await connection.#openWhole();
    connection.#database = database;
    connection.#version = database.version;
    return connection;
  }

  /**
   * The database, or a promise of it when it has to be opened again.
   *
   * @throws PlumblineError `STORE_UNAVAILABLE` with the reason for which the connection ended
   */
  database(): Database | Promise<Database> {
    if (this.#endedBy !== undefined) throw unavailable(this.#endedBy);
    return this.#database ?? this.#reopen();
  }

  /** Has the next use open the database again, because this one no longer works. */
  abandon(database: Database): void {
    if (database !== this.#database) return;
    this.#database = undefined;
    database.close();
  }

  /** Closes the connection. The browser finishes transactions under way. */
  close(): void {
    if (this.#endedBy !== undefined) return;
    this.#endedBy = 'closed';
    this.#database?.close();
  }

  #lose(reason: string): void {
    if (this.#endedBy !== undefined) return;
    this.#endedBy = reason;
    this.#database?.close();
    this.#options.onLost?.(unavailable(reason));
  }

  /** Opens the database again, once for all callers. If that fails, the next use tries again. */
  #reopen(): Promise<Database> {
    this.#reopening ??= this.#openExisting()
      .then((database) => {
        if (this.#endedBy !== undefined) {
          database.close();
          throw unavailable(this.#endedBy);
        }
        this.#database = database;
        return database;
      })
      .finally(() => {
        this.#reopening = undefined;
      });
    return this.#reopening;
  }

  async #openExisting(): Promise<Database> {
    try {
      return await this.#request(this.#version);
    } catch (error) {
      if (error === GONE) this.#lose('the database was deleted; open the node again');
      if (isVersionError(error)) this.#lose('another page has upgraded the store; load this page again');
      throw this.#endedBy === undefined ? storeError(error) : unavailable(this.#endedBy);
    }
  }

  /** Opens the database with the schema of this code and all tables. */
  async #openWhole(): Promise<Database> {
    try {
      const database = await this.#openCurrent();
      const missing = TABLES.filter((table) => !database.objectStoreNames.contains(table));
      if (missing.length === 0) return database;
      const { version } = database;
      database.close();
      const repaired = await this.#request(version + REPAIR, (made) => {
        for (const table of missing) made.createObjectStore(table);
      });
      for (const table of missing) this.#options.onRepair?.({ table, reason: 'the table was missing' });
      return repaired;
    } catch (error) {
      throw storeError(error);
    }
  }

  async #openCurrent(): Promise<Database> {
    const upgrade: Upgrader<StoreSchema> = (database, oldVersion, transaction) => {
      void migrate(database, oldVersion % REPAIR, transaction);
    };
    try {
      return await this.#request(SCHEMA_VERSION, upgrade);
    } catch (error) {
      if (!isVersionError(error)) throw error;
    }
    // The database is newer or was repaired. Opening it at its own version shows which, and changes nothing.
    const database = await this.#request(undefined);
    const schema = database.version % REPAIR;
    if (schema === SCHEMA_VERSION) return database;
    const raised = database.version - schema + SCHEMA_VERSION;
    database.close();
    if (schema < SCHEMA_VERSION) return this.#request(raised, upgrade);
    const details = { version: schema, supported: SCHEMA_VERSION };
    throw new PlumblineError(
      'STORE_TOO_NEW',
      `the store has version ${schema}, but this plumbline knows versions up to ${SCHEMA_VERSION}; update plumbline`,
      details,
    );
  }

  #request(version: number | undefined, upgrade?: Upgrader<StoreSchema>): Promise<Database> {
    return openRequest<StoreSchema>(this.#name, version, this.#options.openTimeoutMs, {
      upgrade,
      blocking: (database) => {
        if (database === this.#database) this.#lose('another page upgrades or deletes the store; load this page again');
        else database.close();
      },
      terminated: (database) => {
        if (database === this.#database) this.#database = undefined;
      },
    });
  }
}

function isVersionError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'VersionError';
}

/** Upgrades a database in the given transaction. */
type Upgrader<Schema extends DBSchema> = (
  database: IDBPDatabase<Schema>,
  oldVersion: number,
  transaction: IDBPTransaction<Schema, StoreNames<Schema>[], 'versionchange'>,
) => void;

interface OpenCallbacks<Schema extends DBSchema> {
  /** Upgrades the database to the requested version. If left out, a missing database is not created. */
  readonly upgrade?: Upgrader<Schema> | undefined;
  /** Another page wants to upgrade or delete the database. */
  readonly blocking: (database: IDBPDatabase<Schema>) => void;
  /** The browser has ended the connection. */
  readonly terminated: (database: IDBPDatabase<Schema>) => void;
}

/** The error of `openRequest` when the database is missing and is not to be created. */
const GONE: PlumblineError<'STORE_UNAVAILABLE'> = unavailable('the database does not exist; open the node again');

/**
 * Opens a database once.
 *
 * @param version - its present version when undefined
 * @param timeoutMs - how long to wait for other pages; a database that opens later is closed at once
 * @throws the error of IndexedDB; PlumblineError `STORE_UNAVAILABLE`; `GONE`
 */
async function openRequest<Schema extends DBSchema>(
  name: string,
  version: number | undefined,
  timeoutMs: number,
  { upgrade, blocking, terminated }: OpenCallbacks<Schema>,
): Promise<IDBPDatabase<Schema>> {
  if (indexedDatabases() === undefined)
    throw unavailable('this environment has no IndexedDB, or the browser refuses it to this page');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let late = false;
  let isBlocked = false;
  let absent = false;
  let opened: IDBPDatabase<Schema> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // An open request cannot be cancelled, so the database is closed when it opens.
      late = true;
      reject(
        unavailable(
          isBlocked
            ? 'another page keeps an older version of the store open; close that page'
            : `the browser did not open the database within ${timeoutMs} ms, and gave no reason; try again, or restart the browser`,
        ),
      );
    }, timeoutMs);
  });
  // A browser that forbids IndexedDB throws at once: an async function makes a rejection of it.
  const open = async () => {
    const database = await openDB<Schema>(name, version, {
      upgrade: (database, oldVersion, _newVersion, transaction) => {
        clearTimeout(timer);
        if (late || upgrade === undefined) {
          absent = true;
          transaction.done.catch(() => {});
          transaction.abort();
        } else upgrade(database, oldVersion, transaction);
      },
      blocked: () => {
        isBlocked = true;
      },
      blocking: () => opened && blocking(opened),
      terminated: () => opened && terminated(opened),
    });
    if (late) database.close();
    opened = database;
    return database;
  };
  const opening = open();
  try {
    return await Promise.race([opening, tooLong]);
  } catch (error) {
    // A later error of the request is dropped.
    opening.catch(() => {});
    throw absent ? GONE : error;
  } finally {
    clearTimeout(timer);
  }
}

/** An error of IndexedDB as a PlumblineError. */
function storeError(error: unknown): PlumblineError {
  if (error instanceof PlumblineError) return error;
  const name = typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : undefined;
  if (name === 'QuotaExceededError') {
    return new PlumblineError(
      'STORE_QUOTA_EXCEEDED',
      'the store is full; free disk space or browser storage',
      {},
      { cause: error },
    );
  }
  const refused =
    name === 'SecurityError' ? 'the browser refuses storage to this page, as it does where cookies are blocked: ' : '';
  return unavailable(refused + messageOf(error), error);
}

function unavailable(reason: string, cause?: unknown): PlumblineError<'STORE_UNAVAILABLE'> {
  return new PlumblineError('STORE_UNAVAILABLE', `the store is not available: ${reason}`, { reason }, { cause });
}
