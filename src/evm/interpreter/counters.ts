import type { CountedModule } from '../../networks/module-limits.js';

/** Lines per module of one run. Modules without lines are left out. */
export type ModuleCounts = Readonly<Partial<Record<CountedModule, number>>>;

const KECCAK_BLOCK_BYTES = 136;
const SHA2_BLOCK_BYTES = 64;
/** One set bit, then the length as 64 bits. */
const SHA2_PADDING_BYTES = 9;

/** Number of 1088-bit blocks for this many bytes. */
export function keccakBlocks(bytes: number): number {
  return Math.ceil(bytes / KECCAK_BLOCK_BYTES);
}

/** Number of 512-bit blocks in SHA-256 and RIPEMD-160 for this many bytes. */
export function sha2Blocks(bytes: number): number {
  return Math.ceil((bytes + SHA2_PADDING_BYTES) / SHA2_BLOCK_BYTES);
}

/** Counts what one run does. Reverted work counts too: the prover must prove it. */
export class RunCounts {
  private readonly lines = new Map<CountedModule, number>();

  add(module: CountedModule, lines = 1): void {
    if (lines > 0) this.lines.set(module, (this.lines.get(module) ?? 0) + lines);
  }

  read(): ModuleCounts {
    return Object.fromEntries(this.lines);
  }
}
