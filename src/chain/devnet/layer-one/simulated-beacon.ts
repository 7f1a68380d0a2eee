import { type BeaconNetwork, periodAt, slotAtTime, timeOfSlot } from '../../../consensus/beacon-network.js';
import { beaconNetworkOf } from '../../../consensus/beacon-networks.js';
import {
  type LightClientBootstrap,
  type LightClientFinalityUpdate,
  type LightClientUpdate,
  signingRoot,
} from '../../../consensus/containers.js';
import { bytesToHex, type Hex } from '../../../primitives/hex.js';
import { type BeaconBlock, makeBeaconBlock, STATE_INDICES, stateBranch } from './beacon-block.js';
import { signAsCommittee, simulatedCommittee } from './beacon-committees.js';
import type { L1Block, SimulatedL1 } from './simulated-l1.js';

/** Blocks that are held, about 1 KB each. */
const MAX_BLOCKS = 2048;
/** The blocks of slots 0 and 1 of a period are made when this many of its slots have passed. */
const OPENING_SLOTS = 4;

/**
 * A beacon chain beside the simulated layer 1. It has blocks only where they are needed, made when it is asked:
 *
 * - The first two slots of each period have blocks, so that each period has an update, also when it is asked for hours later.
 *   They carry the newest layer-1 block of the period's fourth second. The first one names no parent.
 * - If layer 1 has a new block, or an epoch has passed, the two slots before the present one get blocks that carry it. The state
 *   of each block names its parent as final, so that the layer-1 block is final at once, unless these slots were given out
 *   already.
 * - A slot that was given out stays as it is, also if the devnet reverts; later blocks then carry an earlier layer-1 block.
 * - The first two blocks of a period follow from what a devnet stores. Other blocks of a devnet with a store have slots after
 *   its opening, so that a reopened devnet contradicts nothing.
 */
export class SimulatedBeacon {
  readonly network: BeaconNetwork = beaconNetworkOf('simulated');
  private readonly slotsOfPeriod = this.network.preset.slotsPerEpoch * this.network.preset.epochsPerPeriod;
  /** Blocks by period, in order; at least two of each. */
  private readonly periods = new Map<number, BeaconBlock[]>();
  private readonly byRoot = new Map<Hex, BeaconBlock>();
  private readonly signatures = new WeakMap<BeaconBlock, Uint8Array>();
  /** First slot whose block may depend on when it was asked for. */
  private readonly firstSlot: number;
  private latest = 0;

  /**
   * @param now - wall clock, seconds: clients compare slots with their own clocks, which do not follow the devnet's
   * @param openedAt - when the devnet was opened on a store, seconds
   */
  constructor(
    private readonly layerOne: Pick<SimulatedL1, 'head' | 'blocks'>,
    private readonly now: () => number,
    openedAt?: number,
  ) {
    this.firstSlot = openedAt === undefined ? 0 : slotAtTime(this.network, openedAt * 1000);
  }

  /** The newest block, made now where layer 1 has a new one. Its parent is final. Undefined before the second period. */
  newest(): BeaconBlock | undefined {
    const slot = this.signatureSlot();
    if (slot <= this.slotsOfPeriod) return undefined;
    const blocks = this.blocksOf(periodAt(this.network, slot - 1));
    const { head } = this.layerOne;
    const attested = blocks.at(-1)!;
    if (attested.parent!.layerOne !== head || attested.slot + this.network.preset.slotsPerEpoch < slot) {
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
    return this.periods.get(periodAt(this.network, slot))?.find((block) => block.slot === slot);
  }

  bootstrap(block: BeaconBlock): LightClientBootstrap {
    return {
      header: block.header,
      currentSyncCommittee: simulatedCommittee(periodAt(this.network, block.slot)).committee,
      currentSyncCommitteeBranch: stateBranch(this.network, block, STATE_INDICES.currentSyncCommittee),
    };
  }

  /** @param attested - a block with a parent */
  finalityUpdate(attested: BeaconBlock): LightClientFinalityUpdate {
    return {
      attestedHeader: attested.header,
      finalizedHeader: attested.parent!.header,
      finalityBranch: stateBranch(this.network, attested, STATE_INDICES.finalizedRoot),
      ...this.signed(attested),
    };
  }

  /** The update of a period from 1 to that of `newest`, which must have been called before. */
  update(period: number): LightClientUpdate {
    const attested = this.blocksOf(period)[1]!;
    return {
      ...this.finalityUpdate(attested),
      nextSyncCommittee: simulatedCommittee(period + 1).committee,
      nextSyncCommitteeBranch: stateBranch(this.network, attested, STATE_INDICES.nextSyncCommittee),
    };
  }

  /** The signature of the slot after the block. In every fourth slot, one member is absent. */
  private signed(attested: BeaconBlock) {
    const slot = attested.slot + 1;
    const bits = new Uint8Array(this.network.preset.committeeSize / 8).fill(0xff);
    if (slot % 4 === 0) bits[(slot >> 5) % bits.length]! ^= 1 << ((slot >> 2) % 8);
    let signature = this.signatures.get(attested);
    if (signature === undefined) {
      const message = signingRoot(this.network, attested.header.beacon, slot);
      signature = signAsCommittee(periodAt(this.network, slot), bits, message);
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
  private openingBlock(period: number): L1Block {
    const all = this.layerOne.blocks();
    const held = [...this.periods.keys()];
    const before = this.periods.get(Math.max(...held.filter((other) => other < period)))?.at(-1);
    const after = this.periods.get(Math.min(...held.filter((other) => other > period)))?.at(0);
    const indexOf = (block: BeaconBlock | undefined) =>
      block !== undefined && all[block.layerOne.number] === block.layerOne ? block.layerOne.number : undefined;
    const time = timeOfSlot(this.network, period * this.slotsOfPeriod + OPENING_SLOTS - 1);
    const byTime = all.findLastIndex(({ timestamp }) => timestamp <= time);
    return all[Math.min(Math.max(byTime, indexOf(before) ?? 0), indexOf(after) ?? all.length - 1)]!;
  }

  private add(blocks: BeaconBlock[], slot: number, layerOne: L1Block): void {
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
