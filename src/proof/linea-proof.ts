/**
 * The verdict on an answer of `linea_getProof` (docs/spec/state-trie.md 7 and 8).
 *
 * An item proves one key: it is in the trie with a value, or two neighbouring leaves leave no room for it. Each leaf comes with a branch
 * of 42 nodes, from the top down to the leaf. Everything is hashed strictly: a word that is not canonical is refused, or two answers
 * could prove different values. Branches of one trie share most of their nodes, so paths that are known are hashed once.
 */

import { ACCOUNT_VALUE_BYTES, type AccountValue, decodeAccountValue } from '../accumulator/account-value.js';
import { emptySiblings } from '../accumulator/empty-subtrees.js';
import { hashAccountValue, hashAddress, hashWord } from '../accumulator/keys.js';
import { decodeIndex, decodeLeaf, type LeafOpening } from '../accumulator/leaf-opening.js';
import { PROOF_NODES } from '../accumulator/proof-shape.js';
import {
  HEAD_POSITION,
  MAX_LEAVES,
  schemeFormat,
  TAIL_POSITION,
  TREE_DEPTH,
  ZERO_HASH,
} from '../accumulator/scheme.js';
import { isPlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import {
  bytesToBigInt,
  compareBytes,
  concatBytes,
  copyBytes,
  equalBytes,
  isZeroBytes,
  joinBytes,
} from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import {
  malformed,
  member,
  readArray,
  readBytes,
  readExactObject,
  readInteger,
  readNumber256,
  readObject,
} from './json-reader.js';
import { checkRequest, judge, type ProofFailure, type ProofRequest, Refusal } from './verdict.js';

/** One requested slot. */
export interface VerifiedSlot {
  /** 32 bytes, as in the request. */
  readonly key: Uint8Array;
  /** 32 bytes; zero if the slot is not in the tree. */
  readonly value: Uint8Array;
  readonly exists: boolean;
  /** Undefined if the account is missing or its storage is empty. */
  readonly place: LeafPlace | undefined;
}

/** What a `linea_getProof` answer proves. */
export interface VerifiedLineaProof {
  readonly verified: true;
  /** Undefined: no such account in this state. */
  readonly account: AccountValue | undefined;
  readonly place: LeafPlace;
  /** Of the account tree. */
  readonly nextFreeNode: number;
  /** One per requested key, in the order of the request. */
  readonly slots: readonly VerifiedSlot[];
}

/** What a `linea_getProof` answer proves, or why it is refused. */
export type LineaProofVerdict = VerifiedLineaProof | ProofFailure<LineaProofFailureReason>;

/**
 * Verifies an answer of `linea_getProof` against a trusted state root, with all required and optional checks of the
 * specification.
 *
 * @param hasher - of the hash scheme that the network uses at this block. Do not let the server choose the scheme
 * @param answer - the `result` of the JSON-RPC response, as parsed
 * @returns what is proved, or why the answer is refused
 * @throws PlumblineError `PROOF_MALFORMED` if the answer does not have the form of a proof, `INVALID_LENGTH` for a bad request
 * @source docs/spec/state-trie.md 7.3, 8
 *
 * @example
 * ```ts
 * import { bytesToHex, hexToBytes, loadHasher, openState, verifyLineaProof } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const account = { nonce: 65n, balance: 835n };
 * const stateRoot = state.applyBlock(0, [{ address, after: account, destroyed: false, slots: [] }]);
 *
 * // The result of `linea_getProof`, and its check against a root that you trust.
 * const answer = state.prove(0, address, []);
 * const verdict = verifyLineaProof(await loadHasher('poseidon2'), { address, storageKeys: [], stateRoot }, answer);
 * verdict.verified && verdict.account?.balance; // => 835n
 * bytesToHex(stateRoot); // => '0x6b5d2e111a55e55826396df03ac3d0055dc4a88671edbcc8274db3f0117e0f97'
 * ```
 */
export function verifyLineaProof(hasher: Hasher, request: ProofRequest, answer: unknown): LineaProofVerdict {
  checkRequest(request);
  const { accountProof, storageProofs } = readLineaAnswer(hasher, answer);
  return judge(() => {
    const begins = [accountProof, ...storageProofs.slice(0, 1)].flatMap((begin) =>
      begin === null ? [] : firstBranch(begin),
    );
    const ahead = climbAhead(hasher, begins);
    const tree = new TreeVerifier(hasher, request.stateRoot, ahead);
    const item = checkItem(hasher, tree, accountQuestion(hasher, request.address), accountProof);
    const account = item.value && decodeAccountValue(item.value);
    const slots = checkSlots(hasher, request.storageKeys, account, storageProofs, ahead);
    return { verified: true, account, place: item.place, nextFreeNode: item.nextFreeNode, slots };
  });
}

function checkSlots(
  hasher: Hasher,
  keys: readonly Uint8Array[],
  account: AccountValue | undefined,
  proofs: LineaAnswer['storageProofs'],
  ahead: ClimbedPaths,
): VerifiedSlot[] {
  const hasNoStorage = account === undefined || equalBytes(account.storageRoot, schemeFormat(hasher.scheme).emptyRoot);
  if (hasNoStorage && proofs.length === 0) {
    return keys.map((key) => ({ key: copyBytes(key), value: ZERO_HASH.slice(), exists: false, place: undefined }));
  }
  const expected = account === undefined ? 0 : keys.length;
  if (proofs.length !== expected) {
    const message = `${proofs.length} storage proofs, expected ${expected}`;
    throw new Refusal('SLOT_COUNT_MISMATCH', 'storageProofs', message);
  }
  const tree = new TreeVerifier(hasher, account!.storageRoot, ahead);
  return keys.map((key, i) => {
    const proof = proofs[i]!;
    if (proof === null) {
      if (hasNoStorage) return { key: copyBytes(key), value: ZERO_HASH.slice(), exists: false, place: undefined };
      throw malformed(`storageProofs[${i}]`, 'is null, but the account has storage');
    }
    const { place, value } = checkItem(hasher, tree, slotQuestion(hasher, key), proof);
    return { key: copyBytes(key), value: value ?? ZERO_HASH.slice(), exists: place.exists, place };
  });
}

/** The branch that is checked first. */
function firstBranch(item: ItemAnswer): PlacedBranch {
  return item.present
    ? { index: item.leafIndex, branch: item.proof }
    : { index: item.leftLeafIndex, branch: item.leftProof };
}

function accountQuestion(hasher: Hasher, address: Uint8Array): TreeQuestion {
  return {
    key: bytesToBigInt(address),
    hkey: hashAddress(hasher, address),
    hashValue: (value) => hashAccountValue(hasher, value),
    valueBytes: ACCOUNT_VALUE_BYTES,
    zeroIsAbsent: false,
  };
}

function slotQuestion(hasher: Hasher, key: Uint8Array): TreeQuestion {
  return {
    key: bytesToBigInt(key),
    hkey: hashWord(hasher, key),
    hashValue: (value) => hashWord(hasher, value),
    valueBytes: 32,
    zeroIsAbsent: true,
  };
}

/** Why an answer of `linea_getProof` is refused. */
export type LineaProofFailureReason =
  /** The top node does not hash to the trusted root. */
  | 'ROOT_MISMATCH'
  /** Leaf and siblings do not lead to the sub root. */
  | 'PATH_MISMATCH'
  /** The item or its leaf belongs to another key. */
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
function checkItem(hasher: Hasher, tree: TreeVerifier, asked: TreeQuestion, item: ItemAnswer): VerifiedItem {
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
 *
 * @example
 * ```ts
 * import { hashAccountValue, hashAddress } from 'plumbline-l2/hash';
 * import { hexToBytes, loadHasher, openState } from 'plumbline-l2/state';
 * import { verifyTreeItem } from 'plumbline-l2/verify';
 *
 * const hasher = await loadHasher('poseidon2');
 * const state = await openState({ scheme: 'poseidon2' });
 * const text = '0x2400000000000000000000000000000000000000';
 * const address = hexToBytes(text);
 * const account = { nonce: 1n, balance: 5n };
 * const root = state.applyBlock(0, [{ address, after: account, destroyed: false, slots: [] }]);
 * const hashValue = (value: Uint8Array) => hashAccountValue(hasher, value);
 * const hkey = hashAddress(hasher, address);
 * const asked = { key: BigInt(text), hkey, hashValue, valueBytes: 192, zeroIsAbsent: false };
 * const { accountProof } = state.prove(0, address, []);
 * verifyTreeItem(hasher, root, asked, accountProof).verified; // => true
 * ```
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

/** A leaf that was proved to be in the tree. */
interface VerifiedLeaf {
  readonly index: number;
  readonly leaf: LeafOpening;
  readonly nextFreeNode: number;
}

/** A branch that was verified. */
interface KnownBranch {
  readonly index: number;
  readonly nodes: readonly Uint8Array[];
  /** Node hashes on its path, 32 bytes each, from level 1 to level 40. */
  readonly path: Uint8Array;
  readonly nextFreeNode: number;
}

/**
 * Checks branches against the top root of one tree (docs/spec/state-trie.md 8, "branch check").
 *
 * Two things are compared, not hashed. Sibling preimages of two empty subtrees are compared with the known ones. And if a
 * branch joins the path of the previous one, its upper nodes are compared with those: neighbours of an absent key and slots of one
 * account share most of their upper nodes.
 */
class TreeVerifier {
  readonly #hasher: Hasher;
  readonly #root: Uint8Array;
  readonly #ahead: ClimbedPaths | undefined;
  #previous: KnownBranch | undefined;

  /**
   * @param root - top root, 32 bytes
   * @param ahead - paths of branches that were computed before
   */
  constructor(hasher: Hasher, root: Uint8Array, ahead?: ClimbedPaths) {
    this.#hasher = hasher;
    this.#root = root;
    this.#ahead = ahead;
  }

  /** Verifies the leaf at `index`. Throws a `Refusal` if the branch does not lead from it to the root. */
  verify(index: number, indexAt: string, branch: BranchAnswer): VerifiedLeaf {
    if (index < 0 || index >= MAX_LEAVES) {
      throw new Refusal('INDEX_OUT_OF_RANGE', indexAt, `leaf index ${index} is not below 2^40`);
    }
    const { nodes } = branch;
    const at = (entry: number) => `${branch.at}.proofRelatedNodes[${entry}]`;
    const nextFreeNode = this.#top(nodes[0]!, at(0));
    const leaf = this.#leaf(nodes[41]!, at(41), nextFreeNode);
    if (nodes[40]!.length !== ZERO_HASH.length) this.#leaf(nodes[40]!, at(40), nextFreeNode);

    const joinLevel = this.#joinLevel(index, nodes);
    const ahead = this.#ahead?.get(branch);
    const climbed =
      ahead?.index === index ? ahead.path : climbBranches(this.#hasher, [{ index, branch }], joinLevel)[0]!;
    const known = joinLevel === TREE_DEPTH ? undefined : this.#previous!.path;
    const expected = known === undefined ? nodes[0]!.subarray(-HASH_BYTES) : nodeHash(known, joinLevel);
    if (!equalBytes(nodeHash(climbed, joinLevel), expected)) {
      throw new Refusal(
        'PATH_MISMATCH',
        `${branch.at}.proofRelatedNodes`,
        'leaf and siblings do not lead to the sub root',
      );
    }
    if (index >= nextFreeNode) {
      throw new Refusal('INDEX_OUT_OF_RANGE', indexAt, `leaf index ${index} is not below nextFreeNode ${nextFreeNode}`);
    }
    const path =
      climbed.length === TREE_DEPTH * HASH_BYTES
        ? climbed
        : concatBytes(climbed, known!.subarray(joinLevel * HASH_BYTES));
    this.#previous = { index, nodes, path, nextFreeNode };
    return { index, leaf, nextFreeNode };
  }

  /** `nextFreeNode` in the top node. The hash of the top node must be the root. */
  #top(node: Uint8Array, at: string): number {
    const known = this.#previous;
    if (known !== undefined && equalBytes(known.nodes[0]!, node)) return known.nextFreeNode;
    const root = strictHash(this.#hasher, node, at);
    if (!equalBytes(root, this.#root)) {
      throw new Refusal('ROOT_MISMATCH', at, `hashes to ${bytesToHex(root)}, the root is ${bytesToHex(this.#root)}`);
    }
    const { scheme } = this.#hasher;
    const nextFreeNode = decodeIndex(scheme, node.subarray(0, schemeFormat(scheme).indexBytes));
    if (nextFreeNode === undefined || nextFreeNode > MAX_LEAVES) {
      throw new Refusal('INDEX_OUT_OF_RANGE', at, 'nextFreeNode is not a position up to 2^40');
    }
    return nextFreeNode;
  }

  #leaf(opening: Uint8Array, at: string, nextFreeNode: number): LeafOpening {
    const leaf = decodeLeaf(this.#hasher.scheme, opening);
    if (leaf === undefined || leaf.prevLeaf >= nextFreeNode || leaf.nextLeaf >= nextFreeNode) {
      throw new Refusal('INDEX_OUT_OF_RANGE', at, 'a neighbour of the leaf is not a position below nextFreeNode');
    }
    return leaf;
  }

  /** Level from which on this branch equals the previous one; 40 if it does not, or there is no previous one. */
  #joinLevel(index: number, nodes: readonly Uint8Array[]): number {
    const known = this.#previous;
    if (known === undefined) return TREE_DEPTH;
    // At least level 1, so that the leaf itself is always hashed and compared.
    let level = 1;
    for (let [a, b] = [Math.floor(index / 2), Math.floor(known.index / 2)]; a !== b; level++)
      [a, b] = [Math.floor(a / 2), Math.floor(b / 2)];
    for (let entry = 0; entry <= entryAt(level); entry++) {
      if (!equalBytes(nodes[entry]!, known.nodes[entry]!)) return TREE_DEPTH;
    }
    return level;
  }
}

/** The `n`-th hash of a path, counted from 1: the node at level `n`. */
function nodeHash(hashes: Uint8Array, n: number): Uint8Array {
  return hashes.subarray((n - 1) * HASH_BYTES, n * HASH_BYTES);
}

/** Bytes of a digest. */
const HASH_BYTES = 32;
const NODE_BYTES = 64;

/** Entry of `proofRelatedNodes` that describes the sibling at a level. */
const entryAt = (level: number): number => TREE_DEPTH - level;

/** A branch, and its claimed leaf position. */
interface PlacedBranch {
  readonly index: number;
  readonly branch: BranchAnswer;
}

/**
 * Node hashes of branches above their leaves, 32 bytes each, from level 1 to `levels`. Several branches at once are faster,
 * because their hashes share SIMD lanes. Sibling preimages of empty subtrees are looked up, not hashed.
 *
 * Throws a `Refusal` for a word that is not canonical.
 *
 * @param levels - 1 to 40
 */
function climbBranches(hasher: Hasher, branches: readonly PlacedBranch[], levels: number): Uint8Array[] {
  const { leafBytes } = schemeFormat(hasher.scheme);
  const empty = emptySiblings(hasher);
  const openings = new HashBatch(leafBytes);
  const preimages = new HashBatch(NODE_BYTES);
  const leaves = new Uint8Array(branches.length * HASH_BYTES);
  const height = levels * HASH_BYTES;
  const siblings = new Uint8Array(branches.length * height);
  for (const [i, { branch }] of branches.entries()) {
    const { nodes } = branch;
    siblings.set(empty.hashes.subarray(0, height), i * height);
    openings.add(branch, 41, leaves, i * HASH_BYTES);
    if (nodes[40]!.length === leafBytes) openings.add(branch, 40, siblings, i * height);
    for (let level = 1; level < levels; level++) {
      if (isSame(nodes[entryAt(level)]!, empty.preimages[level - 1]!.bytes)) continue;
      preimages.add(branch, entryAt(level), siblings, i * height + level * HASH_BYTES);
    }
  }
  openings.hash(hasher);
  preimages.hash(hasher);
  const paths = hasher.climb(
    leaves,
    branches.map(({ index }) => index),
    siblings,
  );
  return branches.map((_, i) => paths.subarray(i * height, (i + 1) * height));
}

/** Paths from leaf to sub root that were computed together, before the branches are checked one by one. */
type ClimbedPaths = ReadonlyMap<BranchAnswer, { readonly index: number; readonly path: Uint8Array }>;

/**
 * Computes the paths of several branches together. If one of them is irregular, it returns none: the check of that branch then
 * reports the failure.
 */
function climbAhead(hasher: Hasher, branches: readonly PlacedBranch[]): ClimbedPaths {
  if (branches.length < 2 || branches.some(({ index }) => index < 0 || index >= MAX_LEAVES)) return new Map();
  try {
    const paths = climbBranches(hasher, branches, TREE_DEPTH);
    return new Map(branches.map(({ index, branch }, i) => [branch, { index, path: paths[i]! }]));
  } catch (error) {
    if (error instanceof Refusal) return new Map();
    throw error;
  }
}

/** `readBranch` returns the known preimages themselves, so most comparisons are of references. */
function isSame(node: Uint8Array, known: Uint8Array): boolean {
  return node === known || equalBytes(node, known);
}

/** Entries of one length to hash together, with the target of each hash. */
class HashBatch {
  private readonly entries: { branch: BranchAnswer; entry: number; target: Uint8Array; offset: number }[] = [];

  constructor(private readonly length: number) {}

  add(branch: BranchAnswer, entry: number, target: Uint8Array, offset: number): void {
    this.entries.push({ branch, entry, target, offset });
  }

  /** Hashes all entries. If one is not canonical, they are hashed one by one to find it. */
  hash(hasher: Hasher): void {
    const { entries, length } = this;
    if (entries.length === 0) return;
    let digests: Uint8Array;
    try {
      digests = hasher.hashMany(joinBytes(entries.map(({ branch, entry }) => branch.nodes[entry]!)), length);
    } catch (error) {
      if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
      for (const { branch, entry } of entries) {
        strictHash(hasher, branch.nodes[entry]!, `${branch.at}.proofRelatedNodes[${entry}]`);
      }
      throw error;
    }
    for (let i = 0; i < entries.length; i++) {
      const { target, offset } = entries[i]!;
      target.set(digests.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES), offset);
    }
  }
}

/** One branch, decoded, with lengths checked. `at` is its path in the answer. */
interface BranchAnswer {
  readonly at: string;
  readonly value: Uint8Array;
  /** 42 preimages, from the top node down to the leaf opening (docs/spec/state-trie.md 7.3). */
  readonly nodes: readonly Uint8Array[];
}

/** A key in the tree, with the branch of its leaf. */
interface PresentItem {
  readonly at: string;
  readonly present: true;
  readonly key: bigint;
  readonly leafIndex: number;
  readonly proof: BranchAnswer;
}

/** A key that is not in the tree, with the branches of its two neighbours. */
interface AbsentItem {
  readonly at: string;
  readonly present: false;
  readonly key: bigint;
  readonly leftLeafIndex: number;
  readonly rightLeafIndex: number;
  readonly leftProof: BranchAnswer;
  readonly rightProof: BranchAnswer;
}

/** One item of an answer. */
type ItemAnswer = PresentItem | AbsentItem;

/** A decoded `linea_getProof` answer, not verified yet. */
interface LineaAnswer {
  readonly accountProof: ItemAnswer;
  /** Null is what the state manager puts in place of a proof where the account has no storage. */
  readonly storageProofs: readonly (ItemAnswer | null)[];
}

const PRESENT_FIELDS = ['key', 'leafIndex', 'proof'];
const ABSENT_FIELDS = ['key', 'leftLeafIndex', 'rightLeafIndex', 'leftProof', 'rightProof'];
const WORD = 32;

/**
 * Reads a branch with the lengths of docs/spec/state-trie.md 7.3. Most siblings are those of two empty subtrees: their text
 * is compared with the known one and not decoded, because decoding would take most of the time.
 *
 * @param valueBytes - allowed lengths of the value
 */
function readBranch(hasher: Hasher, json: unknown, at: string, valueBytes: readonly number[]): BranchAnswer {
  const { topBytes, leafBytes } = schemeFormat(hasher.scheme);
  const object = readExactObject(json, ['value', 'proofRelatedNodes'], at);
  const value = readBytes(object.value, member(at, 'value'), ...valueBytes);
  const list = member(at, 'proofRelatedNodes');
  const entries = readArray(object.proofRelatedNodes, list);
  if (entries.length !== PROOF_NODES) throw malformed(list, `has ${entries.length} entries, expected ${PROOF_NODES}`);
  const { preimages } = emptySiblings(hasher);
  const nodes = [readBytes(entries[0], `${list}[0]`, topBytes)];
  for (let i = 1; i < TREE_DEPTH; i++) {
    const known = preimages[TREE_DEPTH - i - 1]!;
    nodes.push(entries[i] === known.hex ? known.bytes : readBytes(entries[i], `${list}[${i}]`, 2 * WORD));
  }
  const sibling = readBytes(entries[40], `${list}[40]`, WORD, leafBytes);
  if (sibling.length === WORD && !isZeroBytes(sibling)) {
    throw malformed(`${list}[40]`, 'has the length of an unused position but is not zero');
  }
  nodes.push(sibling, readBytes(entries[41], `${list}[41]`, leafBytes));
  return { at, value, nodes };
}

/**
 * Reads one item of a present or an absent key, with exactly the fields of its kind.
 *
 * @param valueBytes - length of a value in bytes; a neighbour may also be head or tail, whose value has 32 bytes
 * @throws PlumblineError `PROOF_MALFORMED`
 */
function readItem(hasher: Hasher, json: unknown, at: string, valueBytes: number): ItemAnswer {
  const present = Object.hasOwn(readObject(json, at), 'proof');
  const object = readExactObject(json, present ? PRESENT_FIELDS : ABSENT_FIELDS, at);
  const index = (name: string) => readInteger(object[name], member(at, name));
  const branch = (name: string, lengths: readonly number[]) =>
    readBranch(hasher, object[name], member(at, name), lengths);
  const key = readNumber256(object.key, member(at, 'key'));
  if (present) return { at, present, key, leafIndex: index('leafIndex'), proof: branch('proof', [valueBytes]) };
  const neighbour = valueBytes === WORD ? [WORD] : [WORD, valueBytes];
  return {
    at,
    present,
    key,
    leftLeafIndex: index('leftLeafIndex'),
    rightLeafIndex: index('rightLeafIndex'),
    leftProof: branch('leftProof', neighbour),
    rightProof: branch('rightProof', neighbour),
  };
}

/**
 * Reads a `linea_getProof` result.
 *
 * @throws PlumblineError `PROOF_MALFORMED` for wrong types, lengths or hex, and for missing or unknown fields
 */
export function readLineaAnswer(hasher: Hasher, json: unknown): LineaAnswer {
  const object = readExactObject(json, ['accountProof', 'storageProofs'], '');
  const proofs = readArray(object.storageProofs, 'storageProofs');
  return {
    accountProof: readItem(hasher, object.accountProof, 'accountProof', ACCOUNT_VALUE_BYTES),
    storageProofs: proofs.map((item, i) =>
      item === null ? null : readItem(hasher, item, `storageProofs[${i}]`, WORD),
    ),
  };
}

/** `hash()`; if a word is not canonical, throws a `Refusal` at the path `at`. */
export function orNotCanonical<Result>(hash: () => Result, at: string): Result {
  try {
    return hash();
  } catch (error) {
    if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
    throw new Refusal('NOT_CANONICAL', at, 'a word is not below the modulus of the hash');
  }
}

/** Digest of `bytes`, which are at the path `at` in the answer. */
function strictHash(hasher: Hasher, bytes: Uint8Array, at: string): Uint8Array {
  return orNotCanonical(() => hasher.hash(bytes), at);
}
