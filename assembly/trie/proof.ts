import { CHUNK_ROOT, NEXT_FREE, nodeAt, rootLevel, SUB_ROOT, usedRecord } from './chunks';
import { writeOpening } from './commit';
import { DEPTH, emptyHash, HASH_BYTES, leafBytes, NODE_BYTES, topBytes, writeTop } from './format';
import { enqueue, flush } from './hash-queue';

/** Branches of a committed trie, collected from stored nodes. */

/** Space for the largest proof: top node 96, 39 nodes of 64, two leaf openings of 192. */
export const proof: usize = memory.data(2976, 16);
const pair: usize = memory.data(64, 16);

/**
 * Writes the 42 preimages of a used position to `proof`, concatenated (docs/spec/state-trie.md 7.3). Nothing is hashed.
 *
 * @returns length of the sibling leaf's preimage; 0 if the position is unused
 */
export function gatherProof(trie: usize, position: u32): i32 {
  const leaf = usedRecord(trie, position);
  if (leaf === 0) return 0;
  writeTop(load<u32>(trie, NEXT_FREE), trie + SUB_ROOT, proof);
  const at = gatherPairs(trie, position, proof + topBytes);
  const beside = usedRecord(trie, position ^ 1);
  if (beside === 0) memory.fill(at, 0, HASH_BYTES);
  else writeOpening(beside, at);
  const besideBytes = beside === 0 ? HASH_BYTES : leafBytes;
  writeOpening(leaf, at + besideBytes);
  return <i32>besideBytes;
}

/**
 * Writes the preimages of the sibling nodes on the path up from a position, used or not: levels 39 to 1, 64 bytes each.
 *
 * @returns the address after them
 */
export function gatherPairs(trie: usize, position: u32, to: usize): usize {
  for (let level = DEPTH - 1; level > 0; level--, to += NODE_BYTES) {
    const sibling = (<u64>position >> level) ^ 1;
    const pair = nodeAt(trie, level - 1, sibling << 1);
    if (pair !== 0) memory.copy(to, pair, NODE_BYTES);
    else {
      memory.copy(to, emptyHash(level - 1), HASH_BYTES);
      memory.copy(to + HASH_BYTES, emptyHash(level - 1), HASH_BYTES);
    }
  }
  return to;
}

/** Writes the sibling hashes on the path up from a position, used or not, to `proof`: 40 of 32 bytes, level 0 first. */
export function gatherSiblings(trie: usize, position: u32): void {
  let at = proof;
  for (let level = 0; level < DEPTH; level++, at += HASH_BYTES) {
    const index = (<u64>position >> level) ^ 1;
    if (index === 0 && level >= rootLevel(trie)) writeOuterNode(trie, level, at);
    else {
      const node = nodeAt(trie, level, index);
      memory.copy(at, node === 0 ? emptyHash(level) : node, HASH_BYTES);
    }
  }
}

/**
 * First node of a level above all leaves. As sibling of the free position it is the root chunk's topmost node, and
 * nothing is hashed.
 */
function writeOuterNode(trie: usize, level: i32, to: usize): void {
  memory.copy(pair, trie + CHUNK_ROOT, HASH_BYTES);
  for (let below = rootLevel(trie); below < level; below++) {
    memory.copy(pair + HASH_BYTES, emptyHash(below), HASH_BYTES);
    enqueue(pair, NODE_BYTES, pair);
    flush(NODE_BYTES);
  }
  memory.copy(to, pair, HASH_BYTES);
}

/**
 * Writes the hash of a node to `proof`. The node must be a sibling on the path up from all used leaves, or below the
 * trie's own top.
 */
export function gatherNode(trie: usize, level: i32, index: f64): void {
  const node = nodeAt(trie, level, <u64>index);
  memory.copy(proof, node === 0 ? emptyHash(level) : node, HASH_BYTES);
}
