import { encodeLeaf, type LeafOpening } from '../../../src/accumulator/leaf-opening.js';
import { schemeFormat, TREE_DEPTH } from '../../../src/accumulator/scheme.js';
import type { Hasher } from '../../../src/kernel/contracts.js';

/**
 * A node of a tree, shared between the trees of all blocks that have it. An empty subtree has no node. Once its tree is
 * committed a node never changes.
 */
export interface TreeNode<L extends LeafOpening> {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly left: TreeNode<L> | undefined;
  readonly right: TreeNode<L> | undefined;
  /** At level 0 only. */
  readonly leaf: L | undefined;
}

/** What a leaf position becomes: a leaf, or unused. */
export type LeafWrite<L> = readonly [position: number, leaf: L | undefined];

/** New nodes whose hash is not known yet, by level. */
type Unhashed<L extends LeafOpening> = { -readonly [K in keyof TreeNode<L>]: TreeNode<L>[K] }[][];

const PENDING = new Uint8Array(0);

/** Whether the path to `position` turns right below a node of `level`. */
export function turnsRight(position: number, level: number): boolean {
  // Positions have 40 bits: bit operators would cut them.
  return Math.floor(position / 2 ** (level - 1)) % 2 === 1;
}

export function leafAt<L extends LeafOpening>(root: TreeNode<L> | undefined, position: number): L | undefined {
  let node = root;
  for (let level = TREE_DEPTH; level > 0 && node !== undefined; level--) {
    node = turnsRight(position, level) ? node.right : node.left;
  }
  return node?.leaf;
}

/** Nodes of a tree with some leaves written (sorted by position), hashes left open; untouched subtrees are shared. */
function rebuild<L extends LeafOpening>(
  node: TreeNode<L> | undefined,
  level: number,
  firstPosition: number,
  writes: readonly LeafWrite<L>[],
  unhashed: Unhashed<L>,
): TreeNode<L> | undefined {
  if (writes.length === 0) return node;
  let fresh: Unhashed<L>[number][number];
  if (level === 0) {
    const leaf = writes[0]![1];
    if (leaf === undefined) return undefined;
    fresh = { hash: PENDING, left: undefined, right: undefined, leaf };
  } else {
    const middle = firstPosition + 2 ** (level - 1);
    const cut = writes.findIndex(([position]) => position >= middle);
    const split = cut === -1 ? writes.length : cut;
    const left = rebuild(node?.left, level - 1, firstPosition, writes.slice(0, split), unhashed);
    const right = rebuild(node?.right, level - 1, middle, writes.slice(split), unhashed);
    if (left === undefined && right === undefined) return undefined;
    fresh = { hash: PENDING, left, right, leaf: undefined };
  }
  unhashed[level]!.push(fresh);
  return fresh;
}

/** One tree to rewrite. */
export interface TreeRewrite<L extends LeafOpening> {
  readonly root: TreeNode<L> | undefined;
  /** One write per position, in any order. */
  readonly writes: readonly LeafWrite<L>[];
}

/**
 * Writes leaves to several trees at once and hashes each changed node once, level by level over all the trees, so that
 * the hasher always gets as many inputs as there are. Empty subtrees are not hashed.
 *
 * @param empties - `emptyHashes` of the same hasher
 * @returns the new roots, in order; undefined for a tree without leaves
 */
export function rewriteTrees<L extends LeafOpening>(
  hasher: Hasher,
  empties: readonly Uint8Array[],
  trees: readonly TreeRewrite<L>[],
): (TreeNode<L> | undefined)[] {
  const unhashed: Unhashed<L> = Array.from({ length: TREE_DEPTH + 1 }, () => []);
  const roots = trees.map(({ root, writes }) => {
    const sorted = [...writes].sort(([a], [b]) => a - b);
    return rebuild(root, TREE_DEPTH, 0, sorted, unhashed);
  });
  unhashed.forEach((nodes, level) => {
    const inputBytes = level === 0 ? schemeFormat(hasher.scheme).leafBytes : 64;
    const inputs = new Uint8Array(nodes.length * inputBytes);
    for (const [i, node] of nodes.entries()) {
      if (node.leaf !== undefined) inputs.set(encodeLeaf(hasher.scheme, node.leaf), i * inputBytes);
      else inputs.set(childHashes(node, level, empties), i * inputBytes);
    }
    const digests = nodes.length === 0 ? PENDING : hasher.hashMany(inputs, inputBytes);
    for (const [i, node] of nodes.entries()) node.hash = digests.slice(32 * i, 32 * i + 32);
  });
  return roots;
}

/** Preimage of an inner node of `level` (1 to 40), or of an empty subtree: its two child hashes, 64 bytes. */
export function childHashes<L extends LeafOpening>(
  node: TreeNode<L> | undefined,
  level: number,
  empties: readonly Uint8Array[],
): Uint8Array {
  const empty = empties[level - 1]!;
  const both = new Uint8Array(64);
  both.set(node?.left?.hash ?? empty, 0);
  both.set(node?.right?.hash ?? empty, 32);
  return both;
}
