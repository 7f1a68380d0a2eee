import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeAccountValue } from '../../src/accumulator/account-value.js';
import { hashAccountValue, hashAddress, hashWord } from '../../src/accumulator/keys.js';
import { headLeaf, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { HostileTree } from './hostile-tree.js';
import { rememberingHasher } from './proof-fixtures.js';

const ZERO = new Uint8Array(32);

export type LineaAnswerScene = ReturnType<typeof lineaAnswerScene>;

/** Trees of at most one leaf, and answers of `linea_getProof` from them. */
export function lineaAnswerScene(scheme: HashScheme) {
  const hasher = rememberingHasher(scheme);
  /** Head, tail and one leaf at position 2. */
  const treeOf = (hkey: Uint8Array, hval: Uint8Array, value: Uint8Array, nextFreeNode = 3) =>
    new HostileTree(
      hasher,
      {
        0: { opening: { ...headLeaf(), nextLeaf: 2 }, value: ZERO },
        1: { opening: { ...tailLeaf(scheme), prevLeaf: 2 }, value: ZERO },
        2: { opening: { prevLeaf: 0, nextLeaf: 1, hkey, hval }, value },
      },
      nextFreeNode,
    );
  return {
    hasher,
    /** Head and tail. */
    empty: new HostileTree(
      hasher,
      { 0: { opening: headLeaf(), value: ZERO }, 1: { opening: tailLeaf(scheme), value: ZERO } },
      2,
    ),
    /** The storage tree of one slot. */
    storage: (key: Uint8Array, value: Uint8Array) => treeOf(hashWord(hasher, key), hashWord(hasher, value), value),
    /** The account tree of one account with this value of 192 bytes. */
    state: (address: Uint8Array, value: Uint8Array, nextFreeNode?: number) =>
      treeOf(hashAddress(hasher, address), hashAccountValue(hasher, value), value, nextFreeNode),
    /** The value of an account with this storage and code. */
    account: (storageRoot: Uint8Array, code: Uint8Array) =>
      encodeAccountValue({
        nonce: 1n,
        balance: 0n,
        storageRoot,
        zkCodeHash: schemeFormat(scheme).emptyRoot,
        keccakCodeHash: keccak_256(code),
        codeSize: BigInt(code.length),
      }),
    present: (tree: HostileTree, key: Uint8Array) => ({
      key: bytesToHex(key),
      leafIndex: 2,
      proof: tree.branch(2),
    }),
    absent: (tree: HostileTree, key: Uint8Array, left = 0, right = 1) => ({
      key: bytesToHex(key),
      leftLeafIndex: left,
      rightLeafIndex: right,
      leftProof: tree.branch(left),
      rightProof: tree.branch(right),
    }),
  };
}
