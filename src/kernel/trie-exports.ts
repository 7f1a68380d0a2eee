/** Exports of assembly/trie.ts. Pointers are returned as signed numbers: use `>>> 0`. */
export interface TrieExports {
  readonly memory: WebAssembly.Memory;
  /** Address of the operands: an entry of the journal of leaves, 80 bytes. */
  readonly operands: WebAssembly.Global;
  /** Address of proofs and siblings. */
  readonly proof: WebAssembly.Global;
  /** Position of the last operation. */
  readonly position: WebAssembly.Global;
  init(isMimc: number): number;
  createTrie(): number;
  dropTrie(trie: number): void;
  state(trie: number): number;
  nextFreeNode(trie: number): number;
  leafCount(trie: number): number;
  subRoot(trie: number): number;
  topRoot(trie: number): number;
  leafRecord(trie: number, position: number): number;
  find(trie: number): number;
  put(trie: number): number;
  remove(trie: number): number;
  setLeaf(trie: number, position: number, used: number): number;
  setNextFree(trie: number, next: number): number;
  enlist(trie: number): void;
  commit(tops: number): number;
  gatherProof(trie: number, position: number): number;
  gatherSiblings(trie: number, position: number): void;
  gatherNode(trie: number, level: number, index: number): void;
  gatherPairs(trie: number, position: number, to: number): number;
  recordJournals(leaves: number, nodes: number): void;
  /** First page of a journal; 0 if it is empty. */
  journalPages(journal: number): number;
  clearJournal(journal: number): void;
  takeBack(): void;
  compressions(): number;
  idleCompressions(): number;
  usedBytes(): number;
}

/** The two journals: leaves that changed, and hashes that commits replaced. */
export const JOURNAL = { leaves: 0, nodes: 1 } as const;

/** Layout of an entry of the journal of leaves, and of the operands. */
export const ENTRY = { trie: 0, position: 4, prevLeaf: 8, nextLeaf: 12, hkey: 16, hval: 48, bytes: 80 } as const;

/** Layout of an entry of the journal of nodes. */
export const NODE = { trie: 0, level: 4, index: 8, hash: 12, bytes: 44 } as const;

/** `prevLeaf` of an unused position; `position` of an entry about the trie's `nextFreeNode`. */
export const NONE = 0xffffffff;

/** Layout of a leaf record. */
export const RECORD = { prevLeaf: 0, nextLeaf: 4, hkey: 8, hval: 40 } as const;

/** Layout of a page of a journal. */
export const PAGE = { next: 0, bytes: 4, entries: 16 } as const;

/** Results of operations; a negative one means that nothing was changed. */
export const STATUS = {
  nothing: 0,
  inserted: 1,
  updated: 2,
  removed: 3,
  notCanonical: -1,
  reservedKey: -2,
  trieFull: -3,
  noMemory: -4,
  badPosition: -5,
} as const;
