import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { Clock } from '../../../scheduling/clock.js';

/** For how long one is taken to wait, milliseconds: blocks come by the second, and what was left out is not told. */
const WAITING_MS = 60_000;
/** Transactions that are remembered; those sent first go first. */
const MOST = 256;

/** What was sent from here lately and may wait in a pool; of what others send nothing is known. */
export class SentTransactions {
  private sent: { readonly transaction: SignedTransaction; readonly at: number }[] = [];

  constructor(private readonly clock: Clock) {}

  note(transaction: SignedTransaction): void {
    this.sent = [...this.sent, { transaction, at: this.clock.now() }].slice(-MOST);
  }

  /** Those that may wait, a sender's in the order of their nonces. Some of them may be in a block already. */
  get waiting(): readonly SignedTransaction[] {
    const now = this.clock.now();
    // Below zero the clock was set back, and nobody knows how long ago it was.
    this.sent = this.sent.filter(({ at }) => now >= at && now - at <= WAITING_MS);
    const ascending = (a: SignedTransaction, b: SignedTransaction) =>
      a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : 0;
    return this.sent.map(({ transaction }) => transaction).sort(ascending);
  }
}
