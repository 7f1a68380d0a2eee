import type { CountedModule } from '../../networks/module-limits.js';

/** Lines of each module that one run came to; a module that is left out has none. */
export type ModuleCounts = Readonly<Partial<Record<CountedModule, number>>>;

const KECCAK_BLOCK_BYTES = 136;
const SHA2_BLOCK_BYTES = 64;
/** A set bit, then the length in 64 bits. */
const SHA2_PADDING_BYTES = 9;

/** Blocks of 1088 bits that hold so many bytes. */
export function keccakBlocks(bytes: number): number {
  return Math.ceil(bytes / KECCAK_BLOCK_BYTES);
}

/** Blocks of 512 bits that SHA-256 and RIPEMD-160 make of so many bytes. */
export function sha2Blocks(bytes: number): number {
  return Math.ceil((bytes + SHA2_PADDING_BYTES) / SHA2_BLOCK_BYTES);
}

/**
 * Counts what one run does, whether or not the part of it that did so was taken back afterwards: the prover carries
 * both.
 */
export class RunCounts {
  private readonly lines = new Map<CountedModule, number>();

  add(module: CountedModule, lines = 1): void {
    if (lines > 0) this.lines.set(module, (this.lines.get(module) ?? 0) + lines);
  }

  read(): ModuleCounts {
    return Object.fromEntries(this.lines);
  }
}
