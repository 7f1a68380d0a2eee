import type { StateEdit } from '../../state-edits.js';
import type { FinalitySnapshot } from '../layer-one/finality.js';
import type { NextBlock } from '../options.js';
import type { ClockSnapshot } from './clock.js';
import type { PoolSnapshot } from './pool.js';

/** Everything that is needed to revert the devnet to an earlier moment. */
export interface Snapshot {
  readonly id: number;
  /** Newest block. */
  readonly block: number;
  readonly finality: FinalitySnapshot;
  readonly pool: PoolSnapshot;
  readonly clock: ClockSnapshot;
  readonly edits: readonly StateEdit[];
  readonly next: NextBlock;
}

/** Snapshots to revert to, oldest first. They last while the node is open. */
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

  /** Removes a snapshot and all later ones, whose blocks no longer exist. */
  removeFrom(id: number): void {
    const index = this.taken.findIndex((snapshot) => snapshot.id === id);
    if (index >= 0) this.taken.splice(index);
  }

  /** Removes the snapshots of blocks above this one. */
  removeAbove(block: number): void {
    const index = this.taken.findIndex((snapshot) => snapshot.block > block);
    if (index >= 0) this.taken.splice(index);
  }

  get list(): readonly Pick<Snapshot, 'id' | 'block'>[] {
    return this.taken;
  }

  /** Newest finalized block of the oldest snapshot; infinity if there is none. */
  get oldestFinalized(): number {
    return this.taken[0]?.finality.last ?? Number.POSITIVE_INFINITY;
  }

  /** Oldest block whose state a snapshot needs; undefined if there is none. */
  get oldestProvable(): number | undefined {
    return this.taken[0]?.finality.provable[0];
  }
}
