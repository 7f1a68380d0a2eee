import type { DBSchema, IDBPDatabase } from 'idb';
import type { Key, Table } from './page-store.js';

/** The database as idb types it: every table maps a key to bytes. */
export interface StoreSchema extends DBSchema {
  meta: { key: Key; value: Uint8Array };
  blocks: { key: Key; value: Uint8Array };
  dictionaries: { key: Key; value: Uint8Array };
  state: { key: Key; value: Uint8Array };
  trie: { key: Key; value: Uint8Array };
}

/**
 * Steps from one version of the schema to the next: number n of the list leads from version n to n + 1, version 0 being
 * no database at all. A step that has been released is never changed; a new one is appended.
 */
const MIGRATIONS: readonly ((database: IDBPDatabase<StoreSchema>) => void)[] = [
  (database) => {
    for (const table of ['meta', 'blocks', 'dictionaries'] as const) database.createObjectStore(table);
  },
  // Checkpoints of a devnet: pages of the zk state, nodes of the ordinary trie. Blocks stay as they are.
  (database) => {
    for (const table of ['state', 'trie'] as const) database.createObjectStore(table);
  },
];

/** Version of the schema that this code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Every table of the current version. */
export const TABLES: readonly Table[] = ['meta', 'blocks', 'dictionaries', 'state', 'trie'];

/** Brings a database up from `oldVersion`, inside its version change transaction. */
export function migrate(database: IDBPDatabase<StoreSchema>, oldVersion: number): void {
  for (const step of MIGRATIONS.slice(oldVersion)) step(database);
}
