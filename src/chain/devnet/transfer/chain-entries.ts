import { nextTurn } from '../../../scheduling/turns.js';
import type { Commit, Key, PageStore, Table } from '../../../store/page-store.js';
import { CHECKPOINT_KEY, damagedEntry } from '../records/checkpoint-codec.js';
import { HISTORY_KEY } from '../records/ledger.js';
import { DEVNET_TABLES } from '../storage/devnet-store.js';
import { isL1Key } from '../storage/stored-l1.js';
import { type ChainFileEntry, refusedFile } from './chain-file.js';

/** Keys of the devnet in table `meta`. */
const META_KEYS: readonly Key[] = ['devnet-head', 'devnet-edits', CHECKPOINT_KEY];
/** Keys of zk state pages: the state's description, roots of tries, blocks of nodes, buckets of keys. */
const PAGE = /^(state|\d+(\/(\d+|k\d+)\/\d+)?)$/;

/** Entries read at once. */
const BATCH = 64;

/** Whether a devnet writes entries with this key. */
function isOwn(table: Table, key: Key): boolean {
  if (table === 'meta') return META_KEYS.includes(key);
  if (table === 'state') return typeof key === 'string' && PAGE.test(key);
  if (table === 'blocks' && (key === HISTORY_KEY || isL1Key(key))) return true;
  return DEVNET_TABLES.includes(table) && Number.isSafeInteger(key) && (key as number) >= 0 && !Object.is(key, -0);
}

type EntryKey = NonNullable<Commit['deletes']>[number];

/** Keys of all entries of a devnet. Every entry in its own tables counts. */
export async function devnetKeys(store: PageStore): Promise<EntryKey[]> {
  const keys = (await store.keys('meta')).filter((key) => isOwn('meta', key));
  return [...keys.map((key): EntryKey => ({ table: 'meta', key })), ...(await keysIn(store, DEVNET_TABLES))];
}

/** Keys of the state, and of the record of pruning. The blocks are not included. */
export async function stateKeys(store: PageStore): Promise<EntryKey[]> {
  const others: EntryKey[] = [
    { table: 'meta', key: CHECKPOINT_KEY },
    { table: 'blocks', key: HISTORY_KEY },
  ];
  return [...others, ...(await keysIn(store, ['state', 'trie']))];
}

async function keysIn(store: PageStore, tables: readonly Table[]): Promise<EntryKey[]> {
  const entryKeys: EntryKey[] = [];
  for (const table of tables) for (const key of await store.keys(table)) entryKeys.push({ table, key });
  return entryKeys;
}

/** All entries of a devnet. @throws PlumblineError `STORE_CORRUPT` if an entry disappears meanwhile */
export async function readEntries(store: PageStore): Promise<ChainFileEntry[]> {
  const entryKeys = (await devnetKeys(store)).filter(({ table, key }) => isOwn(table, key));
  const entries: ChainFileEntry[] = [];
  for (const table of ['meta' as const, ...DEVNET_TABLES]) {
    const keys = entryKeys.filter((entryKey) => entryKey.table === table).map(({ key }) => key);
    for (let at = 0; at < keys.length; at += BATCH) {
      await nextTurn();
      const batch = keys.slice(at, at + BATCH);
      for (const [i, value] of (await store.getMany(table, batch)).entries()) {
        const key = batch[i]!;
        if (value === undefined) throw damagedEntry(table, key, 'is missing');
        entries.push({ table, key, value });
      }
    }
  }
  return entries;
}

/** @throws PlumblineError `CHAIN_FILE_REFUSED` for entries that no export writes, or that occur twice */
export async function requireOwnEntries(entries: readonly ChainFileEntry[]): Promise<void> {
  const seen = new Set<string>();
  for (const { table, key } of entries) {
    await nextTurn();
    const name = `${table} ${key}`;
    if (!isOwn(table, key)) throw refusedFile(`has an entry that no export writes: ${name}`);
    if (seen.has(name)) throw refusedFile(`has an entry twice: ${name}`);
    seen.add(name);
  }
}
