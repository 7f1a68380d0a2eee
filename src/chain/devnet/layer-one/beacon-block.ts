import { type BeaconNetwork, periodAt } from '../../../consensus/beacon-network.js';
import {
  beaconBlockHeader,
  denebExecutionHeader,
  EXECUTION_INDEX,
  type ExecutionPayloadHeader,
  type LightClientHeader,
  stateIndices,
  uint64,
} from '../../../consensus/containers.js';
import { chunksOf, hashPair, merkleRoot, zeroRoot } from '../../../consensus/ssz.js';
import { ZERO_WORD } from '../../../primitives/bytes.js';
import { simulatedCommittee } from './beacon-committees.js';
import type { L1Block } from './simulated-l1.js';

/** A block of the simulated beacon chain. */
export interface BeaconBlock {
  readonly slot: number;
  readonly header: LightClientHeader;
  /** Root of the beacon header, 32 bytes. */
  readonly root: Uint8Array;
  /** The layer-1 block that it carries. */
  readonly layerOne: L1Block;
  /** The block before, which its state names as final. Undefined for the first one of a period. */
  readonly parent: BeaconBlock | undefined;
}

/** Generalized indices of a state. */
export const STATE_INDICES = stateIndices('electra');

/** Chunks at generalized indices of a tree in which everything else is zero. */
type Leaves = ReadonlyMap<number, Uint8Array>;

function nodeAt(leaves: Leaves, gindex: number): Uint8Array {
  const leaf = leaves.get(gindex);
  if (leaf !== undefined) return leaf;
  for (const below of leaves.keys()) {
    for (let node = below; node >= gindex; node >>= 1) {
      if (node === gindex) return hashPair(nodeAt(leaves, 2 * gindex), nodeAt(leaves, 2 * gindex + 1));
    }
  }
  return ZERO_WORD;
}

/** Siblings from the leaf upwards. */
function branchAt(leaves: Leaves, gindex: number): Uint8Array[] {
  const siblings: Uint8Array[] = [];
  for (let node = gindex; node > 1; node >>= 1) siblings.push(nodeAt(leaves, node ^ 1));
  return siblings;
}

/** The members of a state that light clients read. */
function stateOf(network: BeaconNetwork, slot: number, parent: BeaconBlock | undefined): Leaves {
  const period = periodAt(network, slot);
  return new Map([
    [STATE_INDICES.currentSyncCommittee, simulatedCommittee(period).root],
    [STATE_INDICES.nextSyncCommittee, simulatedCommittee(period + 1).root],
    [STATE_INDICES.finalizedRoot, parent?.root ?? ZERO_WORD],
  ]);
}

/** The branch of a member of a block's state. @param gindex - one of `STATE_INDICES` */
export function stateBranch(network: BeaconNetwork, { slot, parent }: BeaconBlock, gindex: number): Uint8Array[] {
  return branchAt(stateOf(network, slot, parent), gindex);
}

/** Root of a list. @param depth - of the tree of a full list. @param length - of the list, which is mixed in */
function listRoot(chunks: readonly Uint8Array[], depth: number, length: number): Uint8Array {
  let root = chunks.length === 0 ? zeroRoot(depth) : merkleRoot(chunks);
  if (chunks.length > 0)
    for (let level = Math.ceil(Math.log2(chunks.length)); level < depth; level++)
      root = hashPair(root, zeroRoot(level));
  return hashPair(root, chunksOf(uint64.encode(BigInt(length)))[0]!);
}

/** @source ethereum/consensus-specs@a08d8a6e specs/bellatrix/beacon-chain.md: MAX_BYTES_PER_TRANSACTION, in chunks */
const TRANSACTION_DEPTH = 25;
/** MAX_TRANSACTIONS_PER_PAYLOAD. */
const TRANSACTIONS_DEPTH = 20;
/** MAX_WITHDRAWALS_PER_PAYLOAD. */
const WITHDRAWALS_DEPTH = 4;

/** The payload header of a layer-1 block, which has no withdrawals. */
function payloadOf({ header, hash, transactions }: L1Block): ExecutionPayloadHeader {
  const roots = transactions.map(({ raw }) => listRoot(chunksOf(raw), TRANSACTION_DEPTH, raw.length));
  return {
    parentHash: header.parentHash,
    feeRecipient: header.miner,
    stateRoot: header.stateRoot,
    receiptsRoot: header.receiptsRoot,
    logsBloom: header.logsBloom,
    prevRandao: header.mixHash,
    blockNumber: BigInt(header.number),
    gasLimit: header.gasLimit,
    gasUsed: header.gasUsed,
    timestamp: BigInt(header.timestamp),
    extraData: header.extraData,
    baseFeePerGas: header.baseFeePerGas!,
    blockHash: hash,
    transactionsRoot: listRoot(roots, TRANSACTIONS_DEPTH, roots.length),
    withdrawalsRoot: listRoot([], WITHDRAWALS_DEPTH, 0),
    blobGasUsed: 0n,
    excessBlobGas: 0n,
  };
}

/** Makes the block of a slot. Its state has the committees and the parent as the finalized block, all else is zero. */
export function makeBeaconBlock(
  network: BeaconNetwork,
  slot: number,
  layerOne: L1Block,
  parent: BeaconBlock | undefined,
): BeaconBlock {
  const execution = payloadOf(layerOne);
  const body = new Map([[EXECUTION_INDEX, denebExecutionHeader.hashTreeRoot(execution)]]);
  const beacon = {
    slot: BigInt(slot),
    proposerIndex: 0n,
    parentRoot: parent?.root ?? ZERO_WORD,
    stateRoot: nodeAt(stateOf(network, slot, parent), 1),
    bodyRoot: nodeAt(body, 1),
  };
  const header = { beacon, execution, executionBranch: branchAt(body, EXECUTION_INDEX) };
  return { slot, header, root: beaconBlockHeader.hashTreeRoot(beacon), layerOne, parent };
}
