import { hexToBytes } from '../primitives/hex.js';
import { type AccountValue, decodeAccountValue } from './account-value.js';
import type { LineaProofJson, ProofItemJson } from './proof-shape.js';

/** What an answer of `linea_getProof` says. */
export interface ProvedValues {
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
