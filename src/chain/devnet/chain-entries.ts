import type { Commit, Key, PageStore, Table } from '../../store/page-store.js';
import { type ChainFileEntry, refusedFile } from './chain-file.js';
import { HISTORY_KEY } from './pruned-history.js';

/** Tables that belong to a devnet as a whole. */
const OWN_TABLES: readonly Table[] = ['blocks', 'state', 'trie'];
export const CHECKPOINT_KEY = 'devnet-checkpoint';
/** Its entries of `meta`. */
const META_KEYS: readonly Key[] = ['devnet-head', 'devnet-edits', CHECKPOINT_KEY];
/** Pages of the zk state: what state it is, roots of tries, blocks of nodes, buckets of keys. */
const PAGE = /^(state|\d+(\/(\d+|k\d+)\/\d+)?)$/;

/** Whether a devnet writes entries of this key. */
function isOwn(table: Table, key: Key): boolean {
  if (table === 'meta') return META_KEYS.includes(key);
  if (table === 'state') return typeof key === 'string' && PAGE.test(key);
  if (table === 'blocks' && key === HISTORY_KEY) return true;
  return OWN_TABLES.includes(table) && Number.isSafeInteger(key) && (key as number) >= 0 && !Object.is(key, -0);
}

/** Keys of all that a devnet has in a store; everything in its tables is its own. */
export async function ownKeys(store: PageStore): Promise<NonNullable<Commit['deletes']>[number][]> {
  const keys = (await store.keys('meta')).filter((key) => isOwn('meta', key));
  const own = keys.map((key) => ({ table: 'meta' as Table, key }));
  for (const table of OWN_TABLES) for (const key of await store.keys(table)) own.push({ table, key });
  return own;
}

/** @throws PlumblineError `CHAIN_FILE_REFUSED` for entries that no export writes, or that stand there twice */
export function requireOwnEntries(entries: readonly ChainFileEntry[]): void {
  const seen = new Set<string>();
  for (const { table, key } of entries) {
    const name = `${table} ${key}`;
    if (!isOwn(table, key)) throw refusedFile(`has an entry that no export writes: ${name}`);
    if (seen.has(name)) throw refusedFile(`has an entry twice: ${name}`);
    seen.add(name);
  }
}
