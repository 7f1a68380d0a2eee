import { HEAD_POSITION, schemeFormat, TAIL_POSITION, ZERO_HASH } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { compareBytes, equalBytes, isZeroBytes } from '../../primitives/bytes.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import { TreeVerifier, type VerifiedLeaf } from './branch.js';
import { type AbsentItem, type BranchAnswer, type ItemAnswer, type PresentItem, readItem } from './linea-answer.js';
import { orNotCanonical } from './strict-hash.js';

/** Why an answer of `linea_getProof` is refused. */
export type LineaProofFailureReason =
  /** The top node does not hash to the trusted root. */
  | 'ROOT_MISMATCH'
  /** Leaf and siblings do not lead to the sub root. */
  | 'PATH_MISMATCH'
  /** The item or its leaf is of another key. */
  | 'KEY_MISMATCH'
  /** The value is not the one that the leaf commits to. */
  | 'VALUE_MISMATCH'
  /** A word is at or above the modulus of the hash. */
  | 'NOT_CANONICAL'
  /** A leaf position, a link or `nextFreeNode` is outside the tree. */
  | 'INDEX_OUT_OF_RANGE'
  /** The two neighbours of an absent key do not link to each other. */
  | 'LINK_BROKEN'
  /** The key is not strictly between its two neighbours. */
  | 'LEAF_ORDER_BROKEN'
  /** A neighbour at the edge of the tree does not have the form of head or tail. */
  | 'EDGE_LEAF_BROKEN'
  /** A slot with value zero is in the tree, which never stores such slots. */
  | 'ZERO_SLOT_STORED'
  /** The number of storage proofs differs from the number of requested slots. */
  | 'SLOT_COUNT_MISMATCH';

/** The position of a key in its tree, or the leaves between which it would be. */
export type LeafPlace =
  | { readonly exists: true; readonly leafIndex: number }
  | { readonly exists: false; readonly leftLeafIndex: number; readonly rightLeafIndex: number };

/** The requested key, and how keys and values of this tree are hashed. */
export interface TreeQuestion {
  /** The key as a number, as in the item. */
  readonly key: bigint;
  /** Hash of the key, 32 bytes, computed by the caller. */
  readonly hkey: Uint8Array;
  /** `hval` of a value. @throws PlumblineError `HASH_INPUT_NOT_CANONICAL` */
  hashValue(value: Uint8Array): Uint8Array;
  /** Length of a value in bytes. */
  readonly valueBytes: number;
  /** Whether values of zero are never stored. */
  readonly zeroIsAbsent: boolean;
}

/** What one item proves. */
export interface VerifiedItem {
  readonly verified: true;
  readonly place: LeafPlace;
  /** The value; undefined if the key is not in the tree. */
  readonly value: Uint8Array | undefined;
  readonly nextFreeNode: number;
}

/** Checks one item. Throws a `Refusal`. */
export function checkItem(hasher: Hasher, tree: TreeVerifier, asked: TreeQuestion, item: ItemAnswer): VerifiedItem {
  if (item.key !== asked.key) {
    throw new Refusal(
      'KEY_MISMATCH',
      `${item.at}.key`,
      `is 0x${item.key.toString(16)}, requested was 0x${asked.key.toString(16)}`,
    );
  }
  return item.present ? checkPresent(tree, asked, item) : checkAbsent(hasher, tree, asked, item);
}

function checkPresent(tree: TreeVerifier, asked: TreeQuestion, item: PresentItem): VerifiedItem {
  const { leafIndex, proof } = item;
  const { leaf, nextFreeNode } = tree.verify(leafIndex, `${item.at}.leafIndex`, proof);
  if (!equalBytes(leaf.hkey, asked.hkey)) {
    throw new Refusal('KEY_MISMATCH', `${proof.at}.proofRelatedNodes[41]`, 'the leaf belongs to another key');
  }
  if (leafIndex <= TAIL_POSITION) {
    throw new Refusal('INDEX_OUT_OF_RANGE', `${item.at}.leafIndex`, 'positions 0 and 1 are head and tail');
  }
  checkValue(asked, proof, leaf.hval);
  if (asked.zeroIsAbsent && isZeroBytes(proof.value)) {
    throw new Refusal('ZERO_SLOT_STORED', `${proof.at}.value`, 'a slot of value zero is not in the tree');
  }
  return { verified: true, place: { exists: true, leafIndex }, value: proof.value, nextFreeNode };
}

function checkAbsent(hasher: Hasher, tree: TreeVerifier, asked: TreeQuestion, item: AbsentItem): VerifiedItem {
  const { leftLeafIndex, rightLeafIndex, leftProof, rightProof } = item;
  const left = tree.verify(leftLeafIndex, `${item.at}.leftLeafIndex`, leftProof);
  const right = tree.verify(rightLeafIndex, `${item.at}.rightLeafIndex`, rightProof);
  // Both hash to the same root, so they must be equal. Compared all the same, as in the specification.
  if (!equalBytes(leftProof.nodes[0]!, rightProof.nodes[0]!)) {
    throw new Refusal(
      'ROOT_MISMATCH',
      `${rightProof.at}.proofRelatedNodes[0]`,
      'differs from that of the left neighbour',
    );
  }
  if (left.leaf.nextLeaf !== rightLeafIndex) {
    throw new Refusal('LINK_BROKEN', `${leftProof.at}.proofRelatedNodes[41]`, 'next is not the right neighbour');
  }
  if (right.leaf.prevLeaf !== leftLeafIndex) {
    throw new Refusal('LINK_BROKEN', `${rightProof.at}.proofRelatedNodes[41]`, 'prev is not the left neighbour');
  }
  if (compareBytes(left.leaf.hkey, asked.hkey) >= 0) {
    throw new Refusal(
      'LEAF_ORDER_BROKEN',
      `${leftProof.at}.proofRelatedNodes[41]`,
      'hkey is not below that of the key',
    );
  }
  if (compareBytes(asked.hkey, right.leaf.hkey) >= 0) {
    throw new Refusal(
      'LEAF_ORDER_BROKEN',
      `${rightProof.at}.proofRelatedNodes[41]`,
      'hkey is not above that of the key',
    );
  }
  checkNeighbour(asked, leftProof, left, HEAD_POSITION, ZERO_HASH, left.leaf.prevLeaf);
  checkNeighbour(asked, rightProof, right, TAIL_POSITION, schemeFormat(hasher.scheme).tailKey, right.leaf.nextLeaf);
  const { nextFreeNode } = left;
  return { verified: true, place: { exists: false, leftLeafIndex, rightLeafIndex }, value: undefined, nextFreeNode };
}

/** A neighbour is an ordinary leaf with its value, or head or tail in their fixed form. */
function checkNeighbour(
  asked: TreeQuestion,
  proof: BranchAnswer,
  { index, leaf }: VerifiedLeaf,
  edge: number,
  edgeKey: Uint8Array,
  outwardLink: number,
): void {
  if (index > TAIL_POSITION) {
    if (equalBytes(leaf.hkey, edgeKey)) {
      throw new Refusal(
        'EDGE_LEAF_BROKEN',
        `${proof.at}.proofRelatedNodes[41]`,
        'the key of head or tail at another position',
      );
    }
    checkValue(asked, proof, leaf.hval);
    return;
  }
  if (index !== edge || outwardLink !== edge || !equalBytes(leaf.hkey, edgeKey) || !isZeroBytes(leaf.hval)) {
    throw new Refusal('EDGE_LEAF_BROKEN', `${proof.at}.proofRelatedNodes[41]`, 'not the form of head or tail');
  }
  if (proof.value.length !== 32 || !isZeroBytes(proof.value)) {
    throw new Refusal('VALUE_MISMATCH', `${proof.at}.value`, 'the value of head and tail is 32 zero bytes');
  }
}

function checkValue(asked: TreeQuestion, proof: BranchAnswer, hval: Uint8Array): void {
  const { value } = proof;
  const at = `${proof.at}.value`;
  if (value.length !== asked.valueBytes) {
    throw new Refusal('VALUE_MISMATCH', at, `has ${value.length} bytes, a value of this tree has ${asked.valueBytes}`);
  }
  if (
    !equalBytes(
      orNotCanonical(() => asked.hashValue(value), at),
      hval,
    )
  ) {
    throw new Refusal('VALUE_MISMATCH', at, 'does not hash to the hval of the leaf');
  }
}

/**
 * Verifies one item by itself, for trees whose keys and values are hashed in another way than accounts and slots.
 *
 * @param root - top root of the tree, 32 bytes
 * @param json - an item as in `accountProof` and `storageProofs`
 * @throws PlumblineError `PROOF_MALFORMED`
 * @source docs/spec/state-trie.md 8
 */
export function verifyTreeItem(
  hasher: Hasher,
  root: Uint8Array,
  asked: TreeQuestion,
  json: unknown,
): VerifiedItem | ProofFailure<LineaProofFailureReason> {
  const item = readItem(hasher, json, 'item', asked.valueBytes);
  return judge(() => checkItem(hasher, new TreeVerifier(hasher, root), asked, item));
}
