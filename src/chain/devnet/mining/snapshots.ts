import type { FinalityMark } from '../layer-one/finality.js';
import type { NextBlock } from '../options.js';
import type { StateEdit } from '../records/edits.js';
import type { BlockClockMark } from './clock.js';
import type { PoolMark } from './pool.js';

/** All that is needed to come back to a moment of the devnet. */
export interface Snapshot {
  readonly id: number;
  /** Newest block. */
  readonly block: number;
  readonly finality: FinalityMark;
  readonly pool: PoolMark;
  readonly clock: BlockClockMark;
  readonly edits: readonly StateEdit[];
  readonly next: NextBlock;
}

/** Snapshots that can be gone back to, oldest first. They last as long as the node is open. */
export class Snapshots {
  private readonly taken: Snapshot[] = [];
  private lastId = 0;

  /** @returns its id, from 1 upwards */
  add(snapshot: Omit<Snapshot, 'id'>): number {
    this.taken.push({ ...snapshot, id: ++this.lastId });
    return this.lastId;
  }

  find(id: number): Snapshot | undefined {
    return this.taken.find((snapshot) => snapshot.id === id);
  }

  /** Lets go of a snapshot and of all that were taken after it: they are of a chain that is no more. */
  removeFrom(id: number): void {
    const index = this.taken.findIndex((snapshot) => snapshot.id === id);
    if (index >= 0) this.taken.splice(index);
  }

  /** Newest finalized block of the oldest snapshot; infinite without one. */
  get oldestFinalized(): number {
    return this.taken[0]?.finality.last ?? Number.POSITIVE_INFINITY;
  }

  /** Oldest block that a snapshot needs the state of; undefined without one. */
  get oldestProvable(): number | undefined {
    return this.taken[0]?.finality.provable[0];
  }
}
