import type { IDBPDatabase } from 'idb';
import { PlumblineError } from '../errors.js';
import { GONE, openRequest, storeError, type Upgrader, unavailable } from './idb-request.js';
import { migrate, SCHEMA_VERSION, type StoreSchema, TABLES } from './schema.js';
import type { StoreRepair } from './store-status.js';

/** Called once when a connection is lost for good: another page has upgraded or deleted the database. */
export type LossListener = (error: PlumblineError<'STORE_UNAVAILABLE'>) => void;

/** Called with each table that was missing and was created again, empty. */
export type RepairListener = (repair: StoreRepair) => void;

/** Options of a connection to a database. */
export interface ConnectionOptions {
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

type Database = IDBPDatabase<StoreSchema>;

/**
 * An open database, until it is closed or lost. If the browser ends the connection, as some do for pages in the background, or it no
 * longer works, the next use opens it again. A database that was deleted in between is not created again.
 */
export class Connection {
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
