import { PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { Block, IncludedTransaction, TransactionReceipt } from '../chain.js';

/** The sealed blocks of the devnet with their receipts, by number and by hash. */
export class Ledger {
  private readonly blocks: Block[] = [];
  private readonly byHash = new Map<string, Block>();
  private readonly receipts = new Map<string, TransactionReceipt>();

  append(block: Block, receipts: readonly TransactionReceipt[]): void {
    this.blocks.push(block);
    this.byHash.set(bytesToHex(block.hash), block);
    for (const receipt of receipts) this.receipts.set(bytesToHex(receipt.transaction.hash), receipt);
  }

  get head(): Block {
    return this.blocks[this.blocks.length - 1]!;
  }

  blockByNumber(number: number): Block | undefined {
    return this.blocks[number];
  }

  /** Hash of a block, for BLOCKHASH. */
  readonly blockHash = async (number: number): Promise<Uint8Array> => {
    const block = this.blocks[number];
    if (block === undefined)
      throw new PlumblineError('BLOCK_NOT_FOUND', `block ${number} is not held`, { block: String(number) });
    return block.hash;
  };

  blockByHash(hash: Uint8Array): Block | undefined {
    return this.byHash.get(bytesToHex(hash));
  }

  transaction(hash: Uint8Array): IncludedTransaction | undefined {
    return this.receipt(hash);
  }

  receipt(hash: Uint8Array): TransactionReceipt | undefined {
    return this.receipts.get(bytesToHex(hash));
  }
}
