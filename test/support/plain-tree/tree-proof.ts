import { emptyHashes } from '../../../src/accumulator/empty-subtrees.js';
import { encodeLeaf, encodeTop } from '../../../src/accumulator/leaf-opening.js';
import type { MerkleProofJson, ProofItemJson } from '../../../src/accumulator/proof-shape.js';
import { TREE_DEPTH, ZERO_HASH } from '../../../src/accumulator/scheme.js';
import type { Hasher } from '../../../src/kernel/contracts.js';
import { bytesToHex, type Hex } from '../../../src/primitives/hex.js';
import { findInTree, type Leaf, type PlacedLeaf, type Tree } from './tree.js';
import { childHashes, type TreeNode, turnsRight } from './tree-nodes.js';

/**
 * The 42 preimages of one branch, top to bottom: top node, the siblings of levels 39 to 0, the leaf itself.
 *
 * @source docs/spec/state-trie.md 7.3
 */
function branchPreimages(hasher: Hasher, tree: Tree, { position, leaf }: PlacedLeaf): Hex[] {
  const { scheme } = hasher;
  const empties = emptyHashes(hasher);
  const preimages = [encodeTop(scheme, tree.nextFreeNode, tree.subRoot)];
  let node: TreeNode<Leaf> | undefined = tree.root;
  for (let level = TREE_DEPTH; level > 0; level--) {
    const right = turnsRight(position, level);
    const sibling: TreeNode<Leaf> | undefined = right ? node?.left : node?.right;
    if (level > 1) preimages.push(childHashes(sibling, level - 1, empties));
    else preimages.push(sibling?.leaf === undefined ? ZERO_HASH : encodeLeaf(scheme, sibling.leaf));
    node = right ? node?.right : node?.left;
  }
  preimages.push(encodeLeaf(scheme, leaf));
  return preimages.map(bytesToHex);
}

/**
 * Proof that a key is in the tree with its value, or that it is not.
 *
 * @param hkey - hash of the key, 32 bytes
 * @param key - the key as the answer repeats it: address of 20 bytes, or slot of 32
 * @returns the wire form, against `tree.topRoot`
 */
export function proveKey(hasher: Hasher, tree: Tree, hkey: Uint8Array, key: Uint8Array): ProofItemJson {
  const prove = (at: PlacedLeaf): MerkleProofJson => ({
    value: bytesToHex(at.leaf.value),
    proofRelatedNodes: branchPreimages(hasher, tree, at),
  });
  const found = findInTree(tree, hkey);
  if (found.present) return { key: bytesToHex(key), leafIndex: found.at.position, proof: prove(found.at) };
  const { left, right } = found;
  return {
    key: bytesToHex(key),
    leftLeafIndex: left.position,
    rightLeafIndex: right.position,
    leftProof: prove(left),
    rightProof: prove(right),
  };
}
