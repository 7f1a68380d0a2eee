import { emptyHashes } from '../accumulator/empty-subtrees.js';
import { decodeIndex, decodeLeaf, type LeafOpening } from '../accumulator/leaf-opening.js';
import { type MerkleProofJson, PROOF_NODES, type ProofItemJson } from '../accumulator/proof-shape.js';
import { MAX_LEAVES, schemeFormat, TREE_DEPTH, ZERO_HASH } from '../accumulator/scheme.js';
import { PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { copyBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import { conflict, WitnessTrie } from './witness-trie.js';

/**
 * Builds a trie from the items of a `linea_getProof` answer: their leaves with values, and the sibling leaves.
 * Everything is checked against the top root. Whether an item is about the requested key must be checked by the
 * verifier of the answer.
 *
 * @param topRoot - trusted, 32 bytes: the state root for account items, an account's `storageRoot` for slots
 * @param items - at least one
 * @throws PlumblineError `WITNESS_CONFLICT` for items that do not lead to the root; `PROOF_MALFORMED`, `INVALID_HEX`,
 *   `INVALID_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
 * @source docs/spec/state-trie.md 7.3
 *
 * @example
 * ```ts
 * import { bytesToHex, hexToBytes, loadHasher, openState, witnessFromProofs } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const account = { nonce: 1n, balance: 5n };
 * const root = state.applyBlock(0, [{ address, after: account, destroyed: false, slots: [] }]);
 * const { accountProof } = state.prove(0, address, []);
 * const accounts = witnessFromProofs(await loadHasher('poseidon2'), root, [accountProof]);
 * bytesToHex(accounts.topRoot) === bytesToHex(root); // => true
 * ```
 */
export function witnessFromProofs(hasher: Hasher, topRoot: Uint8Array, items: readonly ProofItemJson[]): WitnessTrie {
  const branches = items.flatMap((item, i) => {
    const at = `items[${i}]`;
    if ('leafIndex' in item) return [readBranch(hasher, item.leafIndex, item.proof, `${at}.proof`)];
    return [
      readBranch(hasher, item.leftLeafIndex, item.leftProof, `${at}.leftProof`),
      readBranch(hasher, item.rightLeafIndex, item.rightProof, `${at}.rightProof`),
    ];
  });
  const first = branches[0];
  if (first === undefined) throw malformed('items', 'must not be empty');
  const { indexBytes } = schemeFormat(hasher.scheme);
  for (const { position, top } of branches) {
    const isTop = equalBytes(top, first.top) && equalBytes(hasher.hash(top), topRoot);
    if (!isTop) throw conflict(position, 'its proof leads to another top root');
  }
  const nextFreeNode = decodeIndex(hasher.scheme, first.top.subarray(0, indexBytes));
  if (nextFreeNode === undefined) throw malformed('items[0]', 'has a top node without a valid nextFreeNode');
  const trie = WitnessTrie.open(hasher, nextFreeNode, copyBytes(first.top, indexBytes));
  for (const branch of branches) {
    trie.learn(branch.position, branch.leaf, branch.siblings, branch.value);
    if (branch.beside === undefined) continue;
    const beside = branch.position % 2 === 0 ? branch.position + 1 : branch.position - 1;
    trie.learn(beside, branch.beside, [branch.leafHash, ...branch.siblings.slice(1)]);
  }
  return trie;
}

interface Branch {
  readonly position: number;
  readonly top: Uint8Array;
  readonly siblings: readonly Uint8Array[];
  readonly leaf: LeafOpening;
  readonly leafHash: Uint8Array;
  readonly value: Uint8Array;
  /** The leaf at the other child of the same parent. */
  readonly beside: LeafOpening | undefined;
}

function readBranch(hasher: Hasher, position: number, proof: MerkleProofJson, at: string): Branch {
  const { scheme } = hasher;
  const { leafBytes, topBytes } = schemeFormat(scheme);
  if (!Number.isInteger(position) || position < 0 || position >= MAX_LEAVES)
    throw malformed(at, 'must have a leaf position from 0 to 2^40 - 1');
  if (proof.proofRelatedNodes.length !== PROOF_NODES) throw malformed(at, `must have ${PROOF_NODES} nodes`);
  const nodes = proof.proofRelatedNodes.map((node, i) => {
    const unusedLeaf = i === TREE_DEPTH && node.length === 2 + 64;
    const bytes = i === 0 ? topBytes : i < TREE_DEPTH ? 64 : unusedLeaf ? 32 : leafBytes;
    return hexToBytes(node, bytes);
  });
  const empties = emptyHashes(hasher);
  const siblings: Uint8Array[] = [];
  for (let level = 0; level < TREE_DEPTH; level++) {
    siblings.push(siblingHash(hasher, nodes[TREE_DEPTH - level]!, level, empties));
  }
  const beside = nodes[TREE_DEPTH]!;
  const preimage = nodes[TREE_DEPTH + 1]!;
  const leaf = decodeLeaf(scheme, preimage);
  if (leaf === undefined) throw malformed(at, 'has a leaf with invalid neighbour positions');
  return {
    position,
    top: nodes[0]!,
    siblings,
    leaf,
    leafHash: hasher.hash(preimage),
    value: hexToBytes(proof.value),
    beside: beside.length === leafBytes ? decodeLeaf(scheme, beside) : undefined,
  };
}

/** Hash of a sibling from its preimage; looked up for an empty subtree. */
function siblingHash(hasher: Hasher, preimage: Uint8Array, level: number, empties: readonly Uint8Array[]): Uint8Array {
  if (level === 0) return preimage.length === 32 && isZeroBytes(preimage) ? ZERO_HASH : hasher.hash(preimage);
  const below = empties[level - 1]!;
  const isEmpty = equalBytes(preimage.subarray(0, 32), below) && equalBytes(preimage.subarray(32), below);
  return isEmpty ? empties[level]! : hasher.hash(preimage);
}

function malformed(path: string, reason: string): PlumblineError<'PROOF_MALFORMED'> {
  return new PlumblineError('PROOF_MALFORMED', `malformed proof: ${path} ${reason}`, { path, reason });
}
