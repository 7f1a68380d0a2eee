import { invalidParameter } from '../../../errors.js';
import type { WorldState } from '../../../state/world-state.js';
import type { Block } from '../../chain.js';
import type { Ledger } from '../records/ledger.js';
import type { SimulatedL1 } from './simulated-l1.js';

/** When the devnet's blocks become final on its layer 1. */
export interface FinalityOptions {
  /** A block is finalized this many blocks later. Default 2. */
  readonly delayBlocks?: number;
  /** Blocks of one finalization; only its last one has a root on layer 1. Default 1. */
  readonly batchBlocks?: number;
  /**
   * How many finalizations back states stay provable, as the reference state manager keeps them. Default 128. A devnet that
   * is opened from its store begins to count at its checkpoint: the newest finalized block can be proved, and what is
   * finalized from then on.
   */
  readonly heldFinalizations?: number;
}

/** Where finality stands, to be gone back to. */
export interface FinalityMark {
  /** Newest finalized block. */
  readonly last: number;
  /** Blocks that can be proved, oldest first. */
  readonly provable: readonly number[];
  /** Newest block of layer 1. */
  readonly layerOneBlock: number;
}

/** Finalizes blocks on the simulated layer 1 as the chain grows. */
export class DevnetFinality {
  private readonly delay: number;
  private readonly batch: number;
  private readonly held: number;
  private last = 0;
  /** Blocks that can be proved, oldest first. */
  private provable = [0];
  private heldFrom = Number.POSITIVE_INFINITY;
  /** Blocks of layer 1 are made later. */
  isDeferring = false;

  constructor(
    private readonly layerOne: SimulatedL1,
    private readonly ledger: Ledger,
    private readonly state: Pick<WorldState, 'root' | 'releaseBefore'>,
    options: FinalityOptions = {},
  ) {
    this.delay = atLeast(0, 'delayBlocks', options.delayBlocks ?? 2);
    this.batch = atLeast(1, 'batchBlocks', options.batchBlocks ?? 1);
    this.held = atLeast(1, 'heldFinalizations', options.heldFinalizations ?? 128);
  }

  /** Newest finalized block. */
  get finalized(): Block {
    return this.ledger.blockByNumber(this.last)!;
  }

  /** Whether layer 1 holds a root of this block, and its state is still held. */
  isProvable(number: number): boolean {
    return number >= this.provable[0]! && this.layerOne.stateRoot(number) !== undefined;
  }

  /** Oldest block whose state is to be held. */
  get oldestHeld(): number {
    return Math.min(this.provable[0]!, this.heldFrom);
  }

  /** Keeps the states from a block on, whatever is finalized meanwhile; undefined ends that. */
  holdFrom(block: number | undefined): void {
    this.heldFrom = block ?? Number.POSITIVE_INFINITY;
  }

  mark(): FinalityMark {
    return { last: this.last, provable: [...this.provable], layerOneBlock: this.layerOne.head.header.number };
  }

  /** Goes back to a mark, with layer 1. The states of its provable blocks have been held since. */
  restore({ last, provable, layerOneBlock }: FinalityMark): void {
    this.layerOne.revertTo(layerOneBlock);
    this.last = last;
    this.provable = [...provable];
  }

  /** Called after each block: finalizes every whole batch that is old enough. */
  async advance(): Promise<void> {
    const head = this.ledger.tip.number;
    while (this.last + this.batch + this.delay <= head) await this.finalize(this.last + this.batch);
  }

  /** Called instead after a block that was final as it came: finalizes it, with all before it that are not yet. */
  async settle(): Promise<void> {
    const head = this.ledger.tip.number;
    if (this.last < head) await this.finalize(head);
  }

  private async finalize(end: number): Promise<void> {
    const finalization = {
      first: this.last + 1,
      last: end,
      parentRoot: this.state.root(this.last),
      finalRoot: this.state.root(end),
      timestamp: this.ledger.tip.timestamp,
    };
    if (this.isDeferring) this.layerOne.defer(finalization);
    else await this.layerOne.finalize(finalization);
    this.last = end;
    this.provable.push(end);
    if (this.provable.length > this.held) this.provable.shift();
    this.state.releaseBefore(this.oldestHeld);
    this.layerOne.releaseBefore(this.oldestHeld);
  }
}

function atLeast(least: number, name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw invalidParameter(`finality.${name}`, `must be an integer of at least ${least}`);
}
