import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { bytesToHex } from '../../../primitives/hex.js';
import type { Exclusion } from '../../chain.js';

/** Retention of the reference service (docs/spec/json-rpc.md 2.4). */
const KEPT_SECONDS = 7 * 24 * 3600;
/** When there are more, the oldest are removed. */
const MAX_KEPT = 1024;

/** Reasons why transactions were refused or left out of a block. */
export class Exclusions {
  private readonly byHash = new Map<string, Exclusion>();

  /** @param now - seconds */
  constructor(private readonly now: () => number) {}

  /** @param blockNumber - of the block that left it out; undefined if the pool refused it */
  record(transaction: SignedTransaction, reason: string, blockNumber?: number): void {
    const stage = blockNumber === undefined ? 'RPC' : 'SEQUENCER';
    const key = bytesToHex(transaction.hash);
    this.byHash.delete(key);
    this.byHash.set(key, { transaction, stage, reason, blockNumber, timestamp: this.now() });
    if (this.byHash.size > MAX_KEPT) this.byHash.delete(this.byHash.keys().next().value!);
  }

  /** @param hash - 32 bytes */
  find(hash: Uint8Array): Exclusion | undefined {
    const found = this.byHash.get(bytesToHex(hash));
    return found === undefined || found.timestamp < this.now() - KEPT_SECONDS ? undefined : found;
  }
}
