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
}

/** Finalizes blocks on the simulated layer 1 as the chain grows. */
export class Finality {
  private readonly delay: number;
  private readonly batch: number;
  private last = 0;

  constructor(
    private readonly layerOne: SimulatedL1,
    private readonly ledger: Ledger,
    private readonly state: WorldState,
    options: FinalityOptions = {},
  ) {
    this.delay = options.delayBlocks ?? 2;
    this.batch = options.batchBlocks ?? 1;
  }

  /** Newest finalized block. */
  get finalized(): Block {
    return this.ledger.blockByNumber(this.last)!;
  }

  /** Whether layer 1 holds a root of this block. */
  isProvable(number: number): boolean {
    return this.layerOne.stateRoot(number) !== undefined;
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
    }
  }
}
