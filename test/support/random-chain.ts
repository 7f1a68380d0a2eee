import { bigIntToBytes } from '../../src/primitives/bytes.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';

export const addressOf = (n: number) => bigIntToBytes(BigInt(n + 1) * 0x1234567n, 20);
export const wordOf = (n: number) => bigIntToBytes(BigInt(n), 32);

interface Account {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly slots: ReadonlyMap<number, number>;
}

export interface BlockShape {
  /** Accounts 0 to `accounts - 1` are touched, `touched` of them; every third never has storage. */
  readonly accounts: number;
  readonly touched: number;
  /** Slots 0 to `slots - 1` are touched, at most `writes` of an account. */
  readonly slots: number;
  readonly writes: number;
}

/** A chain of random blocks over a plain model of its accounts: made, changed, destroyed, recreated, with and without storage. */
export class RandomChain {
  private model = new Map<number, Account>();
  private readonly history: Map<number, Account>[] = [];

  constructor(private readonly random: (bound: number) => number) {}

  nextBlock({ accounts, touched, slots, writes }: BlockShape): ZkAccountChange[] {
    this.history.push(new Map(this.model));
    const names = new Set(Array.from({ length: touched }, () => this.random(accounts)));
    return [...names].map((n) => this.change(n, n % 3 === 0 ? 0 : slots, writes));
  }

  /** Forgets the newest `count` blocks. */
  revert(count: number): void {
    this.model = this.history.splice(-count)[0]!;
  }

  private change(n: number, slots: number, writes: number): ZkAccountChange {
    const { random } = this;
    const old = this.model.get(n);
    const gone = old !== undefined && random(6) === 0;
    const destroyed = gone || (old !== undefined && random(6) === 0);
    const before = old?.slots ?? new Map<number, number>();
    const after = new Map(destroyed ? [] : before);
    const keys =
      gone || slots === 0 ? [] : [...new Set(Array.from({ length: random(writes + 1) }, () => random(slots)))];
    for (const key of keys) {
      const value = random(4);
      if (value === 0) after.delete(key);
      else after.set(key, value);
    }
    // A destroyed account names the slots it loses.
    const touched = destroyed && !gone ? [...new Set([...before.keys(), ...keys])] : keys;
    const next = gone ? undefined : { nonce: (old?.nonce ?? 0n) + 1n, balance: BigInt(random(1000)), slots: after };
    if (next === undefined) this.model.delete(n);
    else this.model.set(n, next);
    return {
      address: addressOf(n),
      destroyed,
      ...(old && { before: { nonce: old.nonce, balance: old.balance } }),
      ...(next && { after: { nonce: next.nonce, balance: next.balance } }),
      slots: touched.map((key) => ({
        key: wordOf(key),
        before: wordOf(before.get(key) ?? 0),
        after: wordOf(after.get(key) ?? 0),
      })),
    };
  }
}
