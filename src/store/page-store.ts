/** Tables of the store. Keys are strings or safe integers; values are bytes. */
export type Table = 'meta' | 'blocks' | 'dictionaries' | 'state' | 'trie';

export type Key = string | number;

/** Puts and deletes that happen together or not at all: the deletes first, then the puts in order. */
export interface Commit {
  readonly puts?: readonly { readonly table: Table; readonly key: Key; readonly value: Uint8Array }[];
  readonly deletes?: readonly { readonly table: Table; readonly key: Key }[];
}

/**
 * Where a node keeps what has to outlive it. One atomic commit per block; values hold many nodes each, because single
 * puts are far slower (one put of 64 bytes costs sixty times its share of a page).
 */
export interface PageStore {
  get(table: Table, key: Key): Promise<Uint8Array | undefined>;
  /** Keys of a table in ascending order, numbers before strings. */
  keys(table: Table): Promise<Key[]>;
  /** Values of `keys`, in order, undefined where there is none; one transaction. */
  getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]>;
  /** @throws PlumblineError `STORE_QUOTA_EXCEEDED`, `STORE_UNAVAILABLE`; nothing is written then */
  commit(commit: Commit): Promise<void>;
  /** Deletes everything. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
