import {
  defineChunks,
  FIRST_SPAN,
  giveChunk,
  HEADER_BYTES,
  HKEY,
  HVAL,
  LEAVES,
  markedChunk,
  NEXT,
  NEXT_FREE,
  PREV,
  ROOT_CHUNK,
  recordAt,
  spanOf,
  startChunks,
  TIERS,
  USED,
} from './chunks';
import { commit, enlist } from './commit';
import { HASH_BYTES, tailKey, useScheme } from './format';
import { defineJournals } from './journal';
import { defineOrder, dropOrder } from './order';
import { give, HEADERS, LEAF_CHUNKS, reserve, take } from './pages';

/** Creates and drops tries. */

/** A committed trie of head and tail, from which new tries are copied. */
let template: usize = 0;

/** Call it once. @returns false if there is no memory */
export function init(isMimc: bool): bool {
  defineChunks();
  defineOrder();
  defineJournals();
  if (!reserve(2)) return false;
  useScheme(isMimc);
  template = take(HEADERS);
  memory.fill(template, 0, HEADER_BYTES);
  startChunks(template);
  store<u32>(template, 2, NEXT_FREE);
  store<u32>(template, 2, LEAVES);
  for (let position: u32 = 0; position < 2; position++) {
    const chunk = markedChunk(template, position);
    const leaf = recordAt(chunk, spanOf(template), position);
    store<u32>(leaf, 0, PREV);
    store<u32>(leaf, 1, NEXT);
    memory.fill(leaf + HKEY, 0, HASH_BYTES);
    memory.fill(leaf + HVAL, 0, HASH_BYTES);
    if (position === 1) memory.copy(leaf + HKEY, tailKey, HASH_BYTES);
    store<u64>(chunk, 3, USED);
  }
  enlist(template);
  commit(true);
  return true;
}

/** Creates an empty trie. @returns its handle; 0 if there is no memory */
export function createTrie(): usize {
  if (!reserve(2)) return 0;
  const trie = take(HEADERS);
  memory.copy(trie, template, HEADER_BYTES);
  const chunk = take(LEAF_CHUNKS);
  memory.copy(chunk, load<u32>(template, ROOT_CHUNK), recordAt(0, FIRST_SPAN, (<usize>1) << FIRST_SPAN));
  store<u32>(trie, <u32>chunk, ROOT_CHUNK);
  return trie;
}

/** Frees all memory of a trie, which must not be part of a running commit. */
export function dropTrie(trie: usize): void {
  giveChunk(load<u32>(trie, ROOT_CHUNK), load<i32>(trie, TIERS));
  dropOrder(trie);
  give(trie);
}
