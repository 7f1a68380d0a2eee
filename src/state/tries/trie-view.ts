import type { TrieFound, TrieKernel } from '../../kernel/trie-contract.js';

/** Tries as they were after one block, named by the handles of the kernel. Nothing is changed through it. */
export interface TrieView {
  nextFreeNode(trie: number): number;
  /** 32 bytes. */
  topRoot(trie: number): Uint8Array;
  find(trie: number, hkey: Uint8Array): TrieFound;
  /** The 42 preimages of a position in use, top to bottom (docs/spec/state-trie.md 7.3). */
  branch(trie: number, position: number): readonly Uint8Array[];
}

/** The tries as they are now: proofs are gathered, nothing is hashed. */
export function presentView(kernel: TrieKernel): TrieView {
  return {
    nextFreeNode: (trie) => kernel.nextFreeNode(trie),
    topRoot: (trie) => kernel.topRoot(trie),
    find: (trie, hkey) => kernel.find(trie, hkey),
    branch: (trie, position) => kernel.gatherProof(trie, position),
  };
}
