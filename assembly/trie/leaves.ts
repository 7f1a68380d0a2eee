import {
  dirtyMask,
  growTo,
  HKEY,
  HVAL,
  LEAVES,
  leafChunk,
  markedChunk,
  NEXT,
  NEXT_FREE,
  ORDER_HEIGHT,
  PREV,
  RECORD_BYTES,
  ROOT_CHUNK,
  reaches,
  record,
  recordAt,
  spanOf,
  TIERS,
  USED,
  usedRecord,
} from './chunks';
import { HASH_BYTES, isCanonical, sameHash, tailKey } from './format';
import { journalLeaf, journalNextFree, NONE } from './journal';
import { compareKeys, orderFloor, orderInsert, orderRemove, startOrder } from './order';
import { reserve } from './pages';

/** Operations on the leaves of one trie (docs/spec/state-trie.md 4). Nothing is hashed here: see commit. */

const HEAD: u32 = 0;
const TAIL: u32 = 1;
/** One position is reserved as a marker. */
const MAX_LEAVES: u32 = 0xffffffff;
/** Maximum number of slabs that one write can open: chunks of every size, the index, the journal. */
const WRITE_SLABS: i32 = 8;
/** The same for a write at the free position. */
const INSERT_SLABS: i32 = 4;

// Results of operations.
export const NOTHING: i32 = 0;
export const INSERTED: i32 = 1;
export const UPDATED: i32 = 2;
export const REMOVED: i32 = 3;
// Reasons of a refusal; then nothing was changed.
export const NOT_CANONICAL: i32 = -1;
export const RESERVED_KEY: i32 = -2;
export const TRIE_FULL: i32 = -3;
export const NO_MEMORY: i32 = -4;
export const BAD_POSITION: i32 = -5;

/** Operands, laid out as an entry of the journal. */
export const operands: usize = memory.data(80, 16);
const LINKS: usize = operands + 8;
const KEY: usize = operands + 16;
const VALUE: usize = operands + 48;

/** Position of the last operation. */
export let position: u32 = 0;

/** Position of the last leaf whose key is at most `key`. */
function floor(trie: usize, key: usize): u32 {
  if (load<u32>(trie, ORDER_HEIGHT) > 0) return orderFloor(trie, key);
  // A trie of one leaf chunk has no index, so all keys are compared.
  const chunk: usize = load<u32>(trie, ROOT_CHUNK);
  const span = spanOf(trie);
  const word = bswap(load<u64>(key));
  let best: usize = 0;
  let bestWord: u64 = 0;
  for (let rest = load<u64>(chunk, USED) & ~1; rest !== 0; rest &= rest - 1) {
    const at = <usize>ctz(rest);
    const hkey = recordAt(chunk, span, at) + HKEY;
    const other = bswap(load<u64>(hkey));
    if (other > word || other < bestWord) continue;
    if (other === word && compareKeys(hkey, key) > 0) continue;
    if (other === bestWord && compareKeys(hkey, recordAt(chunk, span, best) + HKEY) < 0) continue;
    best = at;
    bestWord = other;
  }
  return <u32>best;
}

/** Finds the operand key. 1: it is at `position`; 0: absent, `position` is its left neighbour. */
export function find(trie: usize): i32 {
  if (!isCanonical(KEY, HASH_BYTES)) return NOT_CANONICAL;
  position = floor(trie, KEY);
  return sameHash(record(trie, position) + HKEY, KEY) ? 1 : 0;
}

/** Whether the operand key is that of head or tail, which no operation may change. */
function isReservedKey(): bool {
  return (load<u64>(KEY) | load<u64>(KEY, 8) | load<u64>(KEY, 16) | load<u64>(KEY, 24)) === 0 || sameHash(KEY, tailKey);
}

/** Inserts or updates the operand key with the operand value. */
export function put(trie: usize): i32 {
  if (!isCanonical(KEY, 2 * HASH_BYTES)) return NOT_CANONICAL;
  if (isReservedKey()) return RESERVED_KEY;
  if (!reserve(INSERT_SLABS)) return NO_MEMORY;
  const left = floor(trie, KEY);
  if (sameHash(record(trie, left) + HKEY, KEY)) {
    memory.copy(changed(trie, left) + HVAL, VALUE, HASH_BYTES);
    position = left;
    return UPDATED;
  }
  const free = load<u32>(trie, NEXT_FREE);
  if (free === MAX_LEAVES) return TRIE_FULL;
  const before = changed(trie, left);
  const right = load<u32>(before, NEXT);
  store<u32>(before, free, NEXT);
  store<u32>(LINKS, left);
  store<u32>(LINKS, right, 4);
  journalNextFree(trie);
  writeLeaf(trie, free);
  store<u32>(trie, free + 1, NEXT_FREE);
  store<u32>(changed(trie, right), free, PREV);
  position = free;
  return INSERTED;
}

/** Removes the operand key. */
export function remove(trie: usize): i32 {
  if (!isCanonical(KEY, HASH_BYTES)) return NOT_CANONICAL;
  if (isReservedKey()) return RESERVED_KEY;
  if (!reserve(INSERT_SLABS)) return NO_MEMORY;
  const at = floor(trie, KEY);
  const leaf = record(trie, at);
  if (!sameHash(leaf + HKEY, KEY)) return NOTHING;
  const left = load<u32>(leaf, PREV);
  const right = load<u32>(leaf, NEXT);
  store<u32>(changed(trie, left), right, NEXT);
  clearLeaf(trie, at);
  store<u32>(changed(trie, right), left, PREV);
  position = at;
  return REMOVED;
}

/**
 * Writes the operand record to a position, or makes the position unused. The position must be below nextFreeNode.
 * Neighbours are not changed: use this to restore leaves, to load them, or for single steps of an operation.
 */
export function setLeaf(trie: usize, at: u32, used: bool): i32 {
  if (at === NONE) return BAD_POSITION;
  const leaf = usedRecord(trie, at);
  if (!used) {
    if (at <= TAIL) return RESERVED_KEY;
    if (!reserve(WRITE_SLABS)) return NO_MEMORY;
    position = at;
    if (leaf !== 0) clearLeaf(trie, at);
    return leaf === 0 ? NOTHING : REMOVED;
  }
  if (!isCanonical(KEY, 2 * HASH_BYTES)) return NOT_CANONICAL;
  const sameKey = leaf !== 0 && sameHash(leaf + HKEY, KEY);
  if (!sameKey && (at <= TAIL || isReservedKey())) return RESERVED_KEY;
  if (!reserve(WRITE_SLABS)) return NO_MEMORY;
  position = at;
  if (sameKey) {
    memory.copy(changed(trie, at), LINKS, RECORD_BYTES);
    return UPDATED;
  }
  if (leaf !== 0) clearLeaf(trie, at);
  writeLeaf(trie, at);
  return INSERTED;
}

/** Sets nextFreeNode, at least 2. No leaf may be at or after it. */
export function setNextFree(trie: usize, next: u32): i32 {
  if (next <= TAIL || next === NONE) return BAD_POSITION;
  if (!reserve(1)) return NO_MEMORY;
  journalNextFree(trie);
  store<u32>(trie, next, NEXT_FREE);
  return UPDATED;
}

/** Record of a used position that is about to change. */
function changed(trie: usize, at: u32): usize {
  const leaf = record(trie, at);
  if (!isDirty(trie, at)) journalLeaf(trie, at, leaf);
  markedChunk(trie, at);
  return leaf;
}

function isDirty(trie: usize, at: u32): bool {
  if (!reaches(trie, at)) return false;
  const chunk = leafChunk(trie, at);
  return chunk !== 0 && ((dirtyMask(chunk) >> (at & 63)) & 1) !== 0;
}

/** Writes the operand record to an unused position. */
function writeLeaf(trie: usize, at: u32): void {
  if (!isDirty(trie, at)) journalLeaf(trie, at, 0);
  growTo(trie, at);
  if (load<u32>(trie, TIERS) > 0 && load<u32>(trie, ORDER_HEIGHT) === 0) indexAll(trie);
  const chunk = markedChunk(trie, at);
  const slot = at & 63;
  memory.copy(recordAt(chunk, spanOf(trie), slot), LINKS, RECORD_BYTES);
  store<u64>(chunk, load<u64>(chunk, USED) | ((<u64>1) << slot), USED);
  store<u32>(trie, load<u32>(trie, LEAVES) + 1, LEAVES);
  if (load<u32>(trie, ORDER_HEIGHT) > 0) orderInsert(trie, at);
}

/** Makes a position unused. */
function clearLeaf(trie: usize, at: u32): void {
  changed(trie, at);
  if (load<u32>(trie, ORDER_HEIGHT) > 0) orderRemove(trie, at);
  const chunk = leafChunk(trie, at);
  store<u64>(chunk, load<u64>(chunk, USED) & ~((<u64>1) << (at & 63)), USED);
  store<u32>(trie, load<u32>(trie, LEAVES) - 1, LEAVES);
}

/** Builds the index of a trie that has outgrown one leaf chunk. */
function indexAll(trie: usize): void {
  startOrder(trie);
  const chunk = leafChunk(trie, HEAD);
  for (let rest = load<u64>(chunk, USED); rest !== 0; rest &= rest - 1) orderInsert(trie, <u32>ctz(rest));
}
