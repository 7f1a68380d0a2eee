import type { Hex } from '../primitives/hex.js';

/**
 * Entries of `proofRelatedNodes`: top node, 39 sibling preimages, sibling leaf, the proven leaf
 * (docs/spec/state-trie.md 7.3).
 */
export const PROOF_NODES = 42;

/** One branch of the tree as `linea_getProof` gives it, on the wire. */
export interface MerkleProofJson {
  /** Account: the 192-byte compact form; slot: 32 bytes; head or tail as a neighbour: 32 zero bytes. */
  value: Hex;
  /** 42 preimages from the top node down to the leaf opening. */
  proofRelatedNodes: Hex[];
}

/** The key is in the tree. */
export interface InclusionProofJson {
  /** Account: 20 bytes; slot: 32 bytes. */
  key: Hex;
  leafIndex: number;
  proof: MerkleProofJson;
}

/** The key is not in the tree: its two neighbours are, and nothing is between them. */
export interface NonInclusionProofJson {
  key: Hex;
  leftLeafIndex: number;
  rightLeafIndex: number;
  leftProof: MerkleProofJson;
  rightProof: MerkleProofJson;
}

/** A key of the answer: shown to be there, or not to be. */
export type ProofItemJson = InclusionProofJson | NonInclusionProofJson;

/** Result of `linea_getProof`. */
export interface LineaProofJson {
  accountProof: ProofItemJson;
  /** One per asked key, in order; empty for a missing account and for an account whose storage is empty. */
  storageProofs: ProofItemJson[];
}
