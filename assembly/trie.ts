/**
 * Entry of trie.wasm: exports only. It exports the hash kernel too, which it mostly contains anyway: a node with tries
 * hashes with another instance of this module, and so loads one kernel instead of two. A handle is the address of a
 * trie's header. The host must use only handles that it was given, and must renew its views of memory after every call
 * that may grow it (init, createTrie, put, remove, setLeaf, setNextFree).
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
