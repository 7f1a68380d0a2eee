import type { StoreHealth } from './store-status.js';

/**
 * Tables of the store. Keys are strings or safe integers; values are bytes. A devnet has `blocks`, and of its state the
 * pages (`state`) and the ordinary trie (`trie`); a light node `headers`, `finalizations`, `proofs` and `codes`.
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

/** Key of a record within its table; which of the two it is, the schema says. */
export type Key = string | number;

/** Puts and deletes that happen together or not at all: the deletes first, then the puts in order. */
export interface Commit {
  /** What the store has to hold for anything to happen, undefined for nothing; looked at inside the same transaction. */
  readonly expects?: readonly { readonly table: Table; readonly key: Key; readonly value: Uint8Array | undefined }[];
  readonly puts?: readonly { readonly table: Table; readonly key: Key; readonly value: Uint8Array }[];
  readonly deletes?: readonly { readonly table: Table; readonly key: Key }[];
}

/** How a store is emptied that others may write to. */
export interface Clearing {
  /** As in a commit. */
  readonly expects?: Commit['expects'];
  /** Entries that stay. */
  readonly keeps?: Commit['deletes'];
}

/**
 * What has to happen before a commit counts as done. `relaxed`: the browser has it and survives a crash of the page, while a
 * power cut may lose the newest commits, each of them as a whole. `strict` waits for the disk. `default` is the browser's
 * choice of the two.
 */
export type Durability = 'default' | 'strict' | 'relaxed';

/**
 * Where a node keeps what has to outlive it. One atomic commit per block; values hold many nodes each, because single
 * puts are far slower (one put of 64 bytes costs sixty times its share of a page).
 */
export interface PageStore {
  /** Whether it can be used, for a store that can fail; told by the store and by the node that uses it. */
  readonly health?: StoreHealth | undefined;
  get(table: Table, key: Key): Promise<Uint8Array | undefined>;
  /** Keys of a table in ascending order, numbers before strings. */
  keys(table: Table): Promise<Key[]>;
  /** Values of `keys`, in order, undefined where there is none; one transaction. */
  getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]>;
  /**
   * @throws PlumblineError `STORE_QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`, `STORE_TAKEN_OVER` when what it expects is not so;
   *   nothing is written then
   */
  commit(commit: Commit): Promise<void>;
  /** Deletes everything, in one step. @throws PlumblineError as `commit` */
  clear(clearing?: Clearing): Promise<void>;
  close(): Promise<void>;
}
