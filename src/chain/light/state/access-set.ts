import { bytesToKey } from '../../../primitives/bytes.js';

/** One account that is asked for: its slots of 32 bytes, and whether its code is. */
export interface Want {
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly slots: ReadonlyMap<string, Uint8Array>;
  readonly code: boolean;
}

interface OpenWant extends Want {
  readonly slots: Map<string, Uint8Array>;
  code: boolean;
}

/** Accounts, slots and code of a state that somebody wants, each once, in the order in which they were first named. */
export class Wants {
  private readonly accounts = new Map<string, OpenWant>();

  /** Number of accounts and slots. */
  get size(): number {
    let size = this.accounts.size;
    for (const { slots } of this.accounts.values()) size += slots.size;
    return size;
  }

  get isEmpty(): boolean {
    return this.accounts.size === 0;
  }

  account(address: Uint8Array, code = false): this {
    const want = this.of(address);
    want.code ||= code;
    return this;
  }

  slot(address: Uint8Array, slot: Uint8Array): this {
    this.of(address).slots.set(bytesToKey(slot), slot);
    return this;
  }

  /** @param limit - accounts and slots that this may come to; what goes beyond is left out */
  add(others: Wants, limit = Number.POSITIVE_INFINITY): this {
    for (const { address, slots, code } of others) {
      if (this.size >= limit) break;
      this.account(address, code);
      for (const slot of slots.values()) if (this.size < limit) this.slot(address, slot);
    }
    return this;
  }

  [Symbol.iterator](): IterableIterator<Want> {
    return this.accounts.values();
  }

  private of(address: Uint8Array): OpenWant {
    const key = bytesToKey(address);
    let want = this.accounts.get(key);
    if (want === undefined) {
      want = { address, slots: new Map(), code: false };
      this.accounts.set(key, want);
    }
    return want;
  }
}
