import {
  CHUNK_ROOT,
  COMMIT_LINK,
  childAt,
  dirtyMask,
  FLAGS,
  FULL_SPAN,
  HKEY,
  IN_COMMIT,
  LEAVES_CHANGED,
  NEXT,
  NEXT_FREE,
  NEXT_FREE_CHANGED,
  PREV,
  ROOT_CHUNK,
  recordAt,
  rootLevel,
  row,
  SUB_ROOT,
  setDirtyMask,
  spanOf,
  TIERS,
  TOP_CHANGED,
  TOP_ROOT,
  USED,
} from './chunks';
import {
  DEPTH,
  emptyHash,
  HASH_BYTES,
  indexBytes,
  leafBytes,
  NODE_BYTES,
  sameHash,
  topBytes,
  writeIndex,
  writeTop,
} from './format';
import { encodingSlot, enqueue, flush } from './hash-queue';
import { journalNode, recordsReplaced, reserveNodes } from './journal';

/**
 * Rehashes changed nodes, each once, level by level over all tries of a commit, so that the hash queue always has
 * independent hashes. Within a tier, chunks are processed in groups small enough for the processor's cache.
 */

const GROUP: i32 = 64;

// The group: address of the chunk, address for its topmost hash, levels, and the nodes to rehash at the current level.
const chunks: usize = memory.data(256, 16);
const outputs: usize = memory.data(256, 16);
const spans: usize = memory.data(256, 16);
const owners: usize = memory.data(256, 16);
/** Number of the chunk within its tier. */
const numbers: usize = memory.data(256, 16);
const masks: usize = memory.data(512, 16);
let size: i32 = 0;

let first: usize = 0;

/** Adds a trie to the next commit. */
export function enlist(trie: usize): void {
  const flags = load<u32>(trie, FLAGS);
  if ((flags & IN_COMMIT) !== 0 || (flags & (LEAVES_CHANGED | TOP_CHANGED)) === 0) return;
  store<u32>(trie, flags | IN_COMMIT, FLAGS);
  store<u32>(trie, <u32>first, COMMIT_LINK);
  first = trie;
}

/**
 * Computes the sub roots of the added tries, and their top roots unless `tops` is false.
 *
 * @returns false if there is no memory to record replaced hashes; then nothing is changed, and no trie is added
 */
export function commit(tops: bool): bool {
  if (!reserveReplaced()) {
    for (; first !== 0; first = load<u32>(first, COMMIT_LINK)) {
      store<u32>(first, load<u32>(first, FLAGS) & ~IN_COMMIT, FLAGS);
    }
    return false;
  }
  let tiers = 0;
  for (let trie = first; trie !== 0; trie = load<u32>(trie, COMMIT_LINK)) tiers = max(tiers, load<i32>(trie, TIERS));
  for (let tier = 0; tier <= tiers; tier++) {
    for (let trie = first; trie !== 0; trie = load<u32>(trie, COMMIT_LINK)) {
      if (hasChangedLeaves(trie) && load<i32>(trie, TIERS) >= tier) {
        collect(trie, load<u32>(trie, ROOT_CHUNK), load<i32>(trie, TIERS), 0, tier, trie + CHUNK_ROOT);
      }
    }
    hashGroup(tier);
  }
  hashSubRoots();
  if (tops) hashTopRoots();
  while (first !== 0) {
    const trie = first;
    first = load<u32>(trie, COMMIT_LINK);
    const flags = load<u32>(trie, FLAGS) & ~(IN_COMMIT | LEAVES_CHANGED | NEXT_FREE_CHANGED);
    store<u32>(trie, tops ? flags & ~TOP_CHANGED : flags, FLAGS);
  }
  return true;
}

function reserveReplaced(): bool {
  if (!recordsReplaced()) return true;
  let count: u32 = 0;
  for (let trie = first; trie !== 0; trie = load<u32>(trie, COMMIT_LINK)) {
    // One more for the sub root.
    if (!hasChangedLeaves(trie)) continue;
    count += 1 + countChanged(load<u32>(trie, ROOT_CHUNK), spanOf(trie), load<i32>(trie, TIERS));
  }
  return reserveNodes(count);
}

/** Number of nodes to rehash in and below a chunk, including its topmost. */
function countChanged(chunk: usize, span: i32, tier: i32): u32 {
  let mask = dirtyMask(chunk);
  let count: u32 = 0;
  if (tier === 0) count = <u32>popcnt(mask);
  else {
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      count += countChanged(childAt(chunk, <usize>ctz(rest)), span, tier - 1);
    }
  }
  for (let level = 1; level <= span; level++) {
    mask = parents(mask, level);
    count += <u32>popcnt(mask);
  }
  return count;
}

/** A one bit at every multiple of 2^level: 64 bits per level, lower half first. */
const PLACES: usize = memory.data<u32>(
  [
    0xffffffff, 0xffffffff, 0x55555555, 0x55555555, 0x11111111, 0x11111111, 0x01010101, 0x01010101, 0x00010001,
    0x00010001, 1, 1, 1, 0,
  ],
  16,
);

/** The parents at `level` of the nodes in `mask`. Node i of a level has bit i * 2^level. */
function parents(mask: u64, level: i32): u64 {
  return (mask | (mask >> (1 << (level - 1)))) & load<u64>(PLACES + ((<usize>level) << 3));
}

function hasChangedLeaves(trie: usize): bool {
  return (load<u32>(trie, FLAGS) & LEAVES_CHANGED) !== 0;
}

/** Collects the changed chunks of a tier below chunk `number` of tier `at` into the group. */
function collect(trie: usize, chunk: usize, at: i32, number: u32, tier: i32, output: usize): void {
  if (at > tier) {
    const roots = row(chunk, FULL_SPAN, 0);
    for (let rest = dirtyMask(chunk); rest !== 0; rest &= rest - 1) {
      const slot = <u32>ctz(rest);
      collect(trie, childAt(chunk, slot), at - 1, (number << FULL_SPAN) | slot, tier, roots + ((<usize>slot) << 5));
    }
    return;
  }
  if (size === GROUP) hashGroup(tier);
  const i = (<usize>size) << 2;
  size++;
  store<u32>(owners + i, <u32>trie);
  store<u32>(chunks + i, <u32>chunk);
  store<u32>(numbers + i, number);
  store<u32>(outputs + i, <u32>output);
  store<u32>(spans + i, spanOf(trie));
  store<u64>(masks + (i << 1), dirtyMask(chunk));
  setDirtyMask(chunk, 0);
}

/** Hashes all levels of the grouped chunks, which are of one tier, and empties the group. */
function hashGroup(tier: i32): void {
  if (tier === 0) hashLeaves();
  for (let level = 1; level <= FULL_SPAN; level++) {
    for (let n = 0; n < size; n++) {
      const i = (<usize>n) << 2;
      const span = load<i32>(spans + i);
      if (level > span) continue;
      const above = parents(load<u64>(masks + (i << 1)), level);
      store<u64>(masks + (i << 1), above);
      hashRow(i, span, level, tier, above);
    }
    flush(NODE_BYTES);
  }
  size = 0;
}

/** Hashes the nodes with a set bit at one level of one grouped chunk. */
function hashRow(i: usize, span: i32, level: i32, tier: i32, mask: u64): void {
  const chunk: usize = load<u32>(chunks + i);
  const below = row(chunk, span, level - 1);
  const into = level === span ? load<u32>(outputs + i) : row(chunk, span, level);
  const levelAbove = FULL_SPAN * tier + level;
  const empty = emptyHash(levelAbove - 1);
  for (let rest = mask; rest !== 0; rest &= rest - 1) {
    const index = <usize>(ctz(rest) >> level);
    const pair = below + (index << 6);
    const output = into + (index << 5);
    journalNode(load<u32>(owners + i), levelAbove, indexOf(i, level, <u32>index), output);
    if (sameHash(pair, empty) && sameHash(pair + HASH_BYTES, empty)) {
      memory.copy(output, emptyHash(levelAbove), HASH_BYTES);
    } else enqueue(pair, NODE_BYTES, output);
  }
}

/** Index of a node of a grouped chunk within its level of the trie. */
function indexOf(i: usize, level: i32, index: u32): u32 {
  return (load<u32>(numbers + i) << (FULL_SPAN - level)) | index;
}

function hashLeaves(): void {
  for (let n = 0; n < size; n++) {
    const i = (<usize>n) << 2;
    const chunk: usize = load<u32>(chunks + i);
    const span = load<i32>(spans + i);
    const used = load<u64>(chunk, USED);
    const hashes = row(chunk, span, 0);
    for (let rest = load<u64>(masks + (i << 1)); rest !== 0; rest &= rest - 1) {
      const slot = <usize>ctz(rest);
      journalNode(load<u32>(owners + i), 0, indexOf(i, 0, <u32>slot), hashes + (slot << 5));
      if (((used >> slot) & 1) === 0) {
        memory.fill(hashes + (slot << 5), 0, HASH_BYTES);
        continue;
      }
      const opening = encodingSlot();
      writeOpening(recordAt(chunk, span, slot), opening);
      enqueue(opening, leafBytes, hashes + (slot << 5));
    }
  }
  flush(leafBytes);
}

/** `enc(prev) || enc(next) || hkey || hval` of a leaf record. */
export function writeOpening(leaf: usize, to: usize): void {
  writeIndex(load<u32>(leaf, PREV), to);
  writeIndex(load<u32>(leaf, NEXT), to + indexBytes);
  memory.copy(to + 2 * indexBytes, leaf + HKEY, 2 * HASH_BYTES);
}

/** Hashes from each root chunk up to level 40, with empty subtrees as siblings. */
function hashSubRoots(): void {
  for (let trie = first; trie !== 0; trie = load<u32>(trie, COMMIT_LINK)) {
    if (hasChangedLeaves(trie)) journalNode(trie, DEPTH, 0, trie + SUB_ROOT);
  }
  for (let level = 0; level < DEPTH; level++) {
    for (let trie = first; trie !== 0; trie = load<u32>(trie, COMMIT_LINK)) {
      if (!hasChangedLeaves(trie) || rootLevel(trie) > level) continue;
      const node = trie + SUB_ROOT;
      if (rootLevel(trie) === level) memory.copy(node, trie + CHUNK_ROOT, HASH_BYTES);
      memory.copy(node + HASH_BYTES, emptyHash(level), HASH_BYTES);
      enqueue(node, NODE_BYTES, node);
    }
    flush(NODE_BYTES);
  }
}

function hashTopRoots(): void {
  for (let trie = first; trie !== 0; trie = load<u32>(trie, COMMIT_LINK)) {
    const top = encodingSlot();
    writeTop(load<u32>(trie, NEXT_FREE), trie + SUB_ROOT, top);
    enqueue(top, topBytes, trie + TOP_ROOT);
  }
  flush(topBytes);
}
