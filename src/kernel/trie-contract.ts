import type { HashScheme, KernelOptions } from './contracts.js';

/** Content of a used leaf: positions of its neighbours in `hkey` order, and the hashes of key and value. */
export interface TrieLeaf {
  readonly prevLeaf: number;
  readonly nextLeaf: number;
  /** 32 bytes, canonical. */
  readonly hkey: Uint8Array;
  /** 32 bytes, canonical. */
  readonly hval: Uint8Array;
}

/** Position of a key, or the positions of the two leaves around it if it is absent. */
export type TrieFound =
  | { readonly present: true; readonly position: number }
  | { readonly present: false; readonly left: number; readonly right: number };

/** Effect of an operation, and the leaf position; `none` if the key to remove was absent. */
export type TrieEffect =
  | { readonly effect: 'insert' | 'update' | 'remove'; readonly position: number }
  | { readonly effect: 'none' };

/** Figures of a trie kernel. */
export interface TrieStatistics {
  /** Compressions whose result was used, since the kernel was loaded. */
  readonly compressions: number;
  /** Compressions in SIMD lanes without work. */
  readonly idleCompressions: number;
  /** Size of the linear memory. It never shrinks; the memory of dropped tries is reused. */
  readonly memoryBytes: number;
  /** Bytes used by tries and undo records. */
  readonly usedBytes: number;
}

/** Options for loading a trie kernel. */
export interface TrieKernelOptions extends KernelOptions {
  /** Record the previous content of changed positions, for `takeUndo`. Default false. */
  undo?: boolean;
  /** Record the hashes that commits replace, for `takeNodes`: 44 bytes each. Default false. */
  nodes?: boolean;
}

/**
 * Depth-40 tries of one hash scheme in one linear memory (docs/spec/state-trie.md 2 to 4). A trie is identified by a
 * handle, which is valid until the trie is dropped. Writes change leaves at once, and hashes at the next commit.
 *
 * Every method throws PlumblineError `INVALID_PARAMETER` for an invalid handle, and for byte arguments `INVALID_LENGTH`
 * unless they are 32 bytes, and `HASH_INPUT_NOT_CANONICAL`. An operation that throws has changed nothing.
 */
export interface TrieKernel {
  readonly scheme: HashScheme;
  /** The options with which it was loaded. */
  readonly keeps: { readonly undo: boolean; readonly nodes: boolean };

  /** Creates an empty trie, committed, with head and tail. @throws PlumblineError `KERNEL_OUT_OF_MEMORY` */
  createTrie(): number;

  /**
   * Frees the trie's memory. Its records of `takeUndo` can no longer be undone, and their handle may later belong to
   * another trie: keep a trie as long as such records.
   */
  dropTrie(trie: number): void;

  /** Position of the next insertion. */
  nextFreeNode(trie: number): number;

  /** Number of used leaves, head and tail included. */
  leafCount(trie: number): number;

  /** 32 bytes. @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes */
  subRoot(trie: number): Uint8Array;

  /** 32 bytes. @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes */
  topRoot(trie: number): Uint8Array;

  /** Includes uncommitted writes, like `leaf`. */
  find(trie: number, hkey: Uint8Array): TrieFound;

  /**
   * Inserts a key at `nextFreeNode`, or updates it.
   *
   * @throws PlumblineError `OUT_OF_RANGE` for the keys of head and tail, and for more than 2^32 - 1 positions;
   *   `KERNEL_OUT_OF_MEMORY`
   */
  put(trie: number, hkey: Uint8Array, hval: Uint8Array): TrieEffect;

  /** Removes a key if it is present. Errors as in `put`. */
  remove(trie: number, hkey: Uint8Array): TrieEffect;

  /** Content of a position; undefined if it is unused. */
  leaf(trie: number, position: number): TrieLeaf | undefined;

  /**
   * Sets or empties a position, and updates the key order. Links are not checked, and neighbours are not changed: use
   * this to load leaves, to restore them, or for single steps of an operation.
   *
   * @param position - below `nextFreeNode`
   * @throws PlumblineError `OUT_OF_RANGE` for another position, for emptying head or tail, and for their keys
   *   elsewhere; `KERNEL_OUT_OF_MEMORY`
   */
  setLeaf(trie: number, position: number, leaf: TrieLeaf | undefined): void;

  /**
   * Sets the next free position, 2 to 2^32 - 2. No leaf may be at or after it.
   *
   * @throws PlumblineError `OUT_OF_RANGE`
   */
  setNextFreeNode(trie: number, next: number): void;

  /**
   * Hashes all changed nodes of these tries together, each node once. Tries without changes are skipped.
   *
   * @param tries - default: all with changes
   * @throws PlumblineError `KERNEL_OUT_OF_MEMORY`, only with the option `nodes`
   */
  commit(tries?: Iterable<number>): void;

  /**
   * Like `commit` of one trie, but without its top root: for the steps of an operation, which need sub roots only.
   * Errors as in `commit`.
   */
  commitSubRoot(trie: number): void;

  /**
   * The 42 preimages for a used position, from the top down (docs/spec/state-trie.md 7.3): top node, sibling nodes of
   * levels 39 to 1, the sibling leaf's opening or 32 zero bytes, the leaf's opening. Nothing is hashed.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes; `OUT_OF_RANGE` for an unused
   *   position
   */
  gatherProof(trie: number, position: number): Uint8Array[];

  /**
   * Sibling hashes on the path up from a position, used or not: 40 of 32 bytes, level 0 first (docs/spec/state-trie.md
   * 10).
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes; `OUT_OF_RANGE` from 2^32 on
   */
  siblings(trie: number, position: number): Uint8Array[];

  /**
   * Hash of one node, 32 bytes; for an unused subtree, the hash of an empty one. Not valid for a node above the trie's
   * height that contains all its leaves: there the trie stores only the sub root.
   *
   * @param level - 0 (leaves) to 39
   * @param index - below 2^(40 - level)
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes; `OUT_OF_RANGE`
   */
  node(trie: number, level: number, index: number): Uint8Array;

  /**
   * Preimages of the sibling nodes on the path up from a position: levels 39 to 1, 64 bytes each. Errors as in
   * `siblings`.
   */
  siblingPairs(trie: number, position: number): Uint8Array[];

  /**
   * The undo record of all changes since the last call: opaque bytes, 80 for each changed leaf and each change of a
   * trie's `nextFreeNode`. Empty without the option `undo`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes
   */
  takeUndo(): Uint8Array;

  /**
   * Hashes that commits replaced since the last call: opaque bytes for `readTriesBefore`, with which earlier states can
   * be proved. Empty without the option `nodes`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while there are uncommitted writes
   */
  takeNodes(): Uint8Array;

  /**
   * Undoes a record of `takeUndo`: restores leaves, their order and `nextFreeNode`. Records must be undone newest
   * first, while their tries exist. Commit afterwards. The restored values count as new changes for `takeUndo`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` for bytes that are not a record of existing tries. Modified bytes are
   *   noticed entry by entry (`OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL`), when later entries are already restored; so
   *   is `KERNEL_OUT_OF_MEMORY`. Call `takeBack` then
   */
  undo(record: Uint8Array): void;

  /**
   * Undoes all changes since the last `takeUndo`, committed or not, and commits; no record includes them. It needs no
   * memory, so it works when an operation ran out of memory. No trie may have been dropped since.
   *
   * @throws PlumblineError `INVALID_PARAMETER` without the option `undo`
   */
  takeBack(): void;

  statistics(): TrieStatistics;
}
