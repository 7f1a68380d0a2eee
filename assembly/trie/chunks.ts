import { emptyHash, HASH_BYTES, NODE_BYTES } from './format';
import { enqueue, flush } from './hash-queue';
import { defineKind, give, HEADERS, INNER_CHUNKS, LEAF_CHUNKS, take } from './pages';

/**
 * A trie in memory. Levels are grouped into tiers of six. A leaf chunk (tier 0) holds 64 leaf positions and the nodes of
 * levels 0 to 5 above them. An inner chunk of tier t holds the roots of its 64 children, nodes of level 6t, and the levels
 * up to 6t + 5. Above the root chunk there is one node per level, whose sibling is an empty subtree: it is not stored.
 *
 *   leaf chunk:   dirty u64 | used u64 | nodes, level by level | leaf records
 *   inner chunk:  dirty u64 | unused   | nodes, level by level | children u32 x 64
 *   leaf record:  prevLeaf u32 | nextLeaf u32 | hkey 32 | hval 32
 *
 * A trie of up to 64 positions is one leaf chunk of 4, 8, 16, 32 or 64. Chunks without a leaf need not exist.
 */

// Header of a trie; its address is the trie's handle.
export const ROOT_CHUNK: usize = 0;
/** Tier of the root chunk. */
export const TIERS: usize = 4;
/** Levels within the root chunk: 2 to 6. */
export const SPAN: usize = 8;
export const NEXT_FREE: usize = 12;
export const ORDER_ROOT: usize = 16;
/** Levels of the ordered index; 0 if there is none. */
export const ORDER_HEIGHT: usize = 20;
export const FLAGS: usize = 24;
/** Links the tries of a commit. */
export const COMMIT_LINK: usize = 28;
export const LEAVES: usize = 32;
/** 64 bytes: sub root, and space for its sibling when hashing. */
export const SUB_ROOT: usize = 64;
/** Hash of the root chunk's topmost node. */
export const CHUNK_ROOT: usize = 128;
export const TOP_ROOT: usize = 160;
export const HEADER_BYTES: u32 = 192;

// Flags.
export const LEAVES_CHANGED: u32 = 1;
export const TOP_CHANGED: u32 = 2;
export const IN_COMMIT: u32 = 4;
export const NEXT_FREE_CHANGED: u32 = 8;

// Chunks.
const DIRTY: usize = 0;
export const USED: usize = 8;
const NODES: usize = 16;
export const FULL_SPAN: i32 = 6;
const CHILDREN: usize = NODES + 126 * HASH_BYTES;
const INNER_BYTES: u32 = <u32>(CHILDREN + 256);

// Leaf records.
export const PREV: usize = 0;
export const NEXT: usize = 4;
export const HKEY: usize = 8;
export const HVAL: usize = 40;
export const RECORD_BYTES: usize = 72;

export const FIRST_SPAN: i32 = 2;

export function defineChunks(): void {
  defineKind(HEADERS, HEADER_BYTES);
  for (let span = FIRST_SPAN; span <= FULL_SPAN; span++) {
    defineKind(LEAF_CHUNKS + span - FIRST_SPAN, <u32>(records(0, span) + (RECORD_BYTES << span)));
  }
  defineKind(INNER_CHUNKS, INNER_BYTES);
}

/** Nodes of level `level` within a chunk of `span` levels. */
export function row(chunk: usize, span: i32, level: i32): usize {
  return chunk + NODES + ((((<usize>2) << span) - ((<usize>2) << (span - level))) << 5);
}

function records(chunk: usize, span: i32): usize {
  return row(chunk, span, span);
}

export function recordAt(chunk: usize, span: i32, slot: usize): usize {
  return records(chunk, span) + slot * RECORD_BYTES;
}

export function childAt(chunk: usize, slot: usize): usize {
  return load<u32>(chunk + CHILDREN + (slot << 2));
}

export function setChild(chunk: usize, slot: usize, child: usize): void {
  store<u32>(chunk + CHILDREN + (slot << 2), <u32>child);
}

export function dirtyMask(chunk: usize): u64 {
  return load<u64>(chunk, DIRTY);
}

export function setDirtyMask(chunk: usize, mask: u64): void {
  store<u64>(chunk, mask, DIRTY);
}

/** Number of levels in the chunks of a tier. Only a leaf chunk that is the root may have fewer than six. */
export function spanOf(trie: usize): i32 {
  return load<u32>(trie, SPAN);
}

/** Level of the root chunk's topmost node. */
export function rootLevel(trie: usize): i32 {
  return FULL_SPAN * load<i32>(trie, TIERS) + spanOf(trie);
}

/** A new chunk of a tier, whose nodes are all those of empty subtrees. */
function freshChunk(tier: i32, span: i32): usize {
  const chunk = take(tier === 0 ? LEAF_CHUNKS + span - FIRST_SPAN : INNER_CHUNKS);
  store<u64>(chunk, 0, DIRTY);
  store<u64>(chunk, 0, USED);
  for (let level = 0; level < span; level++) {
    const hash = emptyHash(FULL_SPAN * tier + level);
    const end = row(chunk, span, level + 1);
    for (let node = row(chunk, span, level); node < end; node += HASH_BYTES) memory.copy(node, hash, HASH_BYTES);
  }
  if (tier > 0) memory.fill(chunk + CHILDREN, 0, 256);
  return chunk;
}

export function giveChunk(chunk: usize, tier: i32): void {
  if (tier > 0) {
    for (let slot: usize = 0; slot < 64; slot++) {
      const child = childAt(chunk, slot);
      if (child !== 0) giveChunk(child, tier - 1);
    }
  }
  give(chunk);
}

export function startChunks(trie: usize): void {
  store<u32>(trie, <u32>freshChunk(0, FIRST_SPAN), ROOT_CHUNK);
  store<u32>(trie, 0, TIERS);
  store<u32>(trie, FIRST_SPAN, SPAN);
}

/** Grows the trie to reach a position. The previous topmost node becomes a node below the new one. */
export function growTo(trie: usize, position: u32): void {
  while (!reaches(trie, position)) {
    const old: usize = load<u32>(trie, ROOT_CHUNK);
    const tiers = load<i32>(trie, TIERS);
    const span = spanOf(trie);
    if (span < FULL_SPAN) {
      const chunk = widened(old, span);
      const top = row(chunk, span + 1, span);
      memory.copy(top, trie + CHUNK_ROOT, HASH_BYTES);
      store<u32>(trie, <u32>chunk, ROOT_CHUNK);
      store<u32>(trie, span + 1, SPAN);
      give(old);
      // A position in the new half causes the new topmost node to be rehashed. For a position further on, it is queued
      // here.
      if (!reaches(trie, position)) {
        enqueue(top, NODE_BYTES, trie + CHUNK_ROOT);
        flush(NODE_BYTES);
      }
    } else {
      const chunk = freshChunk(tiers + 1, FULL_SPAN);
      memory.copy(row(chunk, FULL_SPAN, 0), trie + CHUNK_ROOT, HASH_BYTES);
      setChild(chunk, 0, old);
      setDirtyMask(chunk, 1);
      store<u32>(trie, <u32>chunk, ROOT_CHUNK);
      store<u32>(trie, tiers + 1, TIERS);
    }
  }
}

/** Whether a position is below the root chunk. */
export function reaches(trie: usize, position: u32): bool {
  return <u64>position >> rootLevel(trie) === 0;
}

function widened(old: usize, span: i32): usize {
  const chunk = freshChunk(0, span + 1);
  memory.copy(chunk, old, NODES);
  for (let level = 0; level < span; level++) {
    memory.copy(row(chunk, span + 1, level), row(old, span, level), HASH_BYTES << (span - level));
  }
  memory.copy(recordAt(chunk, span + 1, 0), recordAt(old, span, 0), RECORD_BYTES << span);
  return chunk;
}

/** Leaf chunk of a position below the root chunk; 0 if it does not exist. */
export function leafChunk(trie: usize, position: u32): usize {
  let chunk: usize = load<u32>(trie, ROOT_CHUNK);
  for (let shift = FULL_SPAN * load<i32>(trie, TIERS); shift > 0 && chunk !== 0; shift -= FULL_SPAN) {
    chunk = childAt(chunk, <usize>((<u64>position >> shift) & 63));
  }
  return chunk;
}

/** Leaf record of a used position; undefined content for others. */
export function record(trie: usize, position: u32): usize {
  return recordAt(leafChunk(trie, position), spanOf(trie), position & 63);
}

/** Leaf record of a position; 0 if it is unused. */
export function usedRecord(trie: usize, position: u32): usize {
  if (!reaches(trie, position)) return 0;
  const chunk = leafChunk(trie, position);
  if (chunk === 0 || ((load<u64>(chunk, USED) >> (position & 63)) & 1) === 0) return 0;
  return recordAt(chunk, spanOf(trie), position & 63);
}

/** Leaf chunk of a position, created if necessary, with the path to the position marked for rehashing. */
export function markedChunk(trie: usize, position: u32): usize {
  growTo(trie, position);
  let chunk: usize = load<u32>(trie, ROOT_CHUNK);
  for (let tier = load<i32>(trie, TIERS); tier > 0; tier--) {
    const slot = <usize>((<u64>position >> (FULL_SPAN * tier)) & 63);
    setDirtyMask(chunk, dirtyMask(chunk) | ((<u64>1) << slot));
    let child = childAt(chunk, slot);
    if (child === 0) {
      child = freshChunk(tier - 1, FULL_SPAN);
      setChild(chunk, slot, child);
    }
    chunk = child;
  }
  setDirtyMask(chunk, dirtyMask(chunk) | ((<u64>1) << (position & 63)));
  store<u32>(trie, load<u32>(trie, FLAGS) | LEAVES_CHANGED | TOP_CHANGED, FLAGS);
  return chunk;
}

/** Hash of node `index` of `level`; 0 for an empty subtree, and above the root chunk. */
export function nodeAt(trie: usize, level: i32, index: u64): usize {
  const position = index << level;
  if (level >= rootLevel(trie) || position >> rootLevel(trie) !== 0) return 0;
  let chunk: usize = load<u32>(trie, ROOT_CHUNK);
  const tier = level / FULL_SPAN;
  for (let at = load<i32>(trie, TIERS); at > tier && chunk !== 0; at--) {
    chunk = childAt(chunk, <usize>((position >> (FULL_SPAN * at)) & 63));
  }
  if (chunk === 0) return 0;
  const span = spanOf(trie);
  const within = level - FULL_SPAN * tier;
  return row(chunk, span, within) + ((<usize>(index & (((<u64>1) << (span - within)) - 1))) << 5);
}
