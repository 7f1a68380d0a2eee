/** A stored page. Its bytes are opaque to the store. */
export interface Page {
  readonly key: string;
  readonly value: Uint8Array;
}

/** Page changes for one atomic commit. Each key occurs once. */
export interface PageChanges {
  readonly puts: readonly Page[];
  readonly deletes: readonly string[];
}

/** Reads pages. Nothing may be written while a state is open on it; open it again after a commit. */
export interface PageSource {
  /** Pages in the order of `keys`, undefined for missing ones; all from one commit. */
  getMany(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]>;
}
