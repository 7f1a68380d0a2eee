import { HKEY, ORDER_HEIGHT, ORDER_ROOT, record } from './chunks';
import { defineKind, give, ORDER_BLOCKS, take } from './pages';

/**
 * Ordered index over hashed keys: a B+tree of leaf positions. An entry contains the key's first four bytes, so that a
 * search reads leaf records only if those are equal. Equal keys, which exist only while leaves are being
 * restored, are ordered by position.
 *
 *   block:  count u32 | unused u32 | entries
 *   entry:  first word of the key u32 | position u32 | child u32 (inner blocks only)
 *
 * The entry of an inner block is the first entry below its child.
 */

const BLOCK_BYTES: usize = 512;
const ENTRIES: usize = 8;
const LEAF_STRIDE: usize = 8;
const INNER_STRIDE: usize = 12;

// The path from the root block to an entry.
const blocks: usize = memory.data(32, 16);
const slots: usize = memory.data(32, 16);

let owner: usize = 0;
let height: i32 = 0;

export function defineOrder(): void {
  defineKind(ORDER_BLOCKS, <u32>BLOCK_BYTES);
}

/** Starts the index of a trie that has none. */
export function startOrder(trie: usize): void {
  const block = take(ORDER_BLOCKS);
  store<u32>(block, 0);
  store<u32>(trie, <u32>block, ORDER_ROOT);
  store<u32>(trie, 1, ORDER_HEIGHT);
}

export function dropOrder(trie: usize): void {
  const levels = load<i32>(trie, ORDER_HEIGHT);
  if (levels > 0) giveBlocks(load<u32>(trie, ORDER_ROOT), levels);
}

function giveBlocks(block: usize, levels: i32): void {
  if (levels > 1) {
    const end = entry(block, INNER_STRIDE, load<u32>(block));
    for (let at = block + ENTRIES; at < end; at += INNER_STRIDE) giveBlocks(load<u32>(at, 8), levels - 1);
  }
  give(block);
}

/** Position of the last leaf whose key is at most `key`; at least the head. */
export function orderFloor(trie: usize, key: usize): u32 {
  descend(trie, key, 0xffffffff);
  return load<u32>(entry(blockAt(height - 1), LEAF_STRIDE, slotAt(height - 1)), 4);
}

/** Adds a leaf. Its record must be written already. */
export function orderInsert(trie: usize, position: u32): void {
  const key = record(trie, position) + HKEY;
  let word = firstWord(key);
  let child: usize = 0;
  let slot: usize = 0;
  descend(trie, key, position);
  let depth = height - 1;
  // In an empty index the descent ends at slot -1.
  slot = slotAt(depth) + 1;
  for (;;) {
    const stride = strideOf(depth);
    let block = blockAt(depth);
    const count = load<u32>(block);
    let right: usize = 0;
    if (count === capacity(stride)) {
      right = split(block, stride, count);
      const left = load<u32>(block);
      if (slot > left) {
        block = right;
        slot -= left;
      }
    }
    insertEntry(block, stride, slot, word, position, child);
    if (right === 0) return;
    const first = right + ENTRIES;
    word = load<u32>(first);
    position = load<u32>(first, 4);
    child = right;
    if (depth === 0) break;
    slot = slotAt(--depth) + 1;
  }
  // The root block was split.
  const old: usize = load<u32>(trie, ORDER_ROOT);
  const root = take(ORDER_BLOCKS);
  store<u32>(root, 0);
  insertEntry(root, INNER_STRIDE, 0, load<u32>(old + ENTRIES), load<u32>(old + ENTRIES, 4), old);
  insertEntry(root, INNER_STRIDE, 1, word, position, child);
  store<u32>(trie, <u32>root, ORDER_ROOT);
  store<u32>(trie, height + 1, ORDER_HEIGHT);
}

/** Removes a leaf. Its record must still exist. */
export function orderRemove(trie: usize, position: u32): void {
  descend(trie, record(trie, position) + HKEY, position);
  dropEntry(height - 1, slotAt(height - 1));
  while (height > 1) {
    const root: usize = load<u32>(trie, ORDER_ROOT);
    if (load<u32>(root) > 1) break;
    store<u32>(trie, load<u32>(root + ENTRIES, 8), ORDER_ROOT);
    store<u32>(trie, --height, ORDER_HEIGHT);
    give(root);
  }
}

/** Finds the last entry at most (key, position), and leaves the path to it in `blocks` and `slots`. */
function descend(trie: usize, key: usize, position: u32): void {
  owner = trie;
  height = load<i32>(trie, ORDER_HEIGHT);
  const word = firstWord(key);
  let block: usize = load<u32>(trie, ORDER_ROOT);
  for (let depth = 0; depth < height; depth++) {
    const stride = strideOf(depth);
    let low: usize = 0;
    let high: usize = load<u32>(block);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAtMost(entry(block, stride, middle), word, key, position)) low = middle + 1;
      else high = middle;
    }
    store<u32>(blocks + ((<usize>depth) << 2), <u32>block);
    store<u32>(slots + ((<usize>depth) << 2), <u32>(low - 1));
    if (depth + 1 < height) block = load<u32>(entry(block, stride, low - 1), 8);
  }
}

function isAtMost(at: usize, word: u32, key: usize, position: u32): bool {
  const other = load<u32>(at);
  if (other !== word) return other < word;
  const order = compareKeys(record(owner, load<u32>(at, 4)) + HKEY, key);
  return order < 0 || (order === 0 && load<u32>(at, 4) <= position);
}

/** Byte order of two keys: negative, zero or positive. */
export function compareKeys(a: usize, b: usize): i32 {
  for (let i: usize = 0; i < 32; i += 8) {
    const x = bswap(load<u64>(a + i));
    const y = bswap(load<u64>(b + i));
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

/** Moves the second half of a full block into a new one. */
function split(block: usize, stride: usize, count: u32): usize {
  const keep = count >> 1;
  const right = take(ORDER_BLOCKS);
  memory.copy(right + ENTRIES, entry(block, stride, keep), <usize>(count - keep) * stride);
  store<u32>(right, count - keep);
  store<u32>(block, keep);
  return right;
}

function insertEntry(block: usize, stride: usize, slot: usize, word: u32, position: u32, child: usize): void {
  const count = load<u32>(block);
  const at = entry(block, stride, slot);
  memory.copy(at + stride, at, (<usize>count - slot) * stride);
  store<u32>(at, word);
  store<u32>(at, position, 4);
  if (stride === INNER_STRIDE) store<u32>(at, <u32>child, 8);
  store<u32>(block, count + 1);
}

/** Removes an entry of the block at `depth` of the path, and updates the blocks above. */
function dropEntry(depth: i32, slot: usize): void {
  const block = blockAt(depth);
  const stride = strideOf(depth);
  const count = load<u32>(block) - 1;
  memory.copy(entry(block, stride, slot), entry(block, stride, slot + 1), (<usize>count - slot) * stride);
  store<u32>(block, count);
  if (depth === 0) return;
  if (count === 0) {
    give(block);
    dropEntry(depth - 1, slotAt(depth - 1));
    return;
  }
  if (slot === 0) renewFirst(depth);
  if (count <= capacity(stride) >> 2) merge(depth);
}

/** The block at `depth` has a new first entry, which the blocks above repeat. */
function renewFirst(depth: i32): void {
  const first = load<u64>(blockAt(depth) + ENTRIES);
  for (let above = depth - 1; above >= 0; above--) {
    store<u64>(entry(blockAt(above), INNER_STRIDE, slotAt(above)), first);
    if (slotAt(above) > 0) return;
  }
}

/** Merges the block at `depth` with a sibling block if both fit into one. */
function merge(depth: i32): void {
  const parent = blockAt(depth - 1);
  const slot = slotAt(depth - 1);
  const stride = strideOf(depth);
  if (slot + 1 < load<u32>(parent)) joinWithNext(depth, parent, slot, stride);
  else if (slot > 0) joinWithNext(depth, parent, slot - 1, stride);
}

function joinWithNext(depth: i32, parent: usize, slot: usize, stride: usize): void {
  const left: usize = load<u32>(entry(parent, INNER_STRIDE, slot), 8);
  const right: usize = load<u32>(entry(parent, INNER_STRIDE, slot + 1), 8);
  const count = load<u32>(left);
  const more = load<u32>(right);
  if (count + more > (capacity(stride) * 3) >> 2) return;
  memory.copy(entry(left, stride, count), right + ENTRIES, <usize>more * stride);
  store<u32>(left, count + more);
  give(right);
  dropEntry(depth - 1, slot + 1);
}

function firstWord(key: usize): u32 {
  return bswap(load<u32>(key));
}

function strideOf(depth: i32): usize {
  return depth === height - 1 ? LEAF_STRIDE : INNER_STRIDE;
}

function capacity(stride: usize): u32 {
  return <u32>((BLOCK_BYTES - ENTRIES) / stride);
}

function entry(block: usize, stride: usize, slot: usize): usize {
  return block + ENTRIES + slot * stride;
}

function blockAt(depth: i32): usize {
  return load<u32>(blocks + ((<usize>depth) << 2));
}

function slotAt(depth: i32): usize {
  return load<u32>(slots + ((<usize>depth) << 2));
}
