import { PlumblineError } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { PRICE_BUMP } from '../../admission.js';

/** Maximum number of pending transactions. */
const POOL_LIMIT = 4096;

interface PoolEntry {
  readonly transaction: SignedTransaction;
  /** Ascending order of arrival. A replacement keeps the number of the transaction it replaces. */
  readonly arrival: number;
}

/** Contents of the pool, for a snapshot. */
export type PoolSnapshot = readonly PoolEntry[];

/** Nonce of an account after the newest block. @param sender - 20 bytes */
export type NonceOf = (sender: Uint8Array) => Promise<bigint>;

/** Pending transactions, at most one for each nonce of a sender. Those behind a missing nonce wait until it arrives. */
export class Pool {
  private readonly bySender = new Map<string, Map<bigint, PoolEntry>>();
  private readonly byHash = new Map<string, PoolEntry>();
  private arrivals = 0;

  /**
   * @throws PlumblineError `TRANSACTION_REJECTED`, rule `underpriced` for a replacement that does not pay 10 % more, or
   *   `pool-full`
   */
  add(transaction: SignedTransaction): void {
    const held = this.replaced(transaction);
    if (held === undefined && this.byHash.size >= POOL_LIMIT) {
      const reason = `Transaction pool is full: ${POOL_LIMIT} transactions are pending. Mine a block first`;
      throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'pool-full', reason });
    }
    if (held !== undefined) this.delete(held);
    this.insert({ transaction, arrival: held?.arrival ?? this.arrivals++ });
  }

  has(hash: Uint8Array): boolean {
    return this.byHash.has(bytesToHex(hash));
  }

  /** @returns whether it was there */
  remove(hash: Uint8Array): boolean {
    const entry = this.byHash.get(bytesToHex(hash));
    if (entry !== undefined) this.delete(entry);
    return entry !== undefined;
  }

  clear(): void {
    this.bySender.clear();
    this.byHash.clear();
  }

  /** The first nonce from `nonce` on that no transaction of `sender` uses. */
  nextNonce(sender: Uint8Array, nonce: bigint): bigint {
    const own = this.bySender.get(bytesToHex(sender));
    let next = nonce;
    while (own?.has(next)) next++;
    return next;
  }

  /**
   * Transactions that the next block can hold: for each sender, consecutive nonces from the account's nonce on. In
   * order of arrival, as far as nonces allow.
   */
  async ready(nonceOf: NonceOf): Promise<SignedTransaction[]> {
    const runs: { transaction: SignedTransaction; at: number }[] = [];
    for (const own of this.bySender.values()) {
      const [first] = own.values();
      let nonce = await nonceOf(first!.transaction.from);
      let at = 0;
      for (let next = own.get(nonce); next !== undefined; next = own.get(++nonce)) {
        at = Math.max(at, next.arrival);
        runs.push({ transaction: next.transaction, at });
      }
    }
    return runs
      .sort((a, b) => a.at - b.at || Number(a.transaction.nonce - b.transaction.nonce))
      .map(({ transaction }) => transaction);
  }

  /** Removes transactions whose nonce is used up; they can never run. */
  async prune(nonceOf: NonceOf): Promise<void> {
    for (const own of [...this.bySender.values()]) {
      const [first] = own.values();
      const nonce = await nonceOf(first!.transaction.from);
      for (const entry of [...own.values()]) if (entry.transaction.nonce < nonce) this.delete(entry);
    }
  }

  /** All transactions: senders in order of arrival, each sender's by nonce. */
  get transactions(): readonly SignedTransaction[] {
    return [...this.bySender.values()].flatMap((own) =>
      [...own.values()]
        .map(({ transaction }) => transaction)
        .sort((a, b) => (a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : 0)),
    );
  }

  snapshot(): PoolSnapshot {
    return [...this.byHash.values()];
  }

  restore(snapshot: PoolSnapshot): void {
    this.clear();
    for (const entry of snapshot) this.insert(entry);
  }

  private replaced({ from, nonce, ...offer }: SignedTransaction): PoolEntry | undefined {
    const held = this.bySender.get(bytesToHex(from))?.get(nonce);
    if (held === undefined) return undefined;
    if (raisesPrice(held.transaction, offer, cap) && raisesPrice(held.transaction, offer, tip)) return held;
    const reason = `Replacement transaction underpriced: raise its prices by at least ${PRICE_BUMP} %`;
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'underpriced', reason });
  }

  private insert(entry: PoolEntry): void {
    const { from, nonce, hash } = entry.transaction;
    const sender = bytesToHex(from);
    let own = this.bySender.get(sender);
    if (own === undefined) {
      own = new Map();
      this.bySender.set(sender, own);
    }
    own.set(nonce, entry);
    this.byHash.set(bytesToHex(hash), entry);
  }

  private delete({ transaction }: PoolEntry): void {
    const sender = bytesToHex(transaction.from);
    const own = this.bySender.get(sender);
    own?.delete(transaction.nonce);
    if (own?.size === 0) this.bySender.delete(sender);
    this.byHash.delete(bytesToHex(transaction.hash));
  }
}

type Offer = Pick<SignedTransaction, 'gasPrice' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>;

const cap = ({ gasPrice, maxFeePerGas }: Offer) => gasPrice ?? maxFeePerGas ?? 0n;
const tip = ({ gasPrice, maxPriorityFeePerGas }: Offer) => gasPrice ?? maxPriorityFeePerGas ?? 0n;

function raisesPrice(held: Offer, offer: Offer, price: (offer: Offer) => bigint): boolean {
  return price(offer) * 100n >= price(held) * (100n + PRICE_BUMP);
}
