import type { SignedTransaction } from '../../ethereum/transaction.js';
import { bytesToHex } from '../../primitives/hex.js';

/** Transactions that wait for a block, in the order they came; a sender's nonces follow one another. */
export class Pool {
  private readonly waiting: SignedTransaction[] = [];

  add(transaction: SignedTransaction): void {
    this.waiting.push(transaction);
  }

  /** How many transactions of `sender` wait: their nonces follow the account's. */
  countOf(sender: Uint8Array): number {
    const from = bytesToHex(sender);
    return this.waiting.filter((transaction) => bytesToHex(transaction.from) === from).length;
  }

  has(hash: Uint8Array): boolean {
    const wanted = bytesToHex(hash);
    return this.waiting.some((transaction) => bytesToHex(transaction.hash) === wanted);
  }

  /** Takes everything out. */
  drain(): SignedTransaction[] {
    return this.waiting.splice(0);
  }

  get size(): number {
    return this.waiting.length;
  }
}
