import { type Hex, hexToBytes } from '../primitives/hex.js';
import { type AccountValue, decodeAccountValue } from './account-value.js';

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

/** What an answer of `linea_getProof` says. */
interface ProvedValues {
  /** Undefined: no such account. */
  readonly account: AccountValue | undefined;
  /** One per requested key, in order, 32 bytes each; zero for an empty slot. */
  readonly slots: readonly Uint8Array[];
}

const provedValue = (item: ProofItemJson | null | undefined) =>
  item !== undefined && item !== null && 'leafIndex' in item ? hexToBytes(item.proof.value) : undefined;

/** The values in a proof that was verified. @param keys - number of requested slots */
export function provedValues({ accountProof, storageProofs }: LineaProofJson, keys: number): ProvedValues {
  const account = provedValue(accountProof);
  return {
    account: account && decodeAccountValue(account),
    slots: Array.from({ length: keys }, (_, i) => provedValue(storageProofs[i]) ?? new Uint8Array(32)),
  };
}
