import type { HashScheme, KernelOptions } from './contracts.js';

/** A used leaf position: positions of its neighbours in the order of `hkey`, and the hashes of key and value. */
export interface TrieLeaf {
  readonly prevLeaf: number;
  readonly nextLeaf: number;
  /** 32 bytes, canonical. */
  readonly hkey: Uint8Array;
  /** 32 bytes, canonical. */
  readonly hval: Uint8Array;
}

/** Where a key is, or the positions of the two leaves between which it is not. */
export type TrieFound =
  | { readonly present: true; readonly position: number }
  | { readonly present: false; readonly left: number; readonly right: number };

/** What an operation did, and the leaf position concerned; none for an absent key that was to be removed. */
export type TrieEffect =
  | { readonly effect: 'insert' | 'update' | 'remove'; readonly position: number }
  | { readonly effect: 'none' };

/** Figures of a trie kernel. */
export interface TrieStatistics {
  /** Compressions whose result was used, since the kernel was loaded. */
  readonly compressions: number;
  /** Compressions of SIMD lanes that had nothing to do. */
  readonly idleCompressions: number;
  /** Size of the linear memory. It never shrinks; what dropped tries leave is used again. */
  readonly memoryBytes: number;
  /** Bytes of it that tries and undo records take. */
  readonly usedBytes: number;
}

/** How a trie kernel is opened. */
export interface TrieKernelOptions extends KernelOptions {
  /** Keep what changed positions held before, for `takeUndo`. Off when left out. */
  undo?: boolean;
  /** Keep the hashes that commits replaced, for `takeNodes`: 44 bytes each. Off when left out. */
  nodes?: boolean;
}

/**
 * Depth-40 tries of one hash scheme in one linear memory (docs/spec/state-trie.md 2 to 4). A trie is named by a handle,
 * which is good until the trie is dropped. Writes change leaves at once and hashes at the next commit.
 *
 * Wherever a trie is named: PlumblineError `INVALID_PARAMETER` for a handle that is none. Wherever bytes are given:
 * `INVALID_LENGTH` unless there are 32, and `HASH_INPUT_NOT_CANONICAL`. An operation that throws has changed nothing.
 */
export interface TrieKernel {
  readonly scheme: HashScheme;
  /** The options it was loaded with. */
  readonly keeps: { readonly undo: boolean; readonly nodes: boolean };

  /** An empty trie, committed: head and tail. @throws PlumblineError `KERNEL_OUT_OF_MEMORY` */
  createTrie(): number;

  /**
   * Gives the trie's memory back. Records of `takeUndo` that name the trie cannot be undone any more, and may name another
   * trie later: keep a trie as long as such records.
   */
  dropTrie(trie: number): void;

  /** Position that the next insertion takes. */
  nextFreeNode(trie: number): number;

  /** Leaves in use, head and tail among them. */
  leafCount(trie: number): number;

  /** 32 bytes. @throws PlumblineError `INVALID_PARAMETER` while writes wait for a commit */
  subRoot(trie: number): Uint8Array;

  /** 32 bytes. @throws PlumblineError `INVALID_PARAMETER` while writes wait for a commit */
  topRoot(trie: number): Uint8Array;

  /** Sees writes that are not committed yet, as `leaf` does. */
  find(trie: number, hkey: Uint8Array): TrieFound;

  /**
   * Inserts a key at `nextFreeNode`, or updates it.
   *
   * @throws PlumblineError `OUT_OF_RANGE` for the keys of head and tail, and for more than 2^32 - 1 positions;
   *   `KERNEL_OUT_OF_MEMORY`
   */
  put(trie: number, hkey: Uint8Array, hval: Uint8Array): TrieEffect;

  /** Removes a key, if it is there. Errors as `put`. */
  remove(trie: number, hkey: Uint8Array): TrieEffect;

  /** What a position holds; undefined when it is not in use. */
  leaf(trie: number, position: number): TrieLeaf | undefined;

  /**
   * Makes a position hold a leaf, or none, and keeps the order of keys up to date. Links are taken as given and neighbours are
   * left alone: this loads leaves, restores them, or takes an operation's steps one by one.
   *
   * @param position - below `nextFreeNode`
   * @throws PlumblineError `OUT_OF_RANGE` for another position, for emptying head or tail, and for their keys elsewhere;
   *   `KERNEL_OUT_OF_MEMORY`
   */
  setLeaf(trie: number, position: number, leaf: TrieLeaf | undefined): void;

  /** Sets the free position, 2 to 2^32 - 2. No leaf may be at it or behind it. @throws PlumblineError `OUT_OF_RANGE` */
  setNextFreeNode(trie: number, next: number): void;

  /**
   * Hashes what changed, each node once, over all the tries named together; tries without changes are passed over.
   *
   * @param tries - all with changes, when left out
   * @throws PlumblineError `KERNEL_OUT_OF_MEMORY`, with the option `nodes` only
   */
  commit(tries?: Iterable<number>): void;

  /**
   * As `commit` of one trie, but leaves its top root for later: for the steps of an operation, which show sub roots only.
   * Errors as `commit`.
   */
  commitSubRoot(trie: number): void;

  /**
   * The 42 preimages of a used position, top to bottom (docs/spec/state-trie.md 7.3): top node, the sibling nodes of levels
   * 39 to 1, the sibling leaf's opening or 32 zero bytes, the leaf's opening. Nothing is hashed.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while writes wait for a commit; `OUT_OF_RANGE` for a position not in use
   */
  gatherProof(trie: number, position: number): Uint8Array[];

  /**
   * Hashes beside the way up from a position, used or not: 40 of 32 bytes, level 0 first (docs/spec/state-trie.md 10).
   *
   * @throws PlumblineError `INVALID_PARAMETER` while writes wait for a commit; `OUT_OF_RANGE` from 2^32 on
   */
  siblings(trie: number, position: number): Uint8Array[];

  /**
   * Hash of one node, 32 bytes; that of an empty subtree where nothing is in use. Not for nodes that have all leaves in use
   * below them: above its own height a trie keeps none but the sub root.
   *
   * @param level - 0 (leaves) to 39
   * @param index - below 2^(40 - level)
   * @throws PlumblineError `INVALID_PARAMETER` while writes wait for a commit; `OUT_OF_RANGE`
   */
  node(trie: number, level: number, index: number): Uint8Array;

  /** Preimages of the nodes beside the way up from a position: levels 39 to 1, 64 bytes each. Errors as `siblings`. */
  siblingPairs(trie: number, position: number): Uint8Array[];

  /**
   * What changed since the last call, to be undone: opaque bytes, 80 for each changed leaf and each change of a trie's
   * nextFreeNode. Empty without the option `undo`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while writes wait for a commit
   */
  takeUndo(): Uint8Array;

  /**
   * Hashes that commits replaced since the last call: opaque bytes for `readTriesBefore`, by which earlier moments stay
   * provable. Empty without the option `nodes`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` while writes wait for a commit
   */
  takeNodes(): Uint8Array;

  /**
   * Puts back what a record of `takeUndo` holds: leaves, their order, nextFreeNode. Records are undone newest first, and the
   * tries they name still exist. Needs a commit afterwards. What is put back counts as a change of its own for `takeUndo`.
   *
   * @throws PlumblineError `INVALID_PARAMETER` for bytes that are no record of tries that exist. Bytes changed by others are
   *   found out entry by entry (`OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL`), when those behind are already put back, and so
   *   is `KERNEL_OUT_OF_MEMORY`; `takeBack` helps
   */
  undo(record: Uint8Array): void;

  /**
   * Takes back what changed since the last `takeUndo`, whether it was committed or not, and commits; neither record says
   * anything of it. Needs no memory: this is the way out when an operation had none. No trie may have been dropped since.
   *
   * @throws PlumblineError `INVALID_PARAMETER` without the option `undo`
   */
  takeBack(): void;

  statistics(): TrieStatistics;
}
