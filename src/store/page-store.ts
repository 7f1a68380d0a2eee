import { invalidParameter, PlumblineError } from '../errors.js';
import { equalBytes, plainBytes } from '../primitives/bytes.js';
import type { StoreHealth } from './store-status.js';

/**
 * Tables of the store. Keys are strings or safe integers; values are bytes. A devnet uses `blocks`, `state` (pages of the zk state)
 * and `trie` (nodes of the Merkle Patricia trie). A light node uses `headers`, `finalizations`, `proofs` and `codes`.
 */
export type Table =
  | 'meta'
  | 'blocks'
  | 'dictionaries'
  | 'state'
  | 'trie'
  | 'headers'
  | 'finalizations'
  | 'proofs'
  | 'codes';

/** Key of a record within its table. Each table uses either strings or numbers. */
export type Key = string | number;

/** Puts and deletes of one transaction: the deletes first, then the puts in order. */
export interface Commit {
  /** Values that the store must hold (undefined: no entry). They are checked inside the transaction. */
  readonly expects?: readonly { readonly table: Table; readonly key: Key; readonly value: Uint8Array | undefined }[];
  readonly puts?: readonly { readonly table: Table; readonly key: Key; readonly value: Uint8Array }[];
  readonly deletes?: readonly { readonly table: Table; readonly key: Key }[];
}

/** Options for clearing a store. */
export interface Clearing {
  /** As in `Commit`. */
  readonly expects?: Commit['expects'];
  /** Entries that are kept. */
  readonly keeps?: Commit['deletes'];
}

/**
 * When a commit resolves. `relaxed`: it survives a crash of the page, but a power cut may lose the newest commits, each as a
 * whole. `strict`: after it is on the disk. `default`: the browser chooses one of the two.
 */
export type Durability = 'default' | 'strict' | 'relaxed';

/**
 * Storage of a node. Each block is one atomic commit. A value (a page) holds many trie nodes, because single puts are far slower:
 * one put of 64 bytes costs sixty times its share of a page.
 */
export interface PageStore {
  /** Whether the store can be used. The store and the node that uses it set it. Undefined for a store that cannot fail. */
  readonly health?: StoreHealth | undefined;
  get(table: Table, key: Key): Promise<Uint8Array | undefined>;
  /** Keys of a table in ascending order, numbers before strings. */
  keys(table: Table): Promise<Key[]>;
  /** Values of `keys` in the same order, undefined for missing ones, read in one transaction. */
  getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]>;
  /**
   * @throws PlumblineError `STORE_QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `STORE_TAKEN_OVER` when an expected value is not
   *   there; nothing is written then
   */
  commit(commit: Commit): Promise<void>;
  /** Deletes all entries in one transaction. @throws PlumblineError as `commit` */
  clear(clearing?: Clearing): Promise<void>;
  close(): Promise<void>;
}

/** A store over another one. Reads are passed on; a `Buffer` of a caller's store is a plain array here. */
export abstract class StoreWrapper {
  constructor(protected readonly store: PageStore) {}

  get health(): StoreHealth | undefined {
    return this.store.health;
  }

  async get(table: Table, key: Key): Promise<Uint8Array | undefined> {
    const value = await this.store.get(table, key);
    return value && plainBytes(value);
  }

  keys(table: Table): Promise<Key[]> {
    return this.store.keys(table);
  }

  async getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    return (await this.store.getMany(table, keys)).map((value) => value && plainBytes(value));
  }
}

/** @throws PlumblineError `INVALID_PARAMETER` unless the key is a string or a safe integer */
export function checkKey(key: Key): void {
  if (typeof key === 'string' || Number.isSafeInteger(key)) return;
  throw invalidParameter('key', 'must be a string or a safe integer');
}

/** Checks all keys and values of a commit. @throws PlumblineError `INVALID_PARAMETER` */
export function checkCommit({ expects = [], puts = [], deletes = [] }: Commit): void {
  for (const { key } of [...expects, ...deletes]) checkKey(key);
  for (const { key, value } of puts) {
    checkKey(key);
    checkValue(value);
  }
}

function checkValue(value: Uint8Array): void {
  if (value instanceof Uint8Array) return;
  throw invalidParameter('value', 'must be a Uint8Array');
}

/** Compares keys in the order of IndexedDB: numbers before strings, strings by code unit. */
export function compareKeys(a: Key, b: Key): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether a store holds the value that a commit expects. @param value - undefined for a missing entry */
export function isAsExpected(held: unknown, value: Uint8Array | undefined): boolean {
  if (value === undefined) return held === undefined;
  return held instanceof Uint8Array && equalBytes(held, value);
}

/** The error of a commit whose expectations are not met. */
export function takenOver(): PlumblineError<'STORE_TAKEN_OVER'> {
  return new PlumblineError(
    'STORE_TAKEN_OVER',
    'another page or worker is the writer of the store now; send the request again',
    {},
  );
}
