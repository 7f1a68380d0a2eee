import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { Clock } from '../../../scheduling/clock.js';
import { Listeners } from '../../../scheduling/listeners.js';

/** How long a transaction counts as pending after it was sent, milliseconds. Dropped transactions are not reported. */
const PENDING_FOR_MS = 60_000;
/** Most sent transactions that are remembered; the oldest are dropped first. */
const MAX_SENT = 256;

/** Transactions that this node sent. The pools of other nodes are not known. */
export class SentTransactions {
  private readonly listeners = new Listeners<SignedTransaction>();
  /** Oldest first. */
  private sent: { readonly transaction: SignedTransaction; readonly at: number }[] = [];

  constructor(private readonly clock: Clock) {}

  add(transaction: SignedTransaction): void {
    this.sent = [...this.sent, { transaction, at: this.clock.now() }].slice(-MAX_SENT);
    this.listeners.notify(transaction);
  }

  /** Those of the last 60 seconds, ascending by nonce. Some may be in a block already. */
  recent(): readonly SignedTransaction[] {
    const now = this.clock.now();
    // A negative age means that the clock was set back and the real age is unknown.
    this.sent = this.sent.filter(({ at }) => now >= at && now - at <= PENDING_FOR_MS);
    const byNonce = (a: SignedTransaction, b: SignedTransaction) =>
      a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : 0;
    return this.sent.map(({ transaction }) => transaction).sort(byNonce);
  }

  /** @returns a function that removes the listener */
  onSent(listener: (transaction: SignedTransaction) => void): () => void {
    return this.listeners.add(listener);
  }
}
