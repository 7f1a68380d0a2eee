import { emptyHashes } from '../../accumulator/empty-subtrees.js';
import { encodeLeaf } from '../../accumulator/leaf-opening.js';
import { ZERO_HASH } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { concatBytes, equalBytes, joinBytes } from '../../primitives/bytes.js';
import { LEAF_LEVELS, rowLevel } from './geometry.js';
import type { StoredLeaf } from './page-content.js';

/** A block and all its nodes, hashed from its entries. */
export interface VerifiedBlock {
  readonly level: number;
  readonly index: number;
  /** Leaves by position; empty above the leaf level. */
  readonly leaves: ReadonlyMap<number, StoredLeaf>;
  /** 32 bytes. */
  readonly root: Uint8Array;
  /**
   * Hash of a node in the block.
   *
   * @param level - from that of the entries to that of the block
   * @param index - in the trie
   */
  node(level: number, index: number): Uint8Array;
}

export function leafBlock(hasher: Hasher, index: number, leaves: readonly StoredLeaf[]): VerifiedBlock {
  const hashes = new Array<Uint8Array>(2 ** LEAF_LEVELS).fill(ZERO_HASH);
  const digests = hashAll(
    hasher,
    leaves.map(({ leaf }) => encodeLeaf(hasher.scheme, leaf)),
  );
  for (const [i, { position }] of leaves.entries()) hashes[position % hashes.length] = digests[i]!;
  return block(hasher, LEAF_LEVELS, index, hashes, new Map(leaves.map((leaf) => [leaf.position, leaf])));
}

/** @param row - hashes of the blocks below; those after the trie's end are left out */
export function rowBlock(hasher: Hasher, level: number, index: number, row: readonly Uint8Array[]): VerifiedBlock {
  const below = rowLevel(level);
  const empty = emptyHashes(hasher)[below]!;
  const hashes = Array.from({ length: 2 ** (level - below) }, (_, i) => row[i] ?? empty);
  return block(hasher, level, index, hashes, new Map());
}

function block(
  hasher: Hasher,
  level: number,
  index: number,
  entries: readonly Uint8Array[],
  leaves: ReadonlyMap<number, StoredLeaf>,
): VerifiedBlock {
  const empties = emptyHashes(hasher);
  const bottom = rowLevel(level);
  const rows = [entries];
  for (let at = bottom; at < level; at++) {
    const children = rows.at(-1)!;
    const pairs = Array.from(
      { length: children.length / 2 },
      (_, i) => [children[2 * i]!, children[2 * i + 1]!] as const,
    );
    const filled = pairs.filter(([a, b]) => !equalBytes(a, empties[at]!) || !equalBytes(b, empties[at]!));
    const digests = hashAll(
      hasher,
      filled.map(([a, b]) => concatBytes(a, b)),
    );
    const hashOf = new Map(filled.map((pair, i) => [pair, digests[i]!]));
    rows.push(pairs.map((pair) => hashOf.get(pair) ?? empties[at + 1]!));
  }
  return {
    level,
    index,
    leaves,
    root: rows.at(-1)![0]!,
    node: (at, i) => rows[at - bottom]![i - index * 2 ** (level - at)]!,
  };
}

/** @param inputs - all of one length */
function hashAll(hasher: Hasher, inputs: readonly Uint8Array[]): Uint8Array[] {
  if (inputs.length === 0) return [];
  const digests = hasher.hashMany(joinBytes(inputs), inputs[0]!.length);
  return inputs.map((_, i) => digests.slice(32 * i, 32 * i + 32));
}
