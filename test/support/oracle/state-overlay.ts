import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_CODE_HASH } from '../../../src/ethereum/constants.js';
import type { AccountChange } from '../../../src/evm/state-overlay.js';
import { type Account, ReadCache, type StateReader } from '../../../src/evm/state-reader.js';
import { bytesToKey, equalBytes, isZeroBytes, keyToBytes, padStart, ZERO_WORD } from '../../../src/primitives/bytes.js';

/** A point that `rollback` returns to. */
export interface RollbackPoint {
  readonly entries: number;
  readonly checkpoints: number;
}

const NO_CODE = new Uint8Array(0);

/**
 * Writable state over a reader. Reads are passed to the reader and cached; writes stay here, with a journal that can
 * undo them. `changes` returns the result.
 */
export class OracleOverlay implements StateReader {
  private readonly base: StateReader;
  private readonly accounts = new Map<string, Account | undefined>();
  private readonly storage = new Map<string, Map<string, Uint8Array>>();
  /** Accounts whose storage in the base no longer counts. */
  private readonly cleared = new Set<string>();
  private readonly destroyed = new Set<string>();
  private readonly codes = new Map<string, Uint8Array>();
  /** Values at the start of the transaction, of the slots it wrote (EIP-2200). */
  private readonly originals = new Map<string, Uint8Array>();
  private readonly journal: (() => void)[] = [];
  private readonly checkpoints: number[] = [];

  /** @param base - wrapped in a read cache, unless it is a cache or an overlay */
  constructor(base: StateReader) {
    this.base = base instanceof ReadCache || base instanceof OracleOverlay ? base : new ReadCache(base);
  }

  // Promises of the base are returned as they are: an async function would add three waits.
  account(address: Uint8Array): Promise<Account | undefined> {
    const key = bytesToKey(address);
    return this.accounts.has(key) ? Promise.resolve(this.accounts.get(key)) : this.base.account(address);
  }

  slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    const key = bytesToKey(address);
    const written = this.storage.get(key)?.get(bytesToKey(slot));
    if (written !== undefined) return Promise.resolve(written);
    return this.cleared.has(key) ? Promise.resolve(ZERO_WORD) : this.base.slot(address, slot);
  }

  code(codeHash: Uint8Array): Promise<Uint8Array> {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return Promise.resolve(NO_CODE);
    const added = this.codes.get(bytesToKey(codeHash));
    return added === undefined ? this.base.code(codeHash) : Promise.resolve(added);
  }

  /** Value of a slot at the start of the transaction. */
  originalSlot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    const original = this.originals.get(bytesToKey(address) + bytesToKey(slot));
    return original === undefined ? this.slot(address, slot) : Promise.resolve(original);
  }

  setAccount(address: Uint8Array, account: Account | undefined): void {
    this.put(this.accounts, bytesToKey(address), account);
  }

  /** @param value - up to 32 bytes, big-endian */
  async setSlot(address: Uint8Array, slot: Uint8Array, value: Uint8Array): Promise<void> {
    const [account, key] = [bytesToKey(address), bytesToKey(slot)];
    if (!this.originals.has(account + key)) this.originals.set(account + key, await this.slot(address, slot));
    let slots = this.storage.get(account);
    if (slots === undefined) {
      slots = new Map();
      this.put(this.storage, account, slots);
    }
    this.put(slots, key, padStart(value, 32));
  }

  /** Adds byte code. @returns its hash, 32 bytes */
  addCode(code: Uint8Array): Uint8Array {
    const hash = keccak_256(code);
    // Code by its hash stays true after a rollback, so it is not in the journal.
    this.codes.set(bytesToKey(hash), code);
    return hash;
  }

  /** Clears the storage of an account that is being created. */
  clearStorage(address: Uint8Array): void {
    const key = bytesToKey(address);
    this.add(this.cleared, key);
    if (this.storage.has(key)) this.put(this.storage, key, new Map());
  }

  /** Removes an account and its storage. */
  destroy(address: Uint8Array): void {
    this.clearStorage(address);
    this.add(this.destroyed, bytesToKey(address));
    this.setAccount(address, undefined);
  }

  /** Starts a transaction: original values are the current ones. */
  beginTransaction(): void {
    this.originals.clear();
  }

  rollbackPoint(): RollbackPoint {
    return { entries: this.journal.length, checkpoints: this.checkpoints.length };
  }

  /** Undoes all writes since `point`, and removes checkpoints since. */
  rollback(rollbackPoint: RollbackPoint): void {
    while (this.journal.length > rollbackPoint.entries) this.journal.pop()!();
    this.checkpoints.length = rollbackPoint.checkpoints;
    this.originals.clear();
  }

  checkpoint(): void {
    this.checkpoints.push(this.journal.length);
  }

  commit(): void {
    this.checkpoints.pop();
  }

  revert(): void {
    const entries = this.checkpoints.pop() ?? this.journal.length;
    while (this.journal.length > entries) this.journal.pop()!();
  }

  /**
   * The differences from the base, in the order in which accounts were first written. Unchanged accounts are not
   * listed, unless they were destroyed in between.
   */
  async changes(): Promise<AccountChange[]> {
    const found: AccountChange[] = [];
    for (const key of new Set([...this.accounts.keys(), ...this.storage.keys()])) {
      const address = keyToBytes(key);
      const before = await this.base.account(address);
      const after = this.accounts.has(key) ? this.accounts.get(key) : before;
      const destroyed = before !== undefined && this.destroyed.has(key);
      const slots: AccountChange['slots'][number][] = [];
      for (const [slot, value] of after === undefined ? [] : (this.storage.get(key) ?? [])) {
        const slotKey = keyToBytes(slot);
        const old = before === undefined ? ZERO_WORD : await this.base.slot(address, slotKey);
        const listed = destroyed ? !isZeroBytes(value) : !equalBytes(old, value);
        if (listed) slots.push({ key: slotKey, before: old, after: value });
      }
      const same = sameAccount(before, after);
      if (same && !destroyed && slots.length === 0) continue;
      const newCode =
        after !== undefined && !equalBytes(after.codeHash, before === undefined ? EMPTY_CODE_HASH : before.codeHash);
      found.push({
        address,
        before,
        after,
        destroyed,
        code: newCode ? await this.code(after.codeHash) : undefined,
        slots,
      });
    }
    return found;
  }

  private put<T>(map: Map<string, T>, key: string, value: T): void {
    const [had, old] = [map.has(key), map.get(key)];
    this.journal.push(() => (had ? map.set(key, old as T) : map.delete(key)));
    map.set(key, value);
  }

  private add(set: Set<string>, key: string): void {
    if (set.has(key)) return;
    this.journal.push(() => set.delete(key));
    set.add(key);
  }
}

function sameAccount(a: Account | undefined, b: Account | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.nonce === b.nonce && a.balance === b.balance && equalBytes(a.codeHash, b.codeHash);
}
