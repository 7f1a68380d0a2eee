import { type Digits, ZERO } from '../reference/zk-hash.js';
import type { PlainAccount, PlainAccounts } from '../reference/zk-state.js';
import {
  type Action,
  address,
  childOf,
  FACTORY,
  genesisAccounts,
  type Kind,
  LEAVE,
  type PlayFork,
  REGISTER,
  type Write,
} from './zk-actions.js';

/** What the transactions of `zk-actions.ts` do to accounts by the rules of the EVM, each written out for itself. */
export class PlainChain {
  accounts: Map<Digits, PlainAccount>;
  /** Accounts of the block's start that were destroyed since. */
  destroyed = new Set<Digits>();
  private atStart: PlainAccounts;

  constructor(private readonly fork: PlayFork) {
    this.accounts = genesisAccounts();
    this.atStart = this.accounts;
  }

  startBlock(): void {
    this.accounts = new Map(this.accounts);
    this.atStart = new Map(this.accounts);
    this.destroyed = new Set();
  }

  /**
   * Applies one transaction.
   *
   * @param fee - wei that the sender pays for gas
   * @param tip - wei of that for `coinbase`
   * @returns whether it succeeds
   */
  run({ sender, value, delegations, call }: Action, coinbase: Digits, fee: bigint, tip: bigint): boolean {
    this.set(sender, { nonce: this.get(sender).nonce + 1n });
    for (const { authority, to, nonce } of delegations) {
      const { nonce: now, code } = this.get(authority);
      if (now !== nonce || !(code === '' || code.startsWith('ef0100'))) continue;
      this.set(authority, { nonce: now + 1n, code: to === address(0) ? '' : `ef0100${to}` });
    }
    const done = 'made' in call ? this.make(sender, value, call) : this.call(sender, value, call.to, call.writes);
    this.pay(sender, -fee);
    this.pay(coinbase, tip);
    return done;
  }

  private make(
    sender: Digits,
    value: bigint,
    { salt, made, leaves }: Extract<Action['call'], { made: Kind }>,
  ): boolean {
    const child = childOf(salt, made);
    const { nonce, code, balance } = this.get(child);
    if (nonce !== 0n || code !== '') return false;
    this.set(FACTORY, { nonce: this.get(FACTORY).nonce + 1n });
    this.pay(sender, -value);
    if (leaves && made.code !== '') {
      // Created and destroyed by one transaction: it is gone under every fork, and the sender has the money.
      this.remove(child);
      this.pay(sender, balance + value);
      return true;
    }
    this.set(child, { nonce: 1n, balance: balance + value, code: made.code, slots: new Map(made.slots) });
    return true;
  }

  private call(sender: Digits, value: bigint, to: Digits, writes: readonly Write[]): boolean {
    this.pay(sender, -value);
    this.pay(to, value);
    const { code } = this.get(to);
    const program = code.startsWith('ef0100') ? this.get(code.slice(6)).code : code;
    if (!program.startsWith(REGISTER)) return true;
    for (const [key, written] of writes) {
      if (key === LEAVE) this.leave(to, written.slice(24));
      else this.write(to, key, written);
    }
    return true;
  }

  private leave(from: Digits, heir: Digits): void {
    const { balance } = this.get(from);
    const ends = this.fork === 'shanghai';
    if (ends) {
      if (heir !== from) this.pay(heir, balance);
      this.remove(from);
    } else if (heir !== from) {
      this.set(from, { balance: 0n });
      this.pay(heir, balance);
    }
  }

  private remove(at: Digits): void {
    this.accounts.delete(at);
    if (this.atStart.has(at)) this.destroyed.add(at);
  }

  private write(at: Digits, key: Digits, value: Digits): void {
    const slots = new Map(this.get(at).slots);
    if (value === ZERO) slots.delete(key);
    else slots.set(key, value);
    this.set(at, { slots });
  }

  private get(at: Digits): PlainAccount {
    return this.accounts.get(at) ?? { nonce: 0n, balance: 0n, code: '', slots: new Map() };
  }

  private set(at: Digits, fields: Partial<PlainAccount>): void {
    this.accounts.set(at, { ...this.get(at), ...fields });
  }

  /** Nothing happens for an amount of zero: no account is made for it. */
  private pay(to: Digits, amount: bigint): void {
    if (amount !== 0n) this.set(to, { balance: this.get(to).balance + amount });
  }
}
