import type { Commit, Key, PageStore, Table } from '../../../store/page-store.js';
import { CHECKPOINT_KEY, damaged } from '../records/checkpoint-codec.js';
import { HISTORY_KEY } from '../records/pruned-history.js';
import { type ChainFileEntry, refusedFile } from './chain-file.js';

/** Tables that belong to a devnet as a whole. */
const OWN_TABLES: readonly Table[] = ['blocks', 'state', 'trie'];
/** Its entries of `meta`. */
const META_KEYS: readonly Key[] = ['devnet-head', 'devnet-edits', CHECKPOINT_KEY];
/** Pages of the zk state: what state it is, roots of tries, blocks of nodes, buckets of keys. */
const PAGE = /^(state|\d+(\/(\d+|k\d+)\/\d+)?)$/;

/** Entries read at once. */
const BATCH = 64;

/** Whether a devnet writes entries of this key. */
function isOwn(table: Table, key: Key): boolean {
  if (table === 'meta') return META_KEYS.includes(key);
  if (table === 'state') return typeof key === 'string' && PAGE.test(key);
  if (table === 'blocks' && key === HISTORY_KEY) return true;
  return OWN_TABLES.includes(table) && Number.isSafeInteger(key) && (key as number) >= 0 && !Object.is(key, -0);
}

type Place = NonNullable<Commit['deletes']>[number];

/** Places of all that a devnet has in a store; everything in its tables is its own. */
export async function ownPlaces(store: PageStore): Promise<Place[]> {
  const keys = (await store.keys('meta')).filter((key) => isOwn('meta', key));
  return [...keys.map((key): Place => ({ table: 'meta', key })), ...(await placesIn(store, OWN_TABLES))];
}

/** Places of the state, and of what old blocks have lost: what is left are the blocks. */
export async function statePlaces(store: PageStore): Promise<Place[]> {
  const others: Place[] = [
    { table: 'meta', key: CHECKPOINT_KEY },
    { table: 'blocks', key: HISTORY_KEY },
  ];
  return [...others, ...(await placesIn(store, ['state', 'trie']))];
}

async function placesIn(store: PageStore, tables: readonly Table[]): Promise<Place[]> {
  const places: Place[] = [];
  for (const table of tables) for (const key of await store.keys(table)) places.push({ table, key });
  return places;
}

/** What a store has of a devnet. @throws PlumblineError `STORE_CORRUPT` where something is gone meanwhile */
export async function readEntries(store: PageStore): Promise<ChainFileEntry[]> {
  const places = (await ownPlaces(store)).filter(({ table, key }) => isOwn(table, key));
  const entries: ChainFileEntry[] = [];
  for (const table of ['meta', ...OWN_TABLES] as const) {
    const keys = places.filter((place) => place.table === table).map(({ key }) => key);
    for (let at = 0; at < keys.length; at += BATCH) {
      const batch = keys.slice(at, at + BATCH);
      for (const [i, value] of (await store.getMany(table, batch)).entries()) {
        const key = batch[i]!;
        if (value === undefined) throw damaged(table, key, 'is missing');
        entries.push({ table, key, value });
      }
    }
  }
  return entries;
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
