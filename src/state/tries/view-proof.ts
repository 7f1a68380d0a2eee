import type { LineaProofJson, MerkleProofJson, ProofItemJson } from '../../accumulator/proof-shape.js';
import { schemeFormat, ZERO_HASH } from '../../accumulator/scheme.js';
import type { HashScheme } from '../../kernel/contracts.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { HashedKey } from '../hash-cache.js';
import type { StateView } from './past-view.js';

/** Proof that a key is in a trie with its value, or that it is absent (docs/spec/state-trie.md 7.3). */
function proveKey(
  view: StateView,
  trie: number,
  { key, hkey }: HashedKey,
  valueAt: (position: number) => Uint8Array | undefined,
): ProofItemJson {
  const prove = (position: number): MerkleProofJson => ({
    // Head and tail have no value.
    value: bytesToHex(valueAt(position) ?? ZERO_HASH),
    proofRelatedNodes: view.tries.branch(trie, position).map(bytesToHex),
  });
  const found = view.tries.find(trie, hkey);
  if (found.present) return { key: bytesToHex(key), leafIndex: found.position, proof: prove(found.position) };
  return {
    key: bytesToHex(key),
    leftLeafIndex: found.left,
    rightLeafIndex: found.right,
    leftProof: prove(found.left),
    rightProof: prove(found.right),
  };
}

/** Answer of `linea_getProof` from a view of the state, for present and absent accounts and slots. */
export function proveAccount(
  scheme: HashScheme,
  view: StateView,
  accounts: number,
  account: HashedKey,
  slots: readonly HashedKey[],
): LineaProofJson {
  const found = view.tries.find(accounts, account.hkey);
  const storage = found.present ? view.record(found.position)?.storage : undefined;
  const { emptyRoot } = schemeFormat(scheme);
  const storageEmpty = storage === undefined || equalBytes(view.tries.topRoot(storage.handle), emptyRoot);
  return {
    accountProof: proveKey(view, accounts, account, (position) => view.record(position)?.value),
    storageProofs: storageEmpty
      ? []
      : slots.map((slot) => proveKey(view, storage.handle, slot, (position) => view.slotValue(storage, position))),
  };
}
