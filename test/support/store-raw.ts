/** A database as a page, a developer or a broken disk gets at it, past plumbline. Runs in a page. */
import { deleteDB, type IDBPDatabase, openDB } from 'idb';

type Key = string | number;

/** Connections that are kept open, and do not give way. */
const held: IDBPDatabase[] = [];

/** Everything of a database as text, in order. */
async function contents(name: string): Promise<[string, Key, string][]> {
  const database = await openDB(name);
  const rows: [string, Key, string][] = [];
  for (const table of database.objectStoreNames) {
    const keys = (await database.getAllKeys(table)) as Key[];
    for (const key of keys) rows.push([table, key, [...((await database.get(table, key)) as Uint8Array)].join()]);
  }
  database.close();
  return rows;
}

export const rawDatabase = {
  contents,

  /** Version and tables; undefined where there is no such database. */
  async shape(name: string): Promise<{ version: number; tables: string[] } | undefined> {
    if (!(await indexedDB.databases()).some((database) => database.name === name)) return undefined;
    const database = await openDB(name);
    const shape = { version: database.version, tables: [...database.objectStoreNames] };
    database.close();
    return shape;
  },

  keys: async (name: string, table: string): Promise<Key[]> => {
    const database = await openDB(name);
    const keys = (await database.getAllKeys(table)) as Key[];
    database.close();
    return keys;
  },

  /** Flips one bit in the middle of a record, or deletes it. */
  async damage(name: string, table: string, key: Key, how: 'flip' | 'delete'): Promise<void> {
    const database = await openDB(name);
    if (how === 'delete') {
      await database.delete(table, key);
    } else {
      const value = (await database.get(table, key)) as Uint8Array;
      value[value.length >> 1]! ^= 4;
      await database.put(table, value, key);
    }
    database.close();
  },

  /** Makes the database again without some tables, with everything else that was in it. */
  async withoutTables(name: string, gone: readonly string[]): Promise<void> {
    const rows = await contents(name);
    const { version, objectStoreNames } = await openDB(name).then((database) => {
      database.close();
      return database;
    });
    const tables = [...objectStoreNames].filter((table) => !gone.includes(table));
    await deleteDB(name);
    const made = await openDB(name, version, {
      upgrade(database) {
        for (const table of tables) database.createObjectStore(table);
      },
    });
    for (const [table, key, value] of rows) {
      const bytes = Uint8Array.from(value === '' ? [] : value.split(',').map(Number));
      if (!gone.includes(table)) await made.put(table, bytes, key);
    }
    made.close();
  },

  /** Makes a database of records. */
  async make(
    name: string,
    version: number,
    tables: readonly string[],
    entries: readonly { table: string; key: Key; value: readonly number[] }[],
  ): Promise<void> {
    const made = await openDB(name, version, {
      upgrade(database) {
        for (const table of tables) database.createObjectStore(table);
      },
    });
    for (const { table, key, value } of entries) await made.put(table, Uint8Array.from(value), key);
    made.close();
  },

  /** Opens a database and keeps it open, also when another connection asks to upgrade it. */
  async hold(name: string, version?: number): Promise<void> {
    const database = await openDB(name, version, {
      upgrade(made) {
        if (made.objectStoreNames.length === 0) made.createObjectStore('old');
      },
    });
    held.push(database);
  },

  letGo(): void {
    for (const database of held.splice(0)) database.close();
  },
};
