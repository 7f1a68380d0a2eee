import { PlumblineError } from '../../errors.js';
import type { WorldState } from '../../state/world-state.js';
import type { Block } from '../chain.js';
import type { SimulatedL1 } from './layer-one/simulated-l1.js';
import type { Ledger } from './ledger.js';

/** When the devnet's blocks become final on its layer 1. */
export interface FinalityOptions {
  /** A block is finalized this many blocks later. Default 2. */
  readonly delayBlocks?: number;
  /** Blocks of one finalization; only its last one has a root on layer 1. Default 1. */
  readonly batchBlocks?: number;
  /** How many finalizations back states stay provable, as the reference state manager keeps them. Default 128. */
  readonly heldFinalizations?: number;
}

/** Finalizes blocks on the simulated layer 1 as the chain grows. */
export class Finality {
  private readonly delay: number;
  private readonly batch: number;
  private readonly held: number;
  private last = 0;
  /** Blocks that can be proved, oldest first. */
  private readonly provable = [0];

  constructor(
    private readonly layerOne: SimulatedL1,
    private readonly ledger: Ledger,
    private readonly state: WorldState,
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

  /** Called after each block: finalizes every whole batch that is old enough. */
  async advance(): Promise<void> {
    const head = this.ledger.head.header;
    while (this.last + this.batch + this.delay <= head.number) {
      const first = this.last + 1;
      const end = this.last + this.batch;
      await this.layerOne.finalize({
        first,
        last: end,
        parentRoot: this.state.root(this.last),
        finalRoot: this.state.root(end),
        timestamp: head.timestamp,
      });
      this.last = end;
      this.provable.push(end);
      if (this.provable.length > this.held) this.provable.shift();
      this.state.releaseBefore(this.provable[0]!);
    }
  }
}

function atLeast(least: number, name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  const reason = `is not an integer of at least ${least}`;
  throw new PlumblineError('INVALID_PARAMETER', `finality.${name} ${reason}`, {
    parameter: `finality.${name}`,
    reason,
  });
}
