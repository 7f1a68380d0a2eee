import type { Block, TransactionReceipt } from '../../block.js';

/** A block with its receipts. */
export interface HeldBlock {
  readonly block: Block;
  readonly receipts: readonly TransactionReceipt[];
  readonly transactionCount: number;
}

/** Blocks by number, with the count of blocks and transactions. */
export class HeldBlocks {
  private readonly blocks = new Map<number, HeldBlock>();
  items = 0;

  get size(): number {
    return this.blocks.size;
  }

  /** Number of the block that was added first. */
  get oldest(): number {
    return this.blocks.keys().next().value!;
  }

  get(number: number): HeldBlock | undefined {
    return this.blocks.get(number);
  }

  set(number: number, held: HeldBlock): void {
    this.blocks.set(number, held);
    this.items += 1 + held.transactionCount;
  }

  delete(number: number): void {
    const held = this.blocks.get(number);
    if (held === undefined) return;
    this.blocks.delete(number);
    this.items -= 1 + held.transactionCount;
  }
}
