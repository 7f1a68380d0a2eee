import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import type { RollupContract } from '../../src/networks/network.js';
import { bigIntToBytes, bytesToBigInt } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { anchorSlots } from '../../src/proof/l1-anchor.js';

export const word = (value: bigint) => bigIntToBytes(value, 32);
export const address = (byte: number) => new Uint8Array(20).fill(byte);

/** Three accounts of layer 1: a rollup contract that has finalized blocks 10 and 40 and whose newest is 30, and two without storage. */
export async function rollupState() {
  const trie = new StateTrie();
  const rollup: RollupContract = {
    address: bytesToHex(address(0xaa)) as `0x${string}`,
    currentBlockSlot: 0x119n,
    stateRootsSlot: 0x11an,
  };
  const slots = [
    { key: word(0x119n), after: word(30n) },
    { key: anchorSlots(rollup, 10)[1]!, after: word(0xabcdn) },
    { key: anchorSlots(rollup, 40)[1]!, after: word(0xef01n) },
  ];
  const codeHash = keccak_256(Uint8Array.of(1, 2, 3));
  const stateRoot = await trie.write([
    { address: address(0xaa), account: { nonce: 1n, balance: 0n, codeHash }, slots },
    { address: address(0xbb), account: { nonce: 300n, balance: 10n ** 22n, codeHash: EMPTY_CODE_HASH }, slots: [] },
    { address: address(0xcc), account: { nonce: 0n, balance: 1n, codeHash: EMPTY_CODE_HASH }, slots: [] },
  ]);
  return { trie, rollup, stateRoot };
}

/** `eth_getProof` in its wire form. */
export async function getProof(trie: StateTrie, root: Uint8Array, of: Uint8Array, keys: readonly Uint8Array[]) {
  const { accountProof, storage } = await trie.prove(root, of, keys);
  return {
    accountProof: accountProof.map(bytesToHex),
    storageProof: storage.map(({ key, value, proof }) => ({
      key: `0x${bytesToBigInt(key).toString(16)}`,
      value: `0x${value.toString(16)}`,
      proof: proof.map(bytesToHex),
    })),
  };
}
