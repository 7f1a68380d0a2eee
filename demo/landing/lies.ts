import type { Hex, LineaProofJson, MerkleProofJson } from 'plumbline-l2/verify';
import { storageRootIn } from '../lib/account-value.js';
import { tamper } from '../proofs/tamper.js';

/** What a server can change in its answer, each found by another check. */
export const LIES = {
  balance: 'the balance',
  path: 'a hash on the path',
  top: 'the top of the tree',
} as const;

export type LieName = keyof typeof LIES;

/** 9 000 000 tokens with 18 decimals. */
const FORGED = 9_000_000n * 10n ** 18n;

/** A copy of the answer with the lie in it. */
export function forge(answer: LineaProofJson, lie: LieName): LineaProofJson {
  if (lie === 'path') return tamper(answer, 'sibling');
  if (lie === 'top') return tamper(answer, 'root');
  const copy = structuredClone(answer);
  branchOf(copy).value = `0x${FORGED.toString(16).padStart(64, '0')}` as Hex;
  return copy;
}

/** The branch of the balance, which is there in every devnet. */
export function branchOf({ storageProofs: [item] }: LineaProofJson): MerkleProofJson {
  if (item === undefined || !('proof' in item)) throw new Error('Account 1 has no balance on this chain.');
  return item.proof;
}

export function storageRootOf({ accountProof }: LineaProofJson): Hex {
  if (!('proof' in accountProof)) throw new Error('The test token is not on this chain.');
  return storageRootIn(accountProof.proof.value);
}
