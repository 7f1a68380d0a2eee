import type { CountedModule } from '../networks/module-limits.js';

/** Lines per module of one run. Modules without lines are left out. */
export type ModuleCounts = Readonly<Partial<Record<CountedModule, number>>>;

const KECCAK_BLOCK_BYTES = 136;

/** Number of 1088-bit blocks for this many bytes. */
export function keccakBlocks(bytes: number): number {
  return Math.ceil(bytes / KECCAK_BLOCK_BYTES);
}

/** Counts what one run does. Reverted work counts too: the prover must prove it. */
export class RunCounts {
  private readonly lines: Partial<Record<CountedModule, number>> = {};

  add(module: CountedModule, lines = 1): void {
    if (lines > 0) this.lines[module] = (this.lines[module] ?? 0) + lines;
  }

  /** What was counted until now. */
  read(): ModuleCounts {
    return this.lines;
  }
}
