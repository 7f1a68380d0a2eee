import { isPlumblineError } from '../errors.js';
import { copyBytes } from '../primitives/bytes.js';
import type { Commit, Key, Table } from './page-store.js';
import { decodeChecked, encodeChecked, recordBytes } from './table-usage.js';
import type { WriteBehind, WriteBehindTable } from './write-behind.js';

/** Records read at once when the index is lost. */
const BATCH = 64;
/** After so many reads the order of use is stored, even if nothing else is written. */
const MAX_UNSTORED_USES = 32;

/**
 * A cache table with a budget: the least recently used entries are evicted first. The order of use is stored in an index, one
 * entry of `meta`. It is written together with entries, not at each read.
 *
 * An entry that cannot be read counts as missing, and one that cannot be written is dropped. A failing cache never fails the
 * request.
 */
export class BudgetedTable implements WriteBehindTable {
  /** Bytes by key, the least recently used first. */
  private sizes = new Map<string, number>();
  /** Bytes by key of the entries in the store, without those that wait to be written. */
  private held = new Map<string, number>();
  private total = 0;
  private opening: Promise<void> | undefined;
  /** Reads since the index was written. Undefined when the index has changed and must be written. */
  private uses: number | undefined = 0;

  /** @param budgetBytes - for keys and values; the index needs about 50 bytes more for each entry */
  constructor(
    readonly writer: WriteBehind,
    readonly table: Table,
    readonly budgetBytes: number,
  ) {
    writer.add(this);
  }

  /** Bytes of all entries. */
  get bytes(): number {
    return this.total;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    await this.open();
    if (!this.sizes.has(key)) return undefined;
    const value = this.writer.waiting(this.table, key) ?? (await this.read(key));
    if (value === 'unreadable') return undefined;
    const size = this.sizes.get(key);
    // Another node has deleted the entry, or it was evicted during the read.
    if (value === undefined || size === undefined) return this.forget(key);
    this.used(key, size);
    if (this.uses !== undefined && ++this.uses >= MAX_UNSTORED_USES) this.indexChanged();
    return value;
  }

  /** Stores an entry, or replaces it. An entry larger than the whole budget is not stored. */
  async put(key: string, value: Uint8Array): Promise<void> {
    await this.open();
    this.forget(key);
    const size = recordBytes(key, value.length);
    if (size > this.budgetBytes) {
      this.writer.write(this.table, key, undefined);
      return;
    }
    this.sizes.set(key, size);
    this.total += size;
    this.uses = undefined;
    this.writer.write(this.table, key, copyBytes(value));
    this.evict();
  }

  /**
   * Stores an entry at once, if the store holds the value `before`.
   *
   * @throws PlumblineError `STORE_TAKEN_OVER` if it holds another one: nothing is written then; other errors of the store
   */
  async replace(key: string, before: Uint8Array | undefined, value: Uint8Array): Promise<void> {
    await this.open();
    await this.writer.replace(this.table, key, before, value);
    this.used(key, this.sizes.get(key)!);
    this.indexChanged();
    this.evict();
  }

  async delete(key: string): Promise<void> {
    await this.open();
    if (!this.sizes.has(key)) return;
    this.forget(key);
    this.indexChanged();
    this.writer.write(this.table, key, undefined);
  }

  /** Keys of all entries, the least recently used first. */
  async keys(): Promise<string[]> {
    await this.open();
    return [...this.sizes.keys()];
  }

  /** Forgets all entries, after the store was cleared. */
  reset(): void {
    this.sizes.clear();
    this.held.clear();
    this.total = 0;
    this.uses = 0;
    this.opening = Promise.resolve();
  }

  extraPuts(): NonNullable<Commit['puts']> {
    if (this.uses === 0) return [];
    this.uses = 0;
    const value = encodeChecked(JSON.stringify([...this.sizes]));
    return [{ table: 'meta', key: this.indexKey, value }];
  }

  stored(entries: readonly { readonly key: Key; readonly bytes: number | undefined }[]): void {
    for (const { key, bytes } of entries) {
      const name = String(key);
      if (bytes === undefined) this.held.delete(name);
      else this.held.set(name, bytes);
      // A newer value that waits to be written is already counted.
      if (this.writer.isWaiting(this.table, key)) continue;
      if (this.sizes.get(name) !== bytes) this.lost([key]);
    }
  }

  /** Counts these entries as the store holds them. An entry whose deletion failed is the next to be evicted. */
  lost(keys: readonly Key[]): void {
    const back: [string, number][] = [];
    for (const key of keys.map(String)) {
      const bytes = this.held.get(key);
      const isKnown = this.sizes.has(key);
      this.total += (bytes ?? 0) - (this.sizes.get(key) ?? 0);
      if (bytes === undefined) this.sizes.delete(key);
      else if (isKnown) this.sizes.set(key, bytes);
      else back.push([key, bytes]);
    }
    if (back.length > 0) this.sizes = new Map([...back, ...this.sizes]);
    this.uses = undefined;
  }

  private get indexKey(): string {
    return `index-${this.table}`;
  }

  private open(): Promise<void> {
    this.opening ??= this.load().catch((error: unknown) => {
      // The next call tries again.
      this.opening = undefined;
      if (!isPlumblineError(error)) throw error;
    });
    return this.opening;
  }

  /** Loads the index and compares it with the keys. Entries missing in the index count as used least recently. */
  private async load(): Promise<void> {
    const { store } = this.writer;
    const [held, stored] = await Promise.all([store.keys(this.table), store.get('meta', this.indexKey)]);
    const keys = new Set(held.map(String));
    const known = new Map(indexOf(stored).filter(([key]) => keys.has(key)));
    const sizes = new Map<string, number>();
    const unknown = [...keys].filter((key) => !known.has(key));
    for (let at = 0; at < unknown.length; at += BATCH) {
      const batch = unknown.slice(at, at + BATCH);
      const values = await store.getMany(this.table, batch);
      for (const [i, key] of batch.entries()) sizes.set(key, recordBytes(key, values[i]?.length ?? 0));
    }
    for (const [key, size] of known) sizes.set(key, size);
    this.sizes = sizes;
    this.held = new Map(sizes);
    this.total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (unknown.length > 0 || known.size !== keys.size) this.uses = undefined;
    this.evict();
  }

  /** What the store holds, also if another node has written it. */
  async read(key: string): Promise<Uint8Array | undefined | 'unreadable'> {
    try {
      return await this.writer.store.get(this.table, key);
    } catch {
      return 'unreadable';
    }
  }

  private evict(): void {
    for (const key of this.sizes.keys()) {
      if (this.total <= this.budgetBytes) break;
      this.forget(key);
      this.indexChanged();
      this.writer.write(this.table, key, undefined);
    }
  }

  /** Makes an entry the most recently used one. */
  private used(key: string, size: number): void {
    this.sizes.delete(key);
    this.sizes.set(key, size);
  }

  private forget(key: string): undefined {
    this.total -= this.sizes.get(key) ?? 0;
    this.sizes.delete(key);
  }

  private indexChanged(): void {
    this.uses = undefined;
    this.writer.soon();
  }
}

/** @returns an empty list when the index is missing, damaged, or another record */
function indexOf(stored: Uint8Array | undefined): [string, number][] {
  const text = stored && decodeChecked(stored);
  const rows: unknown = text === undefined ? [] : JSON.parse(text);
  return Array.isArray(rows) && rows.every(isEntry) ? rows : [];
}

function isEntry(row: unknown): row is [string, number] {
  return Array.isArray(row) && typeof row[0] === 'string' && Number.isSafeInteger(row[1]);
}
