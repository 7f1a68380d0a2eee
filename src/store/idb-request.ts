import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';
import { messageOf, PlumblineError } from '../errors.js';

/** Brings a database up to a version, in the transaction that is given. */
export type Upgrader<Schema extends DBSchema> = (
  database: IDBPDatabase<Schema>,
  oldVersion: number,
  transaction: IDBPTransaction<Schema, StoreNames<Schema>[], 'versionchange'>,
) => void;

export interface OpenCallbacks<Schema extends DBSchema> {
  /** Brings a database up to the version asked for; without it one that is not there is not made. */
  readonly upgrade?: Upgrader<Schema> | undefined;
  /** Another page wants to upgrade or delete the database. */
  readonly blocking: (database: IDBPDatabase<Schema>) => void;
  /** The browser has ended the connection. */
  readonly terminated: (database: IDBPDatabase<Schema>) => void;
}

/** What `openRequest` throws where there is no database, and none is to be made. */
export const GONE: PlumblineError<'STORE_UNAVAILABLE'> = unavailable('there is no such database');

/**
 * Opens a database once.
 *
 * @param version - the one there is when undefined
 * @param timeoutMs - for pages that hold it up; what is opened after that is closed at once
 * @throws what IndexedDB throws; PlumblineError `STORE_UNAVAILABLE`, `GONE` being one
 */
export async function openRequest<Schema extends DBSchema>(
  name: string,
  version: number | undefined,
  timeoutMs: number,
  { upgrade, blocking, terminated }: OpenCallbacks<Schema>,
): Promise<IDBPDatabase<Schema>> {
  if (typeof indexedDB === 'undefined') throw unavailable('this environment has no IndexedDB');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let late = false;
  let absent = false;
  let opened: IDBPDatabase<Schema> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // An open request cannot be taken back: what comes after all is closed.
      late = true;
      reject(unavailable('another page keeps an older version of the store open'));
    }, timeoutMs);
  });
  const opening = openDB<Schema>(name, version, {
    upgrade: (database, oldVersion, _newVersion, transaction) => {
      clearTimeout(timer);
      if (late || upgrade === undefined) {
        absent = true;
        transaction.done.catch(() => {});
        transaction.abort();
      } else upgrade(database, oldVersion, transaction);
    },
    blocking: () => opened && blocking(opened),
    terminated: () => opened && terminated(opened),
  }).then((database) => {
    if (late) database.close();
    opened = database;
    return database;
  });
  try {
    return await Promise.race([opening, tooLong]);
  } catch (error) {
    // Whatever comes of it later is nobody's any more.
    opening.catch(() => {});
    throw absent ? GONE : error;
  } finally {
    clearTimeout(timer);
  }
}

/** What IndexedDB threw, as an error of ours. */
export function storeError(error: unknown): PlumblineError {
  if (error instanceof PlumblineError) return error;
  const name = typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : undefined;
  if (name === 'QuotaExceededError') {
    return new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {}, { cause: error });
  }
  return unavailable(messageOf(error), error);
}

export function unavailable(reason: string, cause?: unknown): PlumblineError<'STORE_UNAVAILABLE'> {
  return new PlumblineError('STORE_UNAVAILABLE', `store is not available: ${reason}`, { reason }, { cause });
}
