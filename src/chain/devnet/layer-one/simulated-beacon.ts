import { bls12_381 } from '@noble/curves/bls12-381.js';
import { sha256 } from '@noble/hashes/sha2.js';
import {
  BLOCK_HASH_INDICES,
  beaconBlockHeader,
  computeSigningRoot,
  denebExecutionHeader,
  EXECUTION_INDEX,
  type ExecutionPayloadHeader,
  type GloasLightClientHeader,
  isPresent,
  type LightClientBootstrap,
  type LightClientFinalityUpdate,
  type LightClientHeader,
  type LightClientUpdate,
  layoutAtSlot,
  type StateIndices,
  type SyncCommittee,
  stateIndices,
  syncCommittee,
  uint64,
} from '../../../consensus/containers.js';
import { DOMAIN_SEPARATION_TAG } from '../../../consensus/signatures.js';
import {
  computeSyncCommitteePeriodAtSlot,
  sizesOf,
  slotAtTime,
  slotsPerPeriod,
  timeOfSlot,
} from '../../../consensus/slots.js';
import { chunksOf, hashPair, merkleRoot, zeroRoot } from '../../../consensus/ssz.js';
import { invalidParameter } from '../../../errors.js';
import { beaconNetworkOf } from '../../../networks/beacon-networks.js';
import type { BeaconNetwork, Network } from '../../../networks/network.js';
import { bytesToBigInt, equalBytes, ZERO_WORD } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../../primitives/hex.js';
import type { Block } from '../../block.js';
import { L1_CHAIN_ID } from './simulated-l1.js';

/** Blocks that are held, about 1 KB each. */
const MAX_BLOCKS = 2048;
/** The blocks of slots 0 and 1 of a period are made when this many of its slots have passed. */
const OPENING_SLOTS = 4;

/**
 * A beacon chain beside the simulated layer 1. It has blocks only where they are needed, made when it is asked:
 *
 * - The first two slots of each period have blocks, so that each period has an update, also when it is asked for hours later.
 *   They prove the newest layer-1 block of the period's fourth second. The first one names no parent.
 * - If layer 1 has a new block, or an epoch has passed, the two slots before the present one get blocks that prove it. The state
 *   of each block names its parent as final, so that the layer-1 block is final at once, unless these slots were given out
 *   already.
 * - A slot that was given out stays as it is, also if the devnet reverts; later blocks then carry an earlier layer-1 block.
 * - The first two blocks of a period follow from what a devnet stores. Other blocks of a devnet with a store have slots after
 *   its opening, so that a reopened devnet contradicts nothing.
 */
export class SimulatedBeacon {
  private readonly slotsOfPeriod: number;
  /** Blocks by period, in order; at least two of each. */
  private readonly periods = new Map<number, BeaconBlock[]>();
  private readonly byRoot = new Map<Hex, BeaconBlock>();
  private readonly signatures = new WeakMap<BeaconBlock, Uint8Array>();
  /** First slot whose block may depend on when it was asked for. */
  private readonly firstSlot: number;
  private latest = 0;

  /**
   * @param network - of the preset `minimal`
   * @param now - wall clock, seconds: clients compare slots with their own clocks, which do not follow the devnet's
   * @param openedAt - when the devnet was opened on a store, seconds
   */
  constructor(
    readonly network: BeaconNetwork,
    private readonly layerOne: LayerOneBlocks,
    private readonly now: () => number,
    openedAt?: number,
  ) {
    this.slotsOfPeriod = slotsPerPeriod(network);
    this.firstSlot = openedAt === undefined ? 0 : slotAtTime(this.network, openedAt * 1000);
  }

  /** The newest block, made now where layer 1 has a new one. Its parent is final. Undefined before the second period. */
  newest(): BeaconBlock | undefined {
    const slot = this.signatureSlot();
    if (slot <= this.slotsOfPeriod) return undefined;
    const blocks = this.blocksOf(computeSyncCommitteePeriodAtSlot(this.network, slot - 1));
    const { head } = this.layerOne;
    const attested = blocks.at(-1)!;
    if (!isSame(attested.parent!.layerOne, head) || attested.slot + sizesOf(this.network).slotsPerEpoch < slot) {
      for (let next = Math.max(slot - 2, attested.slot + 1, this.firstSlot); next < slot; next++) {
        this.add(blocks, next, head);
      }
    }
    return blocks.at(-1)!;
  }

  /** Newest slot in which a signature can be. It stays at the first slot of a period until the period has its blocks. */
  private signatureSlot(): number {
    const slot = slotAtTime(this.network, this.now() * 1000);
    const offset = slot % this.slotsOfPeriod;
    this.latest = Math.max(this.latest, offset < OPENING_SLOTS ? slot - offset : slot);
    return this.latest;
  }

  /** The block with this root, if it is held. @param root - 0x and 64 lower-case hex digits */
  blockWithRoot(root: Hex): BeaconBlock | undefined {
    return this.byRoot.get(root);
  }

  /** The block of a slot, if it has one that is held. */
  blockAt(slot: number): BeaconBlock | undefined {
    return this.periods.get(computeSyncCommitteePeriodAtSlot(this.network, slot))?.find((block) => block.slot === slot);
  }

  bootstrap(block: BeaconBlock): LightClientBootstrap {
    return {
      header: block.header,
      currentSyncCommittee: simulatedCommittee(computeSyncCommitteePeriodAtSlot(this.network, block.slot)).committee,
      currentSyncCommitteeBranch: stateBranch(this.network, block, 'currentSyncCommittee'),
    };
  }

  /** @param attested - a block with a parent */
  finalityUpdate(attested: BeaconBlock): LightClientFinalityUpdate {
    const { header } = attested;
    const final = attested.parent!;
    return {
      attestedHeader: header,
      finalizedHeader: 'executionBlockHash' in header ? final.upgraded() : final.header,
      finalityBranch: stateBranch(this.network, attested, 'finalizedRoot'),
      ...this.signed(attested),
    };
  }

  /** The update of a period from 1 to that of `newest`, which must have been called before. */
  update(period: number): LightClientUpdate {
    const attested = this.blocksOf(period)[1]!;
    return {
      ...this.finalityUpdate(attested),
      nextSyncCommittee: simulatedCommittee(period + 1).committee,
      nextSyncCommitteeBranch: stateBranch(this.network, attested, 'nextSyncCommittee'),
    };
  }

  /** The signature of the slot after the block. In every fourth slot, one member is absent. */
  private signed(attested: BeaconBlock) {
    const slot = attested.slot + 1;
    const bits = new Uint8Array(sizesOf(this.network).committeeSize / 8).fill(0xff);
    if (slot % 4 === 0) bits[(slot >> 5) % bits.length]! ^= 1 << ((slot >> 2) % 8);
    let signature = this.signatures.get(attested);
    if (signature === undefined) {
      const message = computeSigningRoot(this.network, attested.header.beacon, slot);
      signature = signAsCommittee(computeSyncCommitteePeriodAtSlot(this.network, slot), bits, message);
      this.signatures.set(attested, signature);
    }
    const syncAggregate = { syncCommitteeBits: bits, syncCommitteeSignature: signature };
    return { syncAggregate, signatureSlot: BigInt(slot) };
  }

  private blocksOf(period: number): BeaconBlock[] {
    const held = this.periods.get(period);
    if (held !== undefined) return held;
    const layerOne = this.openingBlock(period);
    const blocks: BeaconBlock[] = [];
    const first = period * this.slotsOfPeriod;
    for (const slot of [first, first + 1]) this.add(blocks, slot, layerOne);
    this.periods.set(period, blocks);
    this.forgetOldest();
    return blocks;
  }

  /** The layer-1 block of a period's first blocks: by its time, but not before or after those of the periods beside. */
  private openingBlock(period: number): Block {
    const { layerOne } = this;
    const newest = layerOne.head.header.number;
    const held = [...this.periods.keys()];
    const before = this.periods.get(Math.max(...held.filter((other) => other < period)))?.at(-1);
    const after = this.periods.get(Math.min(...held.filter((other) => other > period)))?.at(0);
    const numberOf = (block: BeaconBlock | undefined) => {
      const number = block?.layerOne.header.number;
      const own = number === undefined ? undefined : layerOne.blockAt(number);
      return own !== undefined && isSame(own, block!.layerOne) ? number : undefined;
    };
    const time = timeOfSlot(this.network, period * this.slotsOfPeriod + OPENING_SLOTS - 1);
    const number = Math.min(Math.max(this.numberAt(time), numberOf(before) ?? 0), numberOf(after) ?? newest);
    return layerOne.blockAt(number)!;
  }

  /** The newest layer-1 block that is not later; the first one if all are. */
  private numberAt(time: number): number {
    const { layerOne } = this;
    let [low, high] = [0, layerOne.head.header.number];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (layerOne.blockAt(middle)!.header.timestamp <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private add(blocks: BeaconBlock[], slot: number, layerOne: Block): void {
    const block = makeBeaconBlock(this.network, slot, layerOne, blocks.at(-1));
    blocks.push(block);
    this.byRoot.set(bytesToHex(block.root), block);
  }

  private forgetOldest(): void {
    while (this.byRoot.size > MAX_BLOCKS) {
      const oldest = Math.min(...this.periods.keys());
      for (const { root } of this.periods.get(oldest)!) this.byRoot.delete(bytesToHex(root));
      this.periods.delete(oldest);
    }
  }
}

/** The blocks of layer 1. */
export interface LayerOneBlocks {
  readonly head: Block;
  blockAt(number: number): Block | undefined;
}

const isSame = (a: Block, b: Block) => equalBytes(a.hash, b.hash);

/** A block of the simulated beacon chain. */
export interface BeaconBlock {
  readonly slot: number;
  readonly header: LightClientHeader;
  /** The header as containers of Gloas have it. */
  upgraded(): GloasLightClientHeader;
  /** Root of the beacon header, 32 bytes. */
  readonly root: Uint8Array;
  /** The layer-1 block that it proves: that which it carries, from Gloas on that of the newest payload before it. */
  readonly layerOne: Block;
  /** The block before, which its state names as final. Undefined for the first one of a period. */
  readonly parent: BeaconBlock | undefined;
}

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
  const period = computeSyncCommitteePeriodAtSlot(network, slot);
  const indices = stateIndices(layoutAtSlot(network, BigInt(slot)));
  return new Map([
    [indices.currentSyncCommittee, simulatedCommittee(period).root],
    [indices.nextSyncCommittee, simulatedCommittee(period + 1).root],
    [indices.finalizedRoot, parent?.root ?? ZERO_WORD],
  ]);
}

/** The branch of a member of a block's state. */
export function stateBranch(
  network: BeaconNetwork,
  { slot, parent }: BeaconBlock,
  member: keyof StateIndices,
): Uint8Array[] {
  return branchAt(stateOf(network, slot, parent), stateIndices(layoutAtSlot(network, BigInt(slot)))[member]);
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
function payloadOf({ header, hash, transactions }: Block): ExecutionPayloadHeader {
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
  layerOne: Block,
  parent: BeaconBlock | undefined,
): BeaconBlock {
  const execution = payloadOf(layerOne);
  const layout = layoutAtSlot(network, BigInt(slot));
  const body = layout === 'gloas' ? bodyOfGloas(slot, layerOne) : bodyWithPayload(execution);
  const beacon = {
    slot: BigInt(slot),
    proposerIndex: 0n,
    parentRoot: parent?.root ?? ZERO_WORD,
    stateRoot: nodeAt(stateOf(network, slot, parent), 1),
    bodyRoot: nodeAt(body, 1),
  };
  const upgraded = (): GloasLightClientHeader => {
    const branch = branchAt(body, BLOCK_HASH_INDICES[layout]);
    const surplus = Array.from({ length: GLOAS_DEPTH - branch.length }, () => ZERO_WORD);
    return { beacon, executionBlockHash: layerOne.hash, executionBranch: [...surplus, ...branch] };
  };
  const own = () => ({ beacon, execution, executionBranch: branchAt(body, EXECUTION_INDEX) });
  const header = layout === 'gloas' ? upgraded() : own();
  return { slot, header, upgraded, root: beaconBlockHeader.hashTreeRoot(beacon), layerOne, parent };
}

/** Leaves of the tree of an execution header, which is in the body at `EXECUTION_INDEX`. */
const EXECUTION_LEAVES = 32;

/** A body up to Fulu. */
function bodyWithPayload(execution: ExecutionPayloadHeader): Leaves {
  const roots = denebExecutionHeader.memberRoots(execution);
  return new Map(
    Array.from({ length: EXECUTION_LEAVES }, (_, i) => [EXECUTION_INDEX * EXECUTION_LEAVES + i, roots[i] ?? ZERO_WORD]),
  );
}

/** A body of Gloas: the bid names the payload before it, and one of its own, which never comes. */
function bodyOfGloas(slot: number, layerOne: Block): Leaves {
  return new Map([
    [BLOCK_HASH_INDICES.gloas, layerOne.hash],
    [OWN_BLOCK_HASH_INDEX, digest(`plumbline simulated bid ${slot}`)],
  ]);
}

/** Siblings of the execution block hash in a header of Gloas. */
const GLOAS_DEPTH = 11;
/** Generalized index of `block_hash` of the bid in the body. @source docs/spec/glamsterdam.md 5 */
const OWN_BLOCK_HASH_INDEX = 22857;

/**
 * The beacon chain that a devnet of this profile simulates: its own, of the preset `minimal`, or the default one.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a beacon chain that cannot be simulated
 */
export function simulatedBeaconOf({ layerOne }: Pick<Network, 'layerOne'>): BeaconNetwork {
  const network = beaconNetworkOf(typeof layerOne === 'object' ? layerOne : 'simulated');
  if (network.preset !== 'minimal' || network.depositChainId !== L1_CHAIN_ID)
    throw invalidParameter(
      'network.layerOne',
      `of a devnet must have the preset 'minimal' and depositChainId ${L1_CHAIN_ID}; take beaconNetwork('simulated')`,
    );
  return network;
}

/** Validators of the simulated beacon chain. A power of two, at most 256. */
const VALIDATORS = 64;
const { G1 } = bls12_381;
const { Fr } = bls12_381.fields;

const digest = (text: string) => sha256(new TextEncoder().encode(text));

interface Validator {
  readonly secret: bigint;
  readonly point: InstanceType<typeof G1.Point>;
  readonly key: Uint8Array;
}

const validators = new Map<number, Validator>();

/** Keys are the same for all devnets, and public: they prove nothing outside of one. */
function validatorAt(index: number): Validator {
  const known = validators.get(index);
  if (known !== undefined) return known;
  const secret = Fr.create(bytesToBigInt(digest(`plumbline simulated validator ${index}`)));
  const point = G1.Point.BASE.multiply(secret);
  const validator = { secret, point, key: point.toBytes(true) };
  validators.set(index, validator);
  return validator;
}

/** Members of a period's committee: 32, drawn from the validators. One can be a member more than once. */
function membersOf(period: number): Validator[] {
  return [...digest(`plumbline simulated committee ${period}`)].map((byte) => validatorAt(byte % VALIDATORS));
}

/** The sync committee of a period, and its root. */
interface SimulatedCommittee {
  readonly committee: SyncCommittee;
  readonly root: Uint8Array;
}

const committeeType = syncCommittee(32);
/** Committees that were used last. */
const committees = new Map<number, SimulatedCommittee>();
const MAX_COMMITTEES = 16;

export function simulatedCommittee(period: number): SimulatedCommittee {
  const known = committees.get(period);
  if (known !== undefined) return known;
  const members = membersOf(period);
  const sum = members.reduce((point, member) => point.add(member.point), G1.Point.ZERO);
  const committee = { pubkeys: members.map(({ key }) => key), aggregatePubkey: sum.toBytes(true) };
  const made = { committee, root: committeeType.hashTreeRoot(committee) };
  for (const oldest of committees.keys()) if (committees.size >= MAX_COMMITTEES) committees.delete(oldest);
  committees.set(period, made);
  return made;
}

/**
 * The aggregate signature of members of a committee.
 *
 * @param bits - who signs: a bit for each member
 * @param message - signing root, 32 bytes
 * @returns 96 bytes
 */
export function signAsCommittee(period: number, bits: Uint8Array, message: Uint8Array): Uint8Array {
  const present = membersOf(period).filter((_, i) => isPresent(bits, i));
  const secret = present.reduce((sum, member) => Fr.add(sum, member.secret), 0n);
  return bls12_381.longSignatures.hash(message, DOMAIN_SEPARATION_TAG).multiplyUnsafe(secret).toBytes(true);
}
