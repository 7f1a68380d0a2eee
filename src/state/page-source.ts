/** A page as it is kept. Its bytes are opaque to the store. */
export interface Page {
  readonly key: string;
  readonly value: Uint8Array;
}

/** What a commit does to the pages: all of it or nothing. No key stands in it twice. */
export interface PageChanges {
  readonly puts: readonly Page[];
  readonly deletes: readonly string[];
}

/** Where pages are read. While a state is open on it, nothing is written; open anew after a commit. */
export interface PageSource {
  /** Pages in the order of `keys`, undefined where there is none; all from one commit. */
  getMany(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]>;
}
