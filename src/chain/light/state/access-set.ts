import { bytesToBigInt, bytesToKey, copyBytes, isZeroBytes, ZERO_ADDRESS } from '../../../primitives/bytes.js';
import type { CallRequest } from '../../../primitives/call-request.js';

/** Accesses to one account: its slots, 32 bytes each, and whether its code is read. */
export interface AccountAccess {
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly slots: ReadonlyMap<string, Uint8Array>;
  readonly code: boolean;
}

interface MutableAccess extends AccountAccess {
  readonly slots: Map<string, Uint8Array>;
  code: boolean;
}

/** Accounts, slots and code that an execution reads. Each is listed once, in the order in which it was first added. */
export class AccessSet {
  private readonly accounts = new Map<string, MutableAccess>();

  /** Number of accounts and slots. */
  get size(): number {
    let size = this.accounts.size;
    for (const { slots } of this.accounts.values()) size += slots.size;
    return size;
  }

  /** The slots of an account, by `bytesToKey`; undefined if it is not in the set. */
  slotsOf(address: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined {
    return this.accounts.get(bytesToKey(address))?.slots;
  }

  get isEmpty(): boolean {
    return this.accounts.size === 0;
  }

  addAccount(address: Uint8Array, code = false): this {
    const access = this.of(address);
    access.code ||= code;
    return this;
  }

  addSlot(address: Uint8Array, slot: Uint8Array): this {
    this.of(address).slots.set(bytesToKey(slot), slot);
    return this;
  }

  /** @param limit - largest number of accounts and slots in this set; the rest of `others` is left out */
  addAll(others: AccessSet, limit = Number.POSITIVE_INFINITY): this {
    for (const { address, slots, code } of others) {
      if (this.size >= limit) break;
      this.addAccount(address, code);
      for (const slot of slots.values()) if (this.size < limit) this.addSlot(address, slot);
    }
    return this;
  }

  [Symbol.iterator](): IterableIterator<AccountAccess> {
    return this.accounts.values();
  }

  private of(address: Uint8Array): MutableAccess {
    const key = bytesToKey(address);
    let access = this.accounts.get(key);
    if (access === undefined) {
      access = { address, slots: new Map(), code: false };
      this.accounts.set(key, access);
    }
    return access;
  }
}

/** Most accounts taken from calldata. */
const MAX_IN_CALLDATA = 8;
/** Words below this are taken for numbers, not for addresses. */
const LEAST_ADDRESS = 1n << 64n;
const WORD = 32;
const SELECTOR = 4;

/** Accounts that every execution of the call reads. @param coinbase - of the block it runs in, 20 bytes */
export function certainAccesses(call: CallRequest, coinbase: Uint8Array = ZERO_ADDRESS): AccessSet {
  const accesses = new AccessSet().addAccount(call.from ?? ZERO_ADDRESS).addAccount(coinbase);
  if (call.to !== undefined) accesses.addAccount(call.to, true);
  for (const { address, storageKeys } of call.accessList ?? []) {
    accesses.addAccount(address, true);
    for (const key of storageKeys) accesses.addSlot(address, key);
  }
  return accesses;
}

/** Accounts whose addresses the calldata seems to contain. It is a guess: a wrong one costs bytes and nothing else. */
export function calldataAccesses({ data }: CallRequest): AccessSet {
  const accesses = new AccessSet();
  if (data === undefined) return accesses;
  let found = 0;
  for (let at = SELECTOR; at + WORD <= data.length && found < MAX_IN_CALLDATA; at += WORD) {
    const address = data.subarray(at + 12, at + WORD);
    if (!isZeroBytes(data.subarray(at, at + 12)) || bytesToBigInt(address) < LEAST_ADDRESS) continue;
    accesses.addAccount(copyBytes(address), true);
    found++;
  }
  return accesses;
}
