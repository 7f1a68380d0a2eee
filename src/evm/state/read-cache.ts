import { bytesToKey } from '../../primitives/bytes.js';
import type { Account, StateReader } from './state-reader.js';

/**
 * A reader that reads each value from its base once. It is for one state, across the runs of a search: use one for each
 * block. A failed read is repeated.
 */
export class ReadCache implements StateReader {
  private readonly accounts = new Map<string, Promise<Account | undefined>>();
  private readonly slots = new Map<string, Promise<Uint8Array>>();
  private readonly codes = new Map<string, Promise<Uint8Array>>();

  constructor(private readonly base: StateReader) {}

  /** `base` itself if it reads each value once already. */
  static over(base: StateReader): ReadCache {
    return base instanceof ReadCache ? base : new ReadCache(base);
  }

  account(address: Uint8Array): Promise<Account | undefined> {
    return readOnce(this.accounts, bytesToKey(address), () => this.base.account(address));
  }

  slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    return readOnce(this.slots, bytesToKey(address) + bytesToKey(slot), () => this.base.slot(address, slot));
  }

  code(codeHash: Uint8Array): Promise<Uint8Array> {
    return readOnce(this.codes, bytesToKey(codeHash), () => this.base.code(codeHash));
  }
}

function readOnce<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  let pending = known.get(key);
  if (pending === undefined) {
    pending = read();
    known.set(key, pending);
    pending.catch(() => known.delete(key));
  }
  return pending;
}
