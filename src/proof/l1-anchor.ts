import { PlumblineError } from '../errors.js';
import { abiWord, mappingSlot } from '../ethereum/abi.js';
import type { RollupContract } from '../networks/network.js';
import { bytesToBigInt, isZeroBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import { type EthereumProofFailureReason, verifyEthereumProof } from './ethereum-proof.js';
import type { ProofFailure } from './verdict.js';

/**
 * Slot of the entry of a block in a mapping by block number, 32 bytes.
 *
 * @source docs/spec/state-trie.md 9: keccak256(block as 32 bytes || slot of the mapping as 32 bytes)
 */
function entrySlot(mapping: bigint, block: number): Uint8Array {
  if (!Number.isSafeInteger(block) || block < 0) {
    const [what, limit] = ['l2BlockNumber', 'an integer from 0 to 2^53 - 1'];
    throw new PlumblineError('OUT_OF_RANGE', `${what} must be ${limit}, got ${block}`, {
      what,
      value: `${block}`,
      limit,
    });
  }
  return mappingSlot(abiWord(block), mapping);
}

/**
 * Slot of `stateRootHashes[block]` in the rollup contract, 32 bytes.
 *
 * @param block - layer-2 block number
 * @throws PlumblineError `OUT_OF_RANGE` unless it is an integer from 0 to 2^53 - 1
 *
 * @example
 * ```ts
 * import { linea } from 'plumbline-l2/fees';
 * import { bytesToHex, stateRootSlot } from 'plumbline-l2/verify';
 *
 * bytesToHex(stateRootSlot(linea.rollup, 12)); // => '0x45d54b7f30537c0e5f5e788d68d019b217ab0ac06b1c45fd58dbaafb36dce2e0'
 * ```
 */
export function stateRootSlot(rollup: RollupContract, block: number): Uint8Array {
  return entrySlot(rollup.stateRootsSlot, block);
}

/**
 * Slots to request from `eth_getProof`, in this order, 32 bytes each: `currentL2BlockNumber`, `stateRootHashes[block]`, and
 * `blockHashes[block]` if the profile has its slot.
 *
 * @example
 * ```ts
 * import { linea } from 'plumbline-l2/fees';
 * import { anchorSlots, bytesToHex, stateRootSlot } from 'plumbline-l2/verify';
 *
 * const [current, root] = anchorSlots(linea.rollup, 12);
 * bytesToHex(current); // => '0x0000000000000000000000000000000000000000000000000000000000000119'
 * bytesToHex(root) === bytesToHex(stateRootSlot(linea.rollup, 12)); // => true
 * ```
 */
export function anchorSlots(rollup: RollupContract, block: number): Uint8Array[] {
  const slots = [abiWord(rollup.currentBlockSlot), stateRootSlot(rollup, block)];
  return rollup.blockHashesSlot === undefined ? slots : [...slots, entrySlot(rollup.blockHashesSlot, block)];
}

/** The requested root, and the layer-1 state to verify the answer against. */
export interface L1AnchorRequest {
  /** State root of a layer-1 block that the caller trusts, 32 bytes. */
  readonly l1StateRoot: Uint8Array;
  readonly rollup: RollupContract;
  /** Number of the layer-2 block whose state root is requested. */
  readonly l2BlockNumber: number;
}

/** Why an answer does not prove a root. */
export type L1AnchorFailureReason =
  | EthereumProofFailureReason
  /** There is no account at the contract's address. */
  | 'CONTRACT_MISSING'
  /** The block is above the newest finalized one. */
  | 'BLOCK_NOT_FINALIZED'
  /** The contract has neither a root nor a hash of the block, because no finalization ended there. */
  | 'NO_FINALIZATION_AT_BLOCK';

/** What layer 1 stores for a layer-2 block: the root of the zk state after it, or its hash. At least one of them is there. */
export interface VerifiedL1Anchor {
  readonly verified: true;
  readonly l2BlockNumber: number;
  /** Of the zk state after the block, 32 bytes. */
  readonly stateRoot?: Uint8Array;
  /** Of the block, 32 bytes. It decides if both are there. */
  readonly blockHash?: Uint8Array;
  /** Newest finalized layer-2 block in this layer-1 state. */
  readonly currentL2BlockNumber: bigint;
}

/** The root on layer 1, or why the answer does not prove it. */
export type L1AnchorVerdict = VerifiedL1Anchor | ProofFailure<L1AnchorFailureReason>;

/**
 * Verifies what layer 1 stores for a layer-2 block: the root of its zk state, or its hash.
 *
 * @param answer - `eth_getProof` of the contract with the slots of `anchorSlots`, in that order
 * @throws PlumblineError `PROOF_MALFORMED`, `INVALID_LENGTH`; `OUT_OF_RANGE` for an invalid block number
 * @source docs/spec/state-trie.md 9, docs/spec/json-rpc.md 6, docs/spec/rollup-versions.md 5
 *
 * @example
 * ```ts
 * import { devnet } from 'plumbline-l2/fees';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { anchorSlots, bytesToHex, hexToBytes, verifyL1Anchor } from 'plumbline-l2/verify';
 *
 * const node = await createInlineNode();
 * const { rollup } = devnet();
 * const block = (await node.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }))!;
 * const slots = anchorSlots(rollup, 0).map((slot) => bytesToHex(slot));
 * const answer = await node.l1.request({ method: 'eth_getProof', params: [rollup.address, slots, block.number] });
 * const anchor = verifyL1Anchor({ l1StateRoot: hexToBytes(block.stateRoot), rollup, l2BlockNumber: 0 }, answer);
 * anchor.verified; // => true
 * await node.close();
 * ```
 */
export function verifyL1Anchor(request: L1AnchorRequest, answer: unknown): L1AnchorVerdict {
  const { l1StateRoot, rollup, l2BlockNumber } = request;
  const storageKeys = anchorSlots(rollup, l2BlockNumber);
  const address = hexToBytes(rollup.address, 20);
  const proof = verifyEthereumProof({ address, storageKeys, stateRoot: l1StateRoot }, answer);
  if (!proof.verified) return proof;
  if (proof.account === undefined) {
    return failure('CONTRACT_MISSING', 'accountProof', 'there is no account at the address of the rollup contract');
  }
  const currentL2BlockNumber = bytesToBigInt(proof.slots[0]!.value);
  const [stateRoot, blockHash] = proof.slots.slice(1).map(({ value }) => (isZeroBytes(value) ? undefined : value));
  if (BigInt(l2BlockNumber) > currentL2BlockNumber) {
    return failure(
      'BLOCK_NOT_FINALIZED',
      'storageProof[0].value',
      `the newest finalized block is ${currentL2BlockNumber}`,
    );
  }
  if (stateRoot === undefined && blockHash === undefined) {
    return failure(
      'NO_FINALIZATION_AT_BLOCK',
      'storageProof[1].value',
      `no finalization ended at block ${l2BlockNumber}`,
    );
  }
  return {
    verified: true,
    l2BlockNumber,
    ...(stateRoot && { stateRoot }),
    ...(blockHash && { blockHash }),
    currentL2BlockNumber,
  };
}

function failure(reason: L1AnchorFailureReason, at: string, message: string): ProofFailure<L1AnchorFailureReason> {
  return { verified: false, reason, at, message };
}
