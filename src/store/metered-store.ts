import { isPlumblineError } from '../errors.js';
import { checkKey, checkValue } from './keys.js';
import type { Clearing, Commit, Key, PageStore, Table } from './page-store.js';
import { TABLES } from './schema.js';
import { decodeUsage, emptyUsage, encodeUsage, recordBytes, type StoreUsage, type TableUsage } from './table-usage.js';

/** Where the figures stand, in `meta`. */
const USAGE = 'usage';
/** Entries of `meta` that are bookkeeping of the store itself, and are not counted. */
const UNCOUNTED: readonly Key[] = [USAGE, 'writer', 'writer-lease'];
/** Records read at once where a table has to be counted. */
const BATCH = 64;
/** Sizes of records that are remembered, by table; of others the old size is read before they are replaced. */
const REMEMBERED = 4096;

interface Change {
  readonly table: Table;
  readonly key: Key;
  /** Undefined where it is deleted. */
  readonly bytes: number | undefined;
}

/**
 * A store that knows how much is in each table. The figures are written in the same commit as what they count, so that
 * nothing has to be read to have them. Where they are missing or damaged, or the database was tampered with, the tables are
 * counted.
 */
export class MeteredStore implements PageStore {
  readonly #store: PageStore;
  #figures: Record<Table, TableUsage> | undefined;
  /** Bytes of records; 0 for one that is known not to be there. */
  readonly #sizes = new Map<Table, Map<Key, number>>();
  /** Commits follow each other: each counts from what the one before it left. */
  #last: Promise<void> = Promise.resolve();

  constructor(store: PageStore) {
    this.#store = store;
  }

  get health() {
    return this.#store.health;
  }

  get(table: Table, key: Key): Promise<Uint8Array | undefined> {
    return this.#store.get(table, key);
  }

  keys(table: Table): Promise<Key[]> {
    return this.#store.keys(table);
  }

  getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    return this.#store.getMany(table, keys);
  }

  async commit(commit: Commit): Promise<void> {
    const { puts = [], deletes = [], ...rest } = commit;
    for (const { key } of deletes) checkKey(key);
    for (const { key, value } of puts) {
      checkKey(key);
      checkValue(value);
    }
    if (puts.length + deletes.length === 0) return this.#turn(() => this.#store.commit(commit));
    // What is given may change as soon as this returns.
    const own = puts.map(({ table, key, value }) => ({ table, key, value: value.slice() }));
    return this.#turn(async () => {
      const changes: Change[] = [
        ...deletes.map(({ table, key }) => ({ table, key, bytes: undefined })),
        ...own.map(({ table, key, value }) => ({ table, key, bytes: recordBytes(key, value.length) })),
      ];
      const figures = await this.#after(changes);
      const usage = { table: 'meta', key: USAGE, value: encodeUsage(figures) } as const;
      await this.#orRead(() => this.#store.commit({ ...rest, deletes, puts: [...own, usage] }));
      this.#figures = figures;
      for (const { table, key, bytes } of changes) this.#remember(table, key, bytes ?? 0);
      this.#forget();
    });
  }

  clear(clearing?: Clearing): Promise<void> {
    return this.#turn(async () => {
      await this.#orRead(() => this.#store.clear(clearing));
      this.#figures = clearing?.keeps === undefined ? emptyUsage() : undefined;
      this.#sizes.clear();
    });
  }

  async close(): Promise<void> {
    // A commit that was asked for before is done before.
    await this.#last;
    await this.#store.close();
  }

  /** Figures as they were noted with the last commit. */
  noted(): Promise<StoreUsage> {
    return this.#turn(() => this.#load());
  }

  /** Figures of what is stored now; a table with another number of records than was noted is counted anew. */
  usage(): Promise<StoreUsage> {
    return this.#turn(async () => {
      const figures = { ...(await this.#load()) };
      for (const table of TABLES) {
        const keys = counted(table, await this.#store.keys(table));
        if (keys.length !== figures[table].records) figures[table] = await this.#count(table, keys);
      }
      this.#figures = figures;
      return figures;
    });
  }

  /** What fails may have been carried out all the same: then the store alone knows the figures. */
  async #orRead(change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.#figures = undefined;
      this.#sizes.clear();
      throw error;
    }
  }

  #turn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  async #after(changes: readonly Change[]): Promise<Record<Table, TableUsage>> {
    const figures = { ...(await this.#load()) };
    await this.#learn(changes);
    // A key may come twice in one commit.
    const now = new Map<Table, Map<Key, number>>();
    for (const { table, key, bytes = 0 } of changes) {
      if (isUncounted(table, key)) continue;
      const sizes = entry(now, table);
      const before = sizes.get(key) ?? this.#sizes.get(table)?.get(key) ?? 0;
      const { records, bytes: held } = figures[table];
      figures[table] = {
        records: Math.max(0, records + Number(bytes > 0) - Number(before > 0)),
        bytes: Math.max(0, held + bytes - before),
      };
      sizes.set(key, bytes);
    }
    return figures;
  }

  /** Reads what is to be replaced, where its size is not known. */
  async #learn(changes: readonly Change[]): Promise<void> {
    const unknown = new Map<Table, Key[]>();
    for (const { table, key } of changes) {
      if (isUncounted(table, key) || this.#sizes.get(table)?.has(key)) continue;
      unknown.set(table, [...(unknown.get(table) ?? []), key]);
    }
    for (const [table, keys] of unknown) {
      for (let at = 0; at < keys.length; at += BATCH) {
        const batch = keys.slice(at, at + BATCH);
        const values = await this.#read(table, batch);
        for (const [i, key] of batch.entries()) this.#remember(table, key, sizeOf(key, values[i]));
      }
    }
  }

  #remember(table: Table, key: Key, bytes: number): void {
    const sizes = entry(this.#sizes, table);
    sizes.delete(key);
    sizes.set(key, bytes);
  }

  #forget(): void {
    for (const sizes of this.#sizes.values()) {
      for (const oldest of sizes.keys()) {
        if (sizes.size <= REMEMBERED) break;
        sizes.delete(oldest);
      }
    }
  }

  async #load(): Promise<Record<Table, TableUsage>> {
    if (this.#figures !== undefined) return this.#figures;
    const bytes = await this.#store.get('meta', USAGE);
    const stored = bytes && decodeUsage(bytes);
    if (stored !== undefined) return stored;
    const figures = emptyUsage();
    for (const table of TABLES)
      figures[table] = await this.#count(table, counted(table, await this.#store.keys(table)));
    return figures;
  }

  async #read(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    try {
      return await this.#store.getMany(table, keys);
    } catch (error) {
      if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      return Promise.all(keys.map((key) => orNothing(this.#store.get(table, key))));
    }
  }

  async #count(table: Table, keys: readonly Key[]): Promise<TableUsage> {
    let bytes = 0;
    let records = 0;
    for (let at = 0; at < keys.length; at += BATCH) {
      const batch = keys.slice(at, at + BATCH);
      for (const [i, value] of (await this.#read(table, batch)).entries()) {
        if (value === undefined) continue;
        records++;
        bytes += sizeOf(batch[i]!, value);
      }
    }
    return { records, bytes };
  }
}

/** Damage of a record is found by whoever reads it; here it counts for nothing. */
async function orNothing(reading: Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isPlumblineError(error, 'STORE_CORRUPT')) return undefined;
    throw error;
  }
}

function counted(table: Table, keys: readonly Key[]): readonly Key[] {
  return table === 'meta' ? keys.filter((key) => !UNCOUNTED.includes(key)) : keys;
}

function isUncounted(table: Table, key: Key): boolean {
  return table === 'meta' && UNCOUNTED.includes(key);
}

function sizeOf(key: Key, value: Uint8Array | undefined): number {
  return value === undefined ? 0 : recordBytes(key, value.length);
}

function entry(sizes: Map<Table, Map<Key, number>>, table: Table): Map<Key, number> {
  let held = sizes.get(table);
  if (held === undefined) {
    held = new Map();
    sizes.set(table, held);
  }
  return held;
}
