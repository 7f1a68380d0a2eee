import type { Hex } from '../primitives/hex.js';

/**
 * Entries of `proofRelatedNodes`: top node, 39 sibling preimages, sibling leaf, the proven leaf
 * (docs/spec/state-trie.md 7.3).
 */
export const PROOF_NODES = 42;

/** One branch in an answer of `linea_getProof`. */
export interface MerkleProofJson {
  /** Account: the 192-byte compact form; slot: 32 bytes; head or tail as a neighbour: 32 zero bytes. */
  value: Hex;
  /** 42 preimages from the top node down to the leaf opening. */
  proofRelatedNodes: Hex[];
}

/** The key is in the trie. */
export interface InclusionProofJson {
  /** Account: 20 bytes; slot: 32 bytes. */
  key: Hex;
  leafIndex: number;
  proof: MerkleProofJson;
}

/** The key is not in the trie: these two leaves are neighbours. */
export interface NonInclusionProofJson {
  key: Hex;
  leftLeafIndex: number;
  rightLeafIndex: number;
  leftProof: MerkleProofJson;
  rightProof: MerkleProofJson;
}

/** Proof that a key is present or absent. */
export type ProofItemJson = InclusionProofJson | NonInclusionProofJson;

/** Result of `linea_getProof`. */
export interface LineaProofJson {
  accountProof: ProofItemJson;
  /** One per requested key, in order; empty if the account does not exist or its storage is empty. */
  storageProofs: ProofItemJson[];
}
