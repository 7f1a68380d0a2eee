import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
import type { Key, Table } from './page-store.js';

interface TableSchema {
  key: Key;
  value: Uint8Array;
}

/** The database schema for idb: every table maps a key to bytes. */
export interface StoreSchema extends DBSchema, Record<Table, TableSchema> {}

/** The version change transaction of a database. */
export type Upgrade = IDBPTransaction<StoreSchema, StoreNames<StoreSchema>[], 'versionchange'>;

/**
 * Steps from one version of the schema to the next: step n leads from version n to n + 1. Version 0 is no database. A released step
 * is never changed; new ones are appended. A step creates its tables before it awaits anything, and awaits only requests of its
 * transaction.
 */
const MIGRATIONS: readonly ((database: IDBPDatabase<StoreSchema>, upgrade: Upgrade) => void | Promise<void>)[] = [
  (database) => {
    for (const table of ['meta', 'blocks', 'dictionaries'] as const) database.createObjectStore(table);
  },
  // Checkpoints of a devnet: pages of the zk state, nodes of the Merkle Patricia trie. Blocks are not changed.
  (database) => {
    for (const table of ['state', 'trie'] as const) database.createObjectStore(table);
  },
  // Verified data of a light node, each kind in its own table with a budget. Proofs and finalizations were in `meta` before.
  async (database, upgrade) => {
    for (const table of ['headers', 'finalizations', 'proofs', 'codes'] as const) database.createObjectStore(table);
    if (!database.objectStoreNames.contains('meta')) return;
    await move(upgrade, 'zk-proof-', 'proofs');
    await move(upgrade, 'finality-', 'finalizations');
  },
];

/** Version of the schema that this code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Every table of the current version. A name of `Table` that is missing here does not compile. */
export const TABLES = Object.keys({
  meta: true,
  blocks: true,
  dictionaries: true,
  state: true,
  trie: true,
  headers: true,
  finalizations: true,
  proofs: true,
  codes: true,
} satisfies Record<Table, true>) as readonly Table[];

/** Upgrades a database from `oldVersion` in its version change transaction. If a step fails, nothing is changed. */
export async function migrate(
  database: IDBPDatabase<StoreSchema>,
  oldVersion: number,
  upgrade: Upgrade,
): Promise<void> {
  try {
    await Promise.all(MIGRATIONS.slice(oldVersion).map((step) => step(database, upgrade)));
  } catch {
    // The failed request may have ended the transaction already. Opening the database rejects with its error.
    try {
      upgrade.abort();
    } catch {}
  }
}

/** Moves the entries of `meta` whose keys begin with `prefix` to another table, and removes the prefix from the keys. */
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
