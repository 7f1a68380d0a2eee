import { isPlumblineError } from '../errors.js';
import { decodeChecked, encodeChecked } from './checked-text.js';
import type { Commit, Key, Table } from './page-store.js';
import { recordBytes } from './table-usage.js';
import type { Behind, WriteBehind } from './write-behind.js';

/** Records read at once where the index is lost. */
const BATCH = 64;
/** Records used in a session after which the order of use is stored, be nothing else. */
const MAX_UNSTORED_USES = 32;

/**
 * A table of which each entry can be had again, and which keeps within a budget: the least recently used entries go first.
 * The order of use is kept in an index, one entry of `meta`, which is written with the entries and not for each reading.
 *
 * What cannot be read is not there, and what cannot be written is not kept: a cache costs nobody the answer.
 */
export class BudgetedTable implements Behind {
  /** Bytes by key, the least recently used first. */
  private sizes = new Map<string, number>();
  /** Bytes of what the store holds, whatever waits to be written. */
  private held = new Map<string, number>();
  private total = 0;
  private opening: Promise<void> | undefined;
  /** Readings since the index was written; undefined when it has to be written anyway. */
  private uses: number | undefined = 0;

  /** @param budgetBytes - of keys and values; the index comes on top, some 50 bytes an entry */
  constructor(
    private readonly writer: WriteBehind,
    readonly table: Table,
    readonly budgetBytes: number,
  ) {
    writer.join(this);
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
    // An entry that somebody else has deleted, or that was evicted meanwhile.
    if (value === undefined || size === undefined) return this.forget(key);
    this.sizes.delete(key);
    this.sizes.set(key, size);
    if (this.uses !== undefined && ++this.uses >= MAX_UNSTORED_USES) this.changed();
    return value;
  }

  /** Keeps an entry, in the place of an older one; one that is above the whole budget is not kept. */
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
    this.writer.write(this.table, key, value.slice());
    this.evict();
  }

  async delete(key: string): Promise<void> {
    await this.open();
    if (!this.sizes.has(key)) return;
    this.forget(key);
    this.changed();
    this.writer.write(this.table, key, undefined);
  }

  /** Keys of all entries, the least recently used first. */
  async keys(): Promise<string[]> {
    await this.open();
    return [...this.sizes.keys()];
  }

  /** The store has been emptied. */
  reset(): void {
    this.sizes.clear();
    this.held.clear();
    this.total = 0;
    this.uses = 0;
    this.opening = Promise.resolve();
  }

  beside(): NonNullable<Commit['puts']> {
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
      // What waits by now counts already.
      if (this.writer.isWaiting(this.table, key)) continue;
      if (this.sizes.get(name) !== bytes) this.lost([key]);
    }
  }

  /** What was there before is what there is, and to be evicted first where it was to go. */
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
      // Another time it may be there.
      this.opening = undefined;
      if (!isPlumblineError(error)) throw error;
    });
    return this.opening;
  }

  /** The index has to tell of what is there: entries it does not know come first, those that are not there do not count. */
  private async load(): Promise<void> {
    const { store } = this.writer;
    const [held, stored] = await Promise.all([store.keys(this.table), store.get('meta', this.indexKey)]);
    const there = new Set(held.map(String));
    const known = new Map(indexOf(stored).filter(([key]) => there.has(key)));
    const sizes = new Map<string, number>();
    const strangers = [...there].filter((key) => !known.has(key));
    for (let at = 0; at < strangers.length; at += BATCH) {
      const batch = strangers.slice(at, at + BATCH);
      const values = await store.getMany(this.table, batch);
      for (const [i, key] of batch.entries()) sizes.set(key, recordBytes(key, values[i]?.length ?? 0));
    }
    for (const [key, size] of known) sizes.set(key, size);
    this.sizes = sizes;
    this.held = new Map(sizes);
    this.total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (strangers.length > 0 || known.size !== there.size) this.uses = undefined;
    this.evict();
  }

  private async read(key: string): Promise<Uint8Array | undefined | 'unreadable'> {
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
      this.changed();
      this.writer.write(this.table, key, undefined);
    }
  }

  private forget(key: string): undefined {
    this.total -= this.sizes.get(key) ?? 0;
    this.sizes.delete(key);
  }

  private changed(): void {
    this.uses = undefined;
    this.writer.soon();
  }
}

/** @returns nothing for what is damaged */
function indexOf(stored: Uint8Array | undefined): [string, number][] {
  const text = stored && decodeChecked(stored);
  return text === undefined ? [] : (JSON.parse(text) as [string, number][]);
}
