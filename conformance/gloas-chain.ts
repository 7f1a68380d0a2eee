import { signAsCommittee, simulatedCommittee } from '../src/chain/devnet/layer-one/simulated-beacon.js';
import {
  beaconBlockHeader,
  computeSigningRoot,
  denebExecutionHeader,
  type ExecutionPayloadHeader,
  type GloasLightClientHeader,
  type LightClientHeader,
  type PayloadLightClientHeader,
  stateIndices,
} from '../src/consensus/containers.js';
import { hashPair, toJson } from '../src/consensus/ssz.js';
import { beaconNetwork } from '../src/networks/beacon-networks.js';
import type { BeaconNetwork } from '../src/networks/network.js';
import { ZERO_WORD } from '../src/primitives/bytes.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';

/*
 * A beacon chain across the fork to Gloas, signed by the keys of the simulated validators. Indices and lengths are those of
 * docs/spec/glamsterdam.md 3, 4 and 6, computed with @lodestar/types 1.50.0. Its trees are its own: everything but the leaves is zero.
 */

export const FORK = 'gloas';
/** Epoch of Gloas in the chain of this test, in the middle of period 20. */
export const EPOCH = 164;
export const network: BeaconNetwork = beaconNetwork('simulated', { gloas: EPOCH });
export const SLOT = 8 * EPOCH;
export const word = (byte: number) => new Uint8Array(32).fill(byte);

/** Nodes of a tree by generalized index. */
type Tree = Map<number, Uint8Array>;
const isAbove = (gindex: number, below: number): boolean =>
  below >= gindex && (below === gindex || isAbove(gindex, below >> 1));
function node(tree: Tree, gindex: number): Uint8Array {
  const leaf = tree.get(gindex);
  if (leaf !== undefined) return leaf;
  if (![...tree.keys()].some((below) => isAbove(gindex, below))) return ZERO_WORD;
  return hashPair(node(tree, 2 * gindex), node(tree, 2 * gindex + 1));
}
export function branch(tree: Tree, gindex: number, length = Math.floor(Math.log2(gindex))): Uint8Array[] {
  const siblings: Uint8Array[] = [];
  for (let at = gindex; at > 1; at >>= 1) siblings.push(node(tree, at ^ 1));
  return [...Array.from({ length: length - siblings.length }, () => ZERO_WORD), ...siblings];
}

/** Generalized index of `block_hash` in an execution header of 17 members. */
const BLOCK_HASH = 44;
const EXECUTION = 25;

/** The execution header as a tree over the roots of its members, which are written apart from the library's container. */
function executionTree(execution: ExecutionPayloadHeader): Tree {
  const {
    parentHash,
    feeRecipient,
    stateRoot,
    receiptsRoot,
    prevRandao,
    blockHash,
    transactionsRoot,
    withdrawalsRoot,
  } = execution;
  const number = (value: bigint) => Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
  const address = new Uint8Array(32);
  address.set(feeRecipient);
  const zeros = (depth: number): Uint8Array => (depth === 0 ? ZERO_WORD : hashPair(zeros(depth - 1), zeros(depth - 1)));
  const leaves = [
    ...[parentHash, address, stateRoot, receiptsRoot, zeros(3), prevRandao],
    ...[execution.blockNumber, execution.gasLimit, execution.gasUsed, execution.timestamp].map(number),
    ...[hashPair(ZERO_WORD, ZERO_WORD), number(execution.baseFeePerGas), blockHash, transactionsRoot, withdrawalsRoot],
    ...[execution.blobGasUsed, execution.excessBlobGas].map(number),
  ];
  const tree: Tree = new Map();
  for (let i = 0; i < 32; i++) tree.set(32 + i, leaves[i] ?? ZERO_WORD);
  return tree;
}

export const executionOf = (number: number): ExecutionPayloadHeader => ({
  ...{ parentHash: word(1), feeRecipient: new Uint8Array(20).fill(2), stateRoot: word(number), receiptsRoot: word(4) },
  ...{ logsBloom: new Uint8Array(256), prevRandao: word(5), blockNumber: BigInt(number), gasLimit: 30n, gasUsed: 20n },
  ...{ timestamp: 9n, extraData: new Uint8Array(), baseFeePerGas: 7n, blockHash: word(0x40 + number) },
  ...{ transactionsRoot: word(6), withdrawalsRoot: word(7), blobGasUsed: 0n, excessBlobGas: 0n },
});

export interface Block {
  readonly header: LightClientHeader;
  readonly state: Tree;
  readonly body: Tree;
}

/** A block whose state names another as final. @param payload - number of its payload, after the fork of the newest before it */
export function block(slot: number, payload: number, final?: Block): Block {
  const isNew = slot >= SLOT;
  const indices = stateIndices(isNew ? 'gloas' : 'electra');
  const period = Math.floor(slot / 64);
  const state: Tree = new Map([
    [indices.currentSyncCommittee, simulatedCommittee(period).root],
    [indices.nextSyncCommittee, simulatedCommittee(period + 1).root],
    [indices.finalizedRoot, final === undefined ? ZERO_WORD : beaconBlockHeader.hashTreeRoot(final.header.beacon)],
  ]);
  const execution = executionOf(payload);
  const body: Tree = isNew
    ? new Map([
        [2856, execution.blockHash],
        [22857, word(0x88)],
      ])
    : new Map([[EXECUTION, denebExecutionHeader.hashTreeRoot(execution)]]);
  const beacon = {
    ...{ slot: BigInt(slot), proposerIndex: 0n, parentRoot: word(3) },
    ...{ stateRoot: node(state, 1), bodyRoot: node(body, 1) },
  };
  const header = isNew
    ? { beacon, executionBlockHash: execution.blockHash, executionBranch: branch(body, 2856) }
    : { beacon, execution, executionBranch: branch(body, EXECUTION) };
  return { header, state, body };
}

/** A header before Gloas as containers of Gloas have it. */
export function upgraded({ beacon, execution, executionBranch }: PayloadLightClientHeader): GloasLightClientHeader {
  const inside = branch(executionTree(execution), BLOCK_HASH);
  const siblings = [...inside, ...executionBranch];
  const surplus = Array.from({ length: 11 - siblings.length }, () => ZERO_WORD);
  return { beacon, executionBlockHash: execution.blockHash, executionBranch: [...surplus, ...siblings] };
}
export const inGloas = (header: LightClientHeader) => ('execution' in header ? upgraded(header) : header);

/** What the whole committee of a slot signs. @param message - 32 bytes */
export function signAs(slot: number, message: Uint8Array) {
  const bits = new Uint8Array(4).fill(0xff);
  return { syncCommitteeBits: bits, syncCommitteeSignature: signAsCommittee(Math.floor(slot / 64), bits, message) };
}

/** A finality update of a block, in the container of the block's fork. */
export function update(attested: Block, final: Block, changes: object = {}, version?: string) {
  const slot = Number(attested.header.beacon.slot);
  const isNew = slot >= SLOT;
  const message = computeSigningRoot(network, attested.header.beacon, slot + 1);
  return {
    version: version ?? (isNew ? FORK : 'fulu'),
    data: {
      attestedHeader: attested.header,
      finalizedHeader: isNew ? inGloas(final.header) : final.header,
      finalityBranch: branch(attested.state, stateIndices(isNew ? 'gloas' : 'electra').finalizedRoot),
      syncAggregate: signAs(slot + 1, message),
      signatureSlot: BigInt(slot + 1),
      ...changes,
    },
  };
}
export const asJson = ({ version, data }: ReturnType<typeof update>) => ({ version, data: toJson(data) });

/** A body with a bid, of test/fixtures/consensus/glamsterdam.json. */
export interface BodyVector {
  readonly bodyRoot: Hex;
  /** `parent_block_hash` of the bid, which is proved. */
  readonly executionBlockHash: Hex;
  /** `block_hash` of the bid. */
  readonly ownBlockHash: Hex;
  readonly executionBranch: readonly Hex[];
}

/** A header of Gloas with that body. */
export function headerOfBody({ bodyRoot, executionBlockHash, executionBranch }: BodyVector): GloasLightClientHeader {
  const { beacon } = block(SLOT + 10, 3).header;
  return {
    beacon: { ...beacon, bodyRoot: hexToBytes(bodyRoot) },
    executionBlockHash: hexToBytes(executionBlockHash),
    executionBranch: executionBranch.map((sibling) => hexToBytes(sibling)),
  };
}
