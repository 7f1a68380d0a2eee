import { PlumblineError } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { bytesToHex } from '../../../primitives/hex.js';

/** Most transactions that wait at one time. */
const POOL_LIMIT = 4096;
/** A replacement has to pay so many per cent more. @source docs/spec/fees.md 7, defaults of the pool */
const PRICE_BUMP = 10n;

interface Waiting {
  readonly transaction: SignedTransaction;
  /** Ascends with each transaction that is let in; a replacement takes the place of what it replaces. */
  readonly arrival: number;
}

/** What waits, to be put back. */
export type PoolMark = readonly Waiting[];

/** Nonce of an account after the newest block. @param sender - 20 bytes */
export type NonceOf = (sender: Uint8Array) => Promise<bigint>;

/** Transactions that wait for a block: at most one for each nonce of a sender. Above a gap they wait for it to close. */
export class Pool {
  private readonly bySender = new Map<string, Map<bigint, Waiting>>();
  private readonly byHash = new Map<string, Waiting>();
  private arrivals = 0;

  /**
   * @throws PlumblineError `TRANSACTION_REJECTED`, rule `underpriced` for one that has the nonce of another and does not
   *   pay 10 % more, `pool-full`
   */
  add(transaction: SignedTransaction): void {
    const held = this.replaced(transaction);
    if (held === undefined && this.byHash.size >= POOL_LIMIT) {
      const reason = `Transaction pool is full, ${POOL_LIMIT} transactions wait`;
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
    const waiting = this.byHash.get(bytesToHex(hash));
    if (waiting !== undefined) this.delete(waiting);
    return waiting !== undefined;
  }

  clear(): void {
    this.bySender.clear();
    this.byHash.clear();
  }

  /** The first nonce from `nonce` on that no transaction of `sender` has. */
  nextNonce(sender: Uint8Array, nonce: bigint): bigint {
    const own = this.bySender.get(bytesToHex(sender));
    let next = nonce;
    while (own?.has(next)) next++;
    return next;
  }

  /**
   * What the next block can carry: for each sender the nonces from the account's on without a gap. In the order of
   * arrival, as far as nonces allow.
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

  /** Drops what can never run any more, because its nonce is used. */
  async prune(nonceOf: NonceOf): Promise<void> {
    for (const own of [...this.bySender.values()]) {
      const [first] = own.values();
      const nonce = await nonceOf(first!.transaction.from);
      for (const waiting of [...own.values()]) if (waiting.transaction.nonce < nonce) this.delete(waiting);
    }
  }

  /** What waits: senders in the order they came, their transactions in the order of their nonces. */
  get transactions(): readonly SignedTransaction[] {
    return [...this.bySender.values()].flatMap((own) =>
      [...own.values()]
        .map(({ transaction }) => transaction)
        .sort((a, b) => (a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : 0)),
    );
  }

  mark(): PoolMark {
    return [...this.byHash.values()];
  }

  restore(mark: PoolMark): void {
    this.clear();
    for (const waiting of mark) this.insert(waiting);
  }

  private replaced({ from, nonce, ...offer }: SignedTransaction): Waiting | undefined {
    const held = this.bySender.get(bytesToHex(from))?.get(nonce);
    if (held === undefined) return undefined;
    if (bumped(held.transaction, offer, cap) && bumped(held.transaction, offer, tip)) return held;
    const reason = `Replacement transaction underpriced, it has to pay ${PRICE_BUMP} % more`;
    throw new PlumblineError('TRANSACTION_REJECTED', reason, { rule: 'underpriced', reason });
  }

  private insert(waiting: Waiting): void {
    const { from, nonce, hash } = waiting.transaction;
    const sender = bytesToHex(from);
    let own = this.bySender.get(sender);
    if (own === undefined) {
      own = new Map();
      this.bySender.set(sender, own);
    }
    own.set(nonce, waiting);
    this.byHash.set(bytesToHex(hash), waiting);
  }

  private delete({ transaction }: Waiting): void {
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

function bumped(held: Offer, offer: Offer, price: (offer: Offer) => bigint): boolean {
  return price(offer) * 100n >= price(held) * (100n + PRICE_BUMP);
}
