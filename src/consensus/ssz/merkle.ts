import { sha256 } from '@noble/hashes/sha2.js';
import { ZERO_WORD } from '../../primitives/bytes.js';

/** Input of every compression, used again. */
const PAIR = new Uint8Array(64);

/** Roots of subtrees of zero chunks, by depth. */
const ZERO_ROOTS: Uint8Array[] = [ZERO_WORD];

/** SHA-256 of two words of 32 bytes. */
export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  PAIR.set(left);
  PAIR.set(right, 32);
  return sha256(PAIR);
}

/** Root of a subtree of this depth that is all zero. */
export function zeroRoot(depth: number): Uint8Array {
  while (ZERO_ROOTS.length <= depth) ZERO_ROOTS.push(hashPair(ZERO_ROOTS.at(-1)!, ZERO_ROOTS.at(-1)!));
  return ZERO_ROOTS[depth]!;
}

/** Root of a tree over at least one chunk of 32 bytes, padded with zero chunks to the next power of two. */
export function merkleRoot(chunks: readonly Uint8Array[]): Uint8Array {
  let layer = chunks;
  for (let depth = 0; layer.length > 1; depth++) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < layer.length; i += 2) above.push(hashPair(layer[i]!, layer[i + 1] ?? zeroRoot(depth)));
    layer = above;
  }
  return layer[0]!;
}

/** Bytes in chunks of 32, the last one padded with zeros. */
export function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 32) {
    const chunk = new Uint8Array(32);
    chunk.set(bytes.subarray(at, at + 32));
    chunks.push(chunk);
  }
  return chunks;
}

/**
 * The root that a leaf has under a branch.
 *
 * @param gindex - generalized index of the leaf: 1 is the root, 2n and 2n + 1 are the children of n
 * @param branch - siblings from the leaf upwards, as many as the leaf is deep
 * @source ethereum/consensus-specs@a08d8a6e ssz/merkle-proofs.md
 */
export function rootFromBranch(leaf: Uint8Array, gindex: number, branch: readonly Uint8Array[]): Uint8Array {
  let node = leaf;
  for (const [i, sibling] of branch.entries()) {
    node = (gindex >> i) % 2 === 1 ? hashPair(sibling, node) : hashPair(node, sibling);
  }
  return node;
}
