import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';
import { messageOf, PlumblineError } from '../errors.js';
import { indexedDatabases } from './browser-storage.js';

/** Upgrades a database in the given transaction. */
export type Upgrader<Schema extends DBSchema> = (
  database: IDBPDatabase<Schema>,
  oldVersion: number,
  transaction: IDBPTransaction<Schema, StoreNames<Schema>[], 'versionchange'>,
) => void;

export interface OpenCallbacks<Schema extends DBSchema> {
  /** Upgrades the database to the requested version. If left out, a missing database is not created. */
  readonly upgrade?: Upgrader<Schema> | undefined;
  /** Another page wants to upgrade or delete the database. */
  readonly blocking: (database: IDBPDatabase<Schema>) => void;
  /** The browser has ended the connection. */
  readonly terminated: (database: IDBPDatabase<Schema>) => void;
}

/** The error of `openRequest` when the database is missing and is not to be created. */
export const GONE: PlumblineError<'STORE_UNAVAILABLE'> = unavailable(
  'the database does not exist; open the node again',
);

/**
 * Opens a database once.
 *
 * @param version - its present version when undefined
 * @param timeoutMs - how long to wait for other pages; a database that opens later is closed at once
 * @throws the error of IndexedDB; PlumblineError `STORE_UNAVAILABLE`; `GONE`
 */
export async function openRequest<Schema extends DBSchema>(
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
export function storeError(error: unknown): PlumblineError {
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

export function unavailable(reason: string, cause?: unknown): PlumblineError<'STORE_UNAVAILABLE'> {
  return new PlumblineError('STORE_UNAVAILABLE', `the store is not available: ${reason}`, { reason }, { cause });
}
