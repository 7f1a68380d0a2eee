import { emptyHashes } from '../../../src/accumulator/empty-subtrees.js';
import { encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../../src/accumulator/leaf-opening.js';
import { FIRST_FREE_NODE, MAX_LEAVES, schemeFormat, TREE_DEPTH, ZERO_HASH } from '../../../src/accumulator/scheme.js';
import { PlumblineError } from '../../../src/errors.js';
import type { Hasher } from '../../../src/kernel/contracts.js';
import { equalBytes } from '../../../src/primitives/bytes.js';
import { floorEntry, type KeyIndex, withKey, withoutKey } from '../../../src/state/witness-trie.js';
import { type LeafWrite, leafAt, rewriteTrees, type TreeNode } from './tree-nodes.js';

/** A leaf with what stands behind its hashes. */
export interface Leaf extends LeafOpening {
  /** Account: the compact form, 192 bytes; slot: 32 bytes; head and tail: 32 zero bytes. */
  readonly value: Uint8Array;
  /** Account with storage: its storage tree. Storage belongs to the leaf position, so it lives and goes with the leaf. */
  readonly storage?: Tree | undefined;
  /**
   * The next slot written starts from an empty tree although `storage` is another one: the account was destroyed and
   * recreated without a slot being touched, and kept its old storage root (docs/spec/state-trie.md 5.3, below the table).
   */
  readonly storageRestarts?: boolean;
}

/** A leaf with its position. */
export interface PlacedLeaf {
  readonly position: number;
  readonly leaf: Leaf;
}

/** Where a key is, or the two leaves between which it is not. */
export type Found =
  | { readonly present: true; readonly at: PlacedLeaf }
  | { readonly present: false; readonly left: PlacedLeaf; readonly right: PlacedLeaf };

/** What an operation did to the tree, and the leaf position concerned. */
export interface Effect {
  readonly effect: 'insert' | 'update' | 'remove' | 'none';
  readonly leafIndex?: number;
}

/**
 * One depth-40 tree with its linked list of leaves (docs/spec/state-trie.md 2 to 4), as it is at one moment: it never
 * changes. A `TreeDraft` makes the next one, which shares all that stays the same.
 */
export interface Tree {
  readonly root: TreeNode<Leaf> | undefined;
  readonly index: KeyIndex;
  readonly nextFreeNode: number;
  /** 32 bytes. */
  readonly subRoot: Uint8Array;
  /** 32 bytes; the root by which the outside knows the tree. */
  readonly topRoot: Uint8Array;
}

/** A tree that holds head and tail only. */
export function emptyTree(hasher: Hasher): Tree {
  const leaves = [headLeaf(), tailLeaf(hasher.scheme)].map((leaf) => ({ ...leaf, value: ZERO_HASH }));
  let index: KeyIndex | undefined;
  for (const [position, { hkey }] of leaves.entries()) index = withKey(index, { hkey, position });
  return finish(hasher, [
    { root: undefined, writes: [...leaves.entries()], index: index!, nextFreeNode: FIRST_FREE_NODE },
  ])[0]!;
}

/** @param hkey - 32 bytes, above zero and below the tail's key, as every digest of a key is */
function findLeaf(tree: Pick<Tree, 'index'>, hkey: Uint8Array, leafOf: (position: number) => Leaf): Found {
  const floor = floorEntry(tree.index, hkey)!;
  const leaf = leafOf(floor.position);
  const at = { position: floor.position, leaf };
  if (equalBytes(floor.hkey, hkey)) return { present: true, at };
  return { present: false, left: at, right: { position: leaf.nextLeaf, leaf: leafOf(leaf.nextLeaf) } };
}

/** `findLeaf` in a committed tree. */
export function findInTree(tree: Tree, hkey: Uint8Array): Found {
  return findLeaf(tree, hkey, (position) => leafAt(tree.root, position)!);
}

/** Changes to one tree, gathered without hashing. The tree it starts from stays as it is. */
export class TreeDraft {
  readonly base: Tree;
  index: KeyIndex;
  nextFreeNode: number;
  readonly writes = new Map<number, Leaf | undefined>();

  constructor(base: Tree) {
    this.base = base;
    this.index = base.index;
    this.nextFreeNode = base.nextFreeNode;
  }

  private leafOf = (position: number): Leaf => {
    return this.writes.get(position) ?? leafAt(this.base.root, position)!;
  };

  find(hkey: Uint8Array): Found {
    return findLeaf(this, hkey, this.leafOf);
  }

  /**
   * Inserts or updates a key (docs/spec/state-trie.md 4).
   *
   * @param content - `hkey` and `hval` of 32 bytes, the value behind `hval`, and an account's storage
   */
  put(content: Omit<Leaf, 'prevLeaf' | 'nextLeaf'>): Effect {
    const found = this.find(content.hkey);
    if (found.present) {
      const { position, leaf } = found.at;
      this.writes.set(position, { ...content, prevLeaf: leaf.prevLeaf, nextLeaf: leaf.nextLeaf });
      return { effect: 'update', leafIndex: position };
    }
    const position = this.nextFreeNode;
    if (position >= MAX_LEAVES) {
      const value = String(position);
      throw new PlumblineError('OUT_OF_RANGE', 'the tree is full', { what: 'leaf position', value, limit: '2^40 - 1' });
    }
    const { left, right } = found;
    this.writes.set(left.position, { ...left.leaf, nextLeaf: position });
    this.writes.set(position, { ...content, prevLeaf: left.position, nextLeaf: right.position });
    this.writes.set(right.position, { ...right.leaf, prevLeaf: position });
    this.index = withKey(this.index, { hkey: content.hkey, position });
    this.nextFreeNode = position + 1;
    return { effect: 'insert', leafIndex: position };
  }

  /** Removes a key, if it is there (docs/spec/state-trie.md 4). Its position stays unused for good. */
  remove(hkey: Uint8Array): Effect {
    const found = this.find(hkey);
    if (!found.present) return { effect: 'none' };
    const { position, leaf } = found.at;
    this.writes.set(leaf.prevLeaf, { ...this.leafOf(leaf.prevLeaf), nextLeaf: leaf.nextLeaf });
    this.writes.set(position, undefined);
    this.writes.set(leaf.nextLeaf, { ...this.leafOf(leaf.nextLeaf), prevLeaf: leaf.prevLeaf });
    this.index = withoutKey(this.index, hkey)!;
    return { effect: 'remove', leafIndex: position };
  }
}

/** The trees that drafts lead to, in order. Committing many at once is faster than one by one. */
export function commitDrafts(hasher: Hasher, drafts: readonly TreeDraft[]): Tree[] {
  const changed = drafts.filter((draft) => draft.writes.size > 0);
  const trees = finish(
    hasher,
    changed.map(({ base, writes, index, nextFreeNode }) => ({
      root: base.root,
      writes: [...writes],
      index,
      nextFreeNode,
    })),
  );
  const results = new Map(changed.map((draft, i) => [draft, trees[i]!]));
  return drafts.map((draft) => results.get(draft) ?? draft.base);
}

interface Unfinished {
  readonly root: TreeNode<Leaf> | undefined;
  readonly writes: readonly LeafWrite<Leaf>[];
  readonly index: KeyIndex;
  readonly nextFreeNode: number;
}

function finish(hasher: Hasher, trees: readonly Unfinished[]): Tree[] {
  if (trees.length === 0) return [];
  const empties = emptyHashes(hasher);
  const roots = rewriteTrees(hasher, empties, trees);
  const { topBytes } = schemeFormat(hasher.scheme);
  const subRoots = roots.map((root) => root?.hash ?? empties[TREE_DEPTH]!);
  const tops = new Uint8Array(trees.length * topBytes);
  for (const [i, { nextFreeNode }] of trees.entries()) {
    tops.set(encodeTop(hasher.scheme, nextFreeNode, subRoots[i]!), i * topBytes);
  }
  const topRoots = hasher.hashMany(tops, topBytes);
  return trees.map(({ index, nextFreeNode }, i) => {
    const topRoot = topRoots.slice(32 * i, 32 * i + 32);
    return { root: roots[i], index, nextFreeNode, subRoot: subRoots[i]!, topRoot };
  });
}
