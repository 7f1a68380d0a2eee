import { FLAGS, LEAVES, NEXT_FREE, SUB_ROOT, TOP_ROOT, usedRecord } from './chunks';

/** Reads of a trie's header and leaves by the host. */

/** Address of the leaf record (prevLeaf u32, nextLeaf u32, hkey 32, hval 32) of a position; 0 if it is unused. */
export function leafRecord(trie: usize, position: u32): usize {
  return usedRecord(trie, position);
}

export function leafCount(trie: usize): u32 {
  return load<u32>(trie, LEAVES);
}

export function nextFreeNode(trie: usize): u32 {
  return load<u32>(trie, NEXT_FREE);
}

/** 1: leaves were written after the last commit; 2: the top root is not up to date. */
export function state(trie: usize): u32 {
  return load<u32>(trie, FLAGS);
}

/** Address of 32 bytes, as of the last commit. */
export function subRoot(trie: usize): usize {
  return trie + SUB_ROOT;
}

/** Address of 32 bytes, as of the last commit with top roots. */
export function topRoot(trie: usize): usize {
  return trie + TOP_ROOT;
}
