import { PlumblineError } from '../errors.js';
import { copyBytes } from '../primitives/bytes.js';
import {
  type Clearing,
  type Commit,
  checkCommit,
  checkKey,
  compareKeys,
  isAsExpected,
  type Key,
  type PageStore,
  type Table,
  takenOver,
} from './page-store.js';

/** A store in memory. Values are copied when written and read, as in IndexedDB. */
export class MemoryStore implements PageStore {
  #tables = new Map<Table, Map<Key, Uint8Array>>();
  #closed = false;

  async get(table: Table, key: Key): Promise<Uint8Array | undefined> {
    checkKey(key);
    return this.#open(table).get(key)?.slice();
  }

  async keys(table: Table): Promise<Key[]> {
    return [...this.#open(table).keys()].sort(compareKeys);
  }

  async getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    const held = this.#open(table);
    return keys.map((key) => {
      checkKey(key);
      return held.get(key)?.slice();
    });
  }

  async commit(commit: Commit): Promise<void> {
    const { expects = [], puts = [], deletes = [] } = commit;
    this.#assertOpen();
    // All checks come before the first change.
    checkCommit(commit);
    this.#expect(expects);
    for (const { table, key } of deletes) this.#open(table).delete(key);
    for (const { table, key, value } of puts) this.#open(table).set(key, copyBytes(value));
  }

  async clear({ expects = [], keeps = [] }: Clearing = {}): Promise<void> {
    this.#assertOpen();
    for (const { key } of [...expects, ...keeps]) checkKey(key);
    this.#expect(expects);
    const kept = keeps.map(({ table, key }) => ({ table, key, value: this.#open(table).get(key) }));
    this.#tables.clear();
    for (const { table, key, value } of kept) if (value !== undefined) this.#open(table).set(key, value);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#tables.clear();
  }

  #expect(expects: NonNullable<Commit['expects']>): void {
    for (const { table, key, value } of expects) {
      if (!isAsExpected(this.#open(table).get(key), value)) throw takenOver();
    }
  }

  #open(table: Table): Map<Key, Uint8Array> {
    this.#assertOpen();
    let held = this.#tables.get(table);
    if (held === undefined) {
      held = new Map();
      this.#tables.set(table, held);
    }
    return held;
  }

  #assertOpen(): void {
    if (this.#closed)
      throw new PlumblineError('STORE_UNAVAILABLE', 'the store is closed; open the node again', { reason: 'closed' });
  }
}
