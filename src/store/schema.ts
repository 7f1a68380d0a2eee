import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
import type { Key, Table } from './page-store.js';

interface TableSchema {
  key: Key;
  value: Uint8Array;
}

/** The database as idb types it: every table maps a key to bytes. */
export interface StoreSchema extends DBSchema {
  meta: TableSchema;
  blocks: TableSchema;
  dictionaries: TableSchema;
  state: TableSchema;
  trie: TableSchema;
  headers: TableSchema;
  finalizations: TableSchema;
  proofs: TableSchema;
  codes: TableSchema;
}

/** The transaction in which a database changes its version. */
export type Upgrade = IDBPTransaction<StoreSchema, StoreNames<StoreSchema>[], 'versionchange'>;

/**
 * Steps from one version of the schema to the next: number n of the list leads from version n to n + 1, version 0 being
 * no database at all. A step that has been released is never changed; a new one is appended. It makes its tables before it
 * waits for anything, and waits for nothing but requests of its transaction.
 */
const MIGRATIONS: readonly ((database: IDBPDatabase<StoreSchema>, upgrade: Upgrade) => void | Promise<void>)[] = [
  (database) => {
    for (const table of ['meta', 'blocks', 'dictionaries'] as const) database.createObjectStore(table);
  },
  // Checkpoints of a devnet: pages of the zk state, nodes of the ordinary trie. Blocks stay as they are.
  (database) => {
    for (const table of ['state', 'trie'] as const) database.createObjectStore(table);
  },
  // What a light node has verified, each kind in a table that has a budget. Proofs and finalizations stood in `meta`.
  async (database, upgrade) => {
    for (const table of ['headers', 'finalizations', 'proofs', 'codes'] as const) database.createObjectStore(table);
    if (!database.objectStoreNames.contains('meta')) return;
    await move(upgrade, 'zk-proof-', 'proofs');
    await move(upgrade, 'finality-', 'finalizations');
  },
];

/** Version of the schema that this code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Every table of the current version. */
export const TABLES: readonly Table[] = [
  'meta',
  'blocks',
  'dictionaries',
  'state',
  'trie',
  'headers',
  'finalizations',
  'proofs',
  'codes',
];

/** Brings a database up from `oldVersion`, inside its version change transaction; where that fails, nothing is changed. */
export async function migrate(
  database: IDBPDatabase<StoreSchema>,
  oldVersion: number,
  upgrade: Upgrade,
): Promise<void> {
  try {
    await Promise.all(MIGRATIONS.slice(oldVersion).map((step) => step(database, upgrade)));
  } catch {
    // The request that failed may have ended the transaction already. Whoever opens the database is told its error.
    try {
      upgrade.abort();
    } catch {}
  }
}

/** Moves the entries of `meta` whose keys begin with `prefix`; the key keeps what comes after it. */
async function move(upgrade: Upgrade, prefix: string, to: Table): Promise<void> {
  const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
  const target = upgrade.objectStore(to);
  let cursor = await upgrade.objectStore('meta').openCursor(range);
  while (cursor !== null) {
    await target.put(cursor.value, String(cursor.key).slice(prefix.length));
    await cursor.delete();
    cursor = await cursor.continue();
  }
}
