import { isPlumblineError } from '../errors.js';
import type { Commit, Key, PageStore, Table } from './page-store.js';
import { recordBytes } from './table-usage.js';

/** Options of `WriteBehind`. */
export interface WriteBehindOptions {
  /** How long an entry waits for others to be committed with it, ms; 1000 when left out. */
  readonly delayMs?: number | undefined;
  /**
   * Most bytes that wait. Above it, entries are committed at once; during a commit, the oldest waiting entries are dropped.
   * 1 MiB when left out.
   */
  readonly maxPendingBytes?: number | undefined;
  /** Called with each error of the store. Errors are reported only here. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Called after each successful commit. */
  readonly onSuccess?: (() => void) | undefined;
}

/** A table whose entries are written behind. */
export interface WriteBehindTable {
  readonly table: Table;
  /** Further puts for the next commit, such as an index of the entries. */
  extraPuts(): NonNullable<Commit['puts']>;
  /** These entries were committed. `bytes` is undefined for a deleted entry. */
  stored(entries: readonly { readonly key: Key; readonly bytes: number | undefined }[]): void;
  /** These entries will not be written or deleted. The store holds their old values. */
  lost(keys: readonly Key[]): void;
}

interface Pending {
  readonly table: Table;
  readonly key: Key;
  /** Undefined for a deletion. */
  readonly value: Uint8Array | undefined;
}

/**
 * Collects cache entries and commits them together a little later. Requests do not wait for the store. If the store is slow or full,
 * only the entries are lost. If it is not available, they wait for the next commit, up to the limit.
 */
export class WriteBehind {
  private pending = new Map<string, Pending>();
  private bytes = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing: Promise<void> | undefined;
  private beingWritten: ReadonlyMap<string, Pending> = new Map();
  private readonly tables: WriteBehindTable[] = [];
  private readonly delayMs: number;
  private readonly maxPendingBytes: number;

  constructor(
    readonly store: PageStore,
    private readonly options: WriteBehindOptions = {},
  ) {
    this.delayMs = options.delayMs ?? 1000;
    this.maxPendingBytes = options.maxPendingBytes ?? 2 ** 20;
  }

  add(table: WriteBehindTable): void {
    this.tables.push(table);
  }

  /** The value of an entry that waits to be written: null for a deletion, undefined if the entry does not wait. */
  waiting(table: Table, key: Key): Uint8Array | null | undefined {
    const name = nameOf(table, key);
    const entry = this.pending.get(name) ?? this.beingWritten.get(name);
    return entry === undefined ? undefined : (entry.value ?? null);
  }

  /** Whether an entry waits for the next commit. */
  isWaiting(table: Table, key: Key): boolean {
    return this.pending.has(nameOf(table, key));
  }

  /** @param value - undefined deletes the entry */
  write(table: Table, key: Key, value: Uint8Array | undefined): void {
    const name = nameOf(table, key);
    this.take(name);
    this.pending.set(name, { table, key, value });
    this.bytes += recordBytes(key, value?.length ?? 0);
    if (this.bytes <= this.maxPendingBytes) this.soon();
    else if (this.writing === undefined) void this.flush();
    else this.dropOldest();
  }

  /** Schedules a commit. */
  soon(): void {
    this.timer ??= setTimeout(() => void this.flush(), this.delayMs);
  }

  /** Commits all waiting entries. Never rejects. */
  async flush(): Promise<void> {
    while (this.writing !== undefined) await this.writing;
    clearTimeout(this.timer);
    this.timer = undefined;
    const extra = this.tables.flatMap((table) => table.extraPuts());
    if (this.pending.size + extra.length === 0) return;
    this.writing = this.commit(this.pending, extra).finally(() => {
      this.writing = undefined;
      this.beingWritten = new Map();
    });
    await this.writing;
  }

  /**
   * Commits one entry at once.
   *
   * @param before - value that the store must hold; undefined for no entry
   * @throws PlumblineError `STORE_TAKEN_OVER` if it holds another one: nothing is written then; other errors of the store
   */
  async replace(table: Table, key: Key, before: Uint8Array | undefined, value: Uint8Array): Promise<void> {
    await this.store.commit({ expects: [{ table, key, value: before }], puts: [{ table, key, value }] });
    this.reportStored([{ table, key, value }]);
  }

  /** Reports an error of the store. */
  failed(error: unknown): void {
    this.options.onFailure?.(error);
  }

  /** Drops all waiting entries, after the commit under way. */
  async discard(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.writing;
    const gone = [...this.pending.values()];
    this.pending.clear();
    this.bytes = 0;
    this.reportLost(gone);
  }

  private async commit(entries: ReadonlyMap<string, Pending>, extra: NonNullable<Commit['puts']>): Promise<void> {
    this.beingWritten = entries;
    this.pending = new Map();
    this.bytes = 0;
    const puts: NonNullable<Commit['puts']>[number][] = [...extra];
    const deletes: NonNullable<Commit['deletes']>[number][] = [];
    for (const { table, key, value } of entries.values()) {
      if (value === undefined) deletes.push({ table, key });
      else puts.push({ table, key, value });
    }
    try {
      await this.store.commit({ puts, deletes });
    } catch (error) {
      // An entry with a newer value still waits to be written.
      const unwritten = [...entries].filter(([name]) => !this.pending.has(name));
      if (isPlumblineError(error, 'STORE_UNAVAILABLE')) this.waitAgain(unwritten);
      else this.reportLost(unwritten.map(([, entry]) => entry));
      this.failed(error);
      return;
    }
    this.reportStored([...entries.values()]);
  }

  /** Entries that the store could not take wait for the next commit, before those that came later. */
  private waitAgain(entries: readonly [string, Pending][]): void {
    this.pending = new Map([...entries, ...this.pending]);
    for (const [, { key, value }] of entries) this.bytes += recordBytes(key, value?.length ?? 0);
    // The further puts were not made either.
    for (const table of this.tables) table.lost([]);
    if (this.bytes > this.maxPendingBytes) this.dropOldest();
  }

  private reportStored(entries: readonly Pending[]): void {
    for (const table of this.tables) table.stored(entriesOf(table, entries).map(sizeOf));
    this.options.onSuccess?.();
  }

  private dropOldest(): void {
    const gone: Pending[] = [];
    for (const [name, entry] of this.pending) {
      if (this.bytes <= this.maxPendingBytes) break;
      if (entry.value === undefined) continue;
      this.take(name);
      gone.push(entry);
    }
    this.reportLost(gone);
  }

  private take(name: string): void {
    const entry = this.pending.get(name);
    if (entry === undefined) return;
    this.pending.delete(name);
    this.bytes -= recordBytes(entry.key, entry.value?.length ?? 0);
  }

  private reportLost(entries: readonly Pending[]): void {
    for (const table of this.tables) {
      const own = entriesOf(table, entries);
      if (own.length > 0) table.lost(own.map(({ key }) => key));
    }
  }
}

function entriesOf({ table }: WriteBehindTable, entries: readonly Pending[]): Pending[] {
  return entries.filter((entry) => entry.table === table);
}

function sizeOf({ key, value }: Pending): { key: Key; bytes: number | undefined } {
  return { key, bytes: value && recordBytes(key, value.length) };
}

function nameOf(table: Table, key: Key): string {
  return `${table} ${typeof key} ${key}`;
}
