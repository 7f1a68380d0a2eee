import { isPlumblineError } from '../errors.js';
import { copyBytes } from '../primitives/bytes.js';
import {
  type Clearing,
  type Commit,
  checkCommit,
  type Key,
  type PageStore,
  StoreWrapper,
  type Table,
} from './page-store.js';
import { TABLES } from './schema.js';
import { decodeUsage, emptyUsage, encodeUsage, recordBytes, type StoreUsage, type TableUsage } from './table-usage.js';

/** Key of the figures in `meta`. */
const USAGE = 'usage';
/** Entries of `meta` that the store itself makes (this one and those of fence.ts). They are not counted. */
const UNCOUNTED: readonly Key[] = [USAGE, 'writer', 'writer-lease'];
/** Records read at once when a table is counted. */
const BATCH = 64;
/** Most cached record sizes for each table. For other records the old size is read before they are replaced. */
const MAX_CACHED_SIZES = 4096;

interface Change {
  readonly table: Table;
  readonly key: Key;
  /** Undefined for a deletion. */
  readonly bytes: number | undefined;
}

/**
 * A store that keeps figures of the size of each table. They are written in the same commit as the records that they count, so no
 * table has to be read. If the figures are missing, damaged or do not match the tables, the tables are counted.
 */
export class MeteredStore extends StoreWrapper implements PageStore {
  #figures: Record<Table, TableUsage> | undefined;
  /** Bytes of records, by key; 0 for a record that is known to be missing. */
  readonly #sizes = new Map<Table, Map<Key, number>>();
  /** Resolves when the last commit has ended. Commits run one after the other, because each updates the same figures. */
  #last: Promise<void> = Promise.resolve();

  async commit(commit: Commit): Promise<void> {
    const { puts = [], deletes = [], ...rest } = commit;
    checkCommit(commit);
    if (puts.length + deletes.length === 0) return this.#turn(() => this.store.commit(commit));
    // The caller may change its bytes as soon as this returns.
    const own = puts.map(({ table, key, value }) => ({ table, key, value: copyBytes(value) }));
    return this.#turn(async () => {
      const changes: Change[] = [
        ...deletes.map(({ table, key }) => ({ table, key, bytes: undefined })),
        ...own.map(({ table, key, value }) => ({ table, key, bytes: recordBytes(key, value.length) })),
      ];
      const figures = await this.#after(changes);
      const usage = { table: 'meta', key: USAGE, value: encodeUsage(figures) } as const;
      await this.#orForget(() => this.store.commit({ ...rest, deletes, puts: [...own, usage] }));
      this.#figures = figures;
      for (const { table, key, bytes } of changes) this.#remember(table, key, bytes ?? 0);
      this.#forget();
    });
  }

  clear(clearing?: Clearing): Promise<void> {
    return this.#turn(async () => {
      await this.#orForget(() => this.store.clear(clearing));
      this.#figures = clearing?.keeps === undefined ? emptyUsage() : undefined;
      this.#sizes.clear();
    });
  }

  async close(): Promise<void> {
    // Waits for commits that were requested before.
    await this.#last;
    await this.store.close();
  }

  /** The figures of the last commit. */
  noted(): Promise<StoreUsage> {
    return this.#turn(() => this.#load());
  }

  /** The figures of the stored records. A table whose number of records differs from its figures is counted again. */
  usage(): Promise<StoreUsage> {
    return this.#turn(async () => {
      const figures = { ...(await this.#load()) };
      for (const table of TABLES) {
        const keys = counted(table, await this.store.keys(table));
        if (keys.length !== figures[table].records) figures[table] = await this.#count(table, keys);
      }
      this.#figures = figures;
      return figures;
    });
  }

  /** Drops the cached figures if the change fails: it may have been made all the same, and the next use reads the figures. */
  async #orForget(change: () => Promise<void>): Promise<void> {
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

  /** Reads the records whose sizes are not cached. */
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
        if (sizes.size <= MAX_CACHED_SIZES) break;
        sizes.delete(oldest);
      }
    }
  }

  async #load(): Promise<Record<Table, TableUsage>> {
    if (this.#figures !== undefined) return this.#figures;
    const bytes = await this.store.get('meta', USAGE);
    const stored = bytes && decodeUsage(bytes);
    if (stored !== undefined) return stored;
    const figures = emptyUsage();
    for (const table of TABLES) figures[table] = await this.#count(table, counted(table, await this.store.keys(table)));
    return figures;
  }

  async #read(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    try {
      return await this.store.getMany(table, keys);
    } catch (error) {
      if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      return Promise.all(keys.map((key) => orNothing(this.store.get(table, key))));
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

/** A damaged record counts as missing here. The code that uses it reports the damage. */
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
