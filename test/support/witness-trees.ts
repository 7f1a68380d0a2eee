import { hashWord } from '../../src/accumulator/keys.js';
import type { ProofItemJson } from '../../src/accumulator/proof-shape.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { bigIntToBytes, concatBytes } from '../../src/primitives/bytes.js';
import type { BranchProof } from '../../src/state/trace.js';
import { referenceHasher } from '../reference/hasher.js';
import { commitDrafts, emptyTree, type Tree, TreeDraft } from './plain-tree/tree.js';
import { proveKey } from './plain-tree/tree-proof.js';

export const poseidon = referenceHasher('poseidon2');
/** 32 bytes, big-endian. */
export const word = (value: number) => bigIntToBytes(BigInt(value), 32);
/** Key of a leaf. */
export const hkeyOf = (hasher: Hasher, key: number) => hashWord(hasher, word(key));
/** What a tree holds of a key and its value. */
export const content = (hasher: Hasher, key: number, value: number) => ({
  hkey: hkeyOf(hasher, key),
  hval: hashWord(hasher, word(value)),
  value: word(value),
});

/** The tree with a change committed to it. */
export function changed(hasher: Hasher, tree: Tree, change: (draft: TreeDraft) => void): Tree {
  const draft = new TreeDraft(tree);
  change(draft);
  return commitDrafts(hasher, [draft])[0]!;
}

/** A full tree with keys 0 to `count - 1`, holding `100 + key`. */
export function fullTree(hasher: Hasher, count: number): Tree {
  return changed(hasher, emptyTree(hasher), (draft) => {
    for (let key = 0; key < count; key++) draft.put(content(hasher, key, 100 + key));
  });
}

/** What the full tree proves of a key, put on top of each other. */
export function itemsOf(hasher: Hasher, tree: Tree, keys: readonly number[]): ProofItemJson[] {
  return keys.map((key) => proveKey(hasher, tree, hkeyOf(hasher, key), word(key)));
}

/** Sub root over a branch, by the definition. */
export function folded(hasher: Hasher, leafHash: Uint8Array, { leafIndex, siblings }: BranchProof): Uint8Array {
  return siblings.reduce((hash, sibling, level) => {
    const right = (BigInt(leafIndex) >> BigInt(level)) & 1n;
    return hasher.hash(right ? concatBytes(sibling, hash) : concatBytes(hash, sibling));
  }, leafHash);
}

/** What a call throws, if anything. */
export const error = (run: () => unknown) => {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};
