/**
 * Entry of trie.wasm: the exports, and nothing else. It exports the hash kernel, too, nearly all of which it holds anyway: a
 * node with tries hashes with another instance of this module, and loads one kernel where it would load two. A handle is the address of a trie's header; the host keeps to handles
 * it was given, and takes views of memory afresh after every call that may grow it (init, createTrie, put, remove, setLeaf,
 * setNextFree).
 */

export * from './hash';
export { commit, enlist } from './trie/commit';
export { compressions, idleCompressions } from './trie/hash-queue';
export { clearJournal, journalPages, recordJournals } from './trie/journal';
export { find, operands, position, put, remove, setLeaf, setNextFree } from './trie/leaves';
export { usedBytes } from './trie/pages';
export { gatherNode, gatherPairs, gatherProof, gatherSiblings, proof } from './trie/proof';
export { leafCount, leafRecord, nextFreeNode, state, subRoot, topRoot } from './trie/reading';
export { takeBack } from './trie/take-back';
export { createTrie, dropTrie, init } from './trie/tries';
