import { type IDBPDatabase, openDB } from 'idb';
import { messageOf, PlumblineError } from '../errors.js';
import { migrate, SCHEMA_VERSION, type StoreSchema } from './schema.js';

/** Told once when a connection is lost: another page upgrades or deletes the database, or the browser ends it. */
export type LossListener = (error: PlumblineError<'STORE_UNAVAILABLE'>) => void;

/** An open database, until it is closed or lost. */
export class Connection {
  #database: IDBPDatabase<StoreSchema> | undefined;
  #endedBy: string | undefined;
  readonly #onLost: LossListener | undefined;

  constructor(onLost: LossListener | undefined) {
    this.#onLost = onLost;
  }

  /** @throws PlumblineError `STORE_UNAVAILABLE` with the reason the connection ended for */
  get database(): IDBPDatabase<StoreSchema> {
    if (this.#endedBy !== undefined || this.#database === undefined) throw unavailable(this.#endedBy ?? 'not open');
    return this.#database;
  }

  /** Takes the database over, and closes it at once if the connection has ended meanwhile. */
  attach(database: IDBPDatabase<StoreSchema>): void {
    this.#database = database;
    if (this.#endedBy !== undefined) database.close();
  }

  /** The owner is done. Transactions that run are finished by the browser. */
  close(): void {
    if (this.#endedBy !== undefined) return;
    this.#endedBy = 'closed';
    this.#database?.close();
  }

  lose(reason: string): void {
    if (this.#endedBy !== undefined) return;
    this.#endedBy = reason;
    this.#database?.close();
    this.#onLost?.(unavailable(reason));
  }
}

/**
 * Opens, creates or upgrades the database `name`.
 *
 * @param openTimeoutMs - how long other pages (an older version kept open, a deletion that waits) may hold it up
 * @throws PlumblineError `STORE_TOO_NEW`, `STORE_UNAVAILABLE`, `STORE_QUOTA_EXCEEDED`
 */
export async function openConnection(
  name: string,
  openTimeoutMs: number,
  onLost: LossListener | undefined,
): Promise<Connection> {
  if (typeof indexedDB === 'undefined') throw unavailable('this environment has no IndexedDB');
  const connection = new Connection(onLost);
  try {
    await openWithin(name, connection, openTimeoutMs);
  } catch (error) {
    throw nameOf(error) === 'VersionError' ? await tooNew(name, error) : storeError(error);
  }
  return connection;
}

async function openWithin(name: string, connection: Connection, openTimeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // An open request cannot be taken back: when it succeeds after all, `attach` closes what came.
      connection.close();
      reject(unavailable('another page keeps an older version of the store open'));
    }, openTimeoutMs);
  });
  try {
    const opened = openDB<StoreSchema>(name, SCHEMA_VERSION, {
      upgrade: (database, oldVersion) => {
        clearTimeout(timer);
        migrate(database, oldVersion);
      },
      blocking: () => connection.lose('another page upgrades or deletes the store'),
      terminated: () => connection.lose('the browser ended the connection'),
    }).then((database) => connection.attach(database));
    await Promise.race([opened, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the version of a database that is newer than this code, without changing it. */
async function tooNew(name: string, cause: unknown): Promise<PlumblineError> {
  try {
    const database = await openDB(name, undefined, {
      // Only reached when the database has been deleted meanwhile: do not leave an empty one behind.
      upgrade: (_database, _oldVersion, _newVersion, transaction) => transaction.abort(),
    });
    const { version } = database;
    database.close();
    const details = { version, supported: SCHEMA_VERSION };
    return new PlumblineError('STORE_TOO_NEW', `store has version ${version}, ${SCHEMA_VERSION} is known`, details, {
      cause,
    });
  } catch (error) {
    return storeError(error);
  }
}

/** What IndexedDB threw, as an error of ours. */
export function storeError(error: unknown): PlumblineError {
  if (error instanceof PlumblineError) return error;
  if (nameOf(error) === 'QuotaExceededError') {
    return new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {}, { cause: error });
  }
  return unavailable(messageOf(error), error);
}

function nameOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : undefined;
}

function unavailable(reason: string, cause?: unknown): PlumblineError<'STORE_UNAVAILABLE'> {
  return new PlumblineError('STORE_UNAVAILABLE', `store is not available: ${reason}`, { reason }, { cause });
}
