import type { LineaProofJson, MerkleProofJson, ProofItemJson } from '../../accumulator/proof-shape.js';
import { schemeFormat, TREE_DEPTH, ZERO_HASH } from '../../accumulator/scheme.js';
import type { HashScheme } from '../../kernel/contracts.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import type { HashedKey } from '../hash-cache.js';
import type { StateView } from './past-view.js';

/** Hex of the nodes of a trie's branches, by place in the branch and by the part of the path that leads to the node. */
type NodeHex = Map<number, Hex>[];

/** @param known - nodes of this trie's branches so far; branches share most of them */
function branchHex(view: StateView, trie: number, position: number, known: NodeHex): Hex[] {
  return view.tries.branch(trie, position).map((node, place) => {
    known[place] ??= new Map();
    // The top depends on nothing (positions are below 2^40); the last two places, a leaf and the one beside it, on the
    // whole path.
    const path = Math.floor(position / 2 ** Math.max(0, TREE_DEPTH - place));
    let hex = known[place].get(path);
    if (hex === undefined) {
      hex = bytesToHex(node);
      known[place].set(path, hex);
    }
    return hex;
  });
}

/** Proof that a key is in a trie with its value, or that it is absent (docs/spec/state-trie.md 7.3). */
function proveKey(
  view: StateView,
  trie: number,
  { key, hkey }: HashedKey,
  valueAt: (position: number) => Uint8Array | undefined,
  known: NodeHex = [],
): ProofItemJson {
  const prove = (position: number): MerkleProofJson => ({
    // Head and tail have no value.
    value: bytesToHex(valueAt(position) ?? ZERO_HASH),
    proofRelatedNodes: branchHex(view, trie, position, known),
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
  const known: NodeHex = [];
  const storageEmpty = storage === undefined || equalBytes(view.tries.topRoot(storage.handle), emptyRoot);
  return {
    accountProof: proveKey(view, accounts, account, (position) => view.record(position)?.value),
    storageProofs: storageEmpty
      ? []
      : slots.map((slot) =>
          proveKey(view, storage.handle, slot, (position) => view.slotValue(storage, position), known),
        ),
  };
}
