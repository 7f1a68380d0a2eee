import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import type { TrieWrite } from '../ethereum/state-trie.js';
import type { EvmChange } from '../kernel/evm.js';
import { keccak256 } from '../kernel/keccak.js';
import { bytesToKey, equalBytes, isZeroBytes, keyToBytes, padStart, ZERO_WORD } from '../primitives/bytes.js';
import { type Account, ReadCache, type StateReader } from './state-reader.js';

/** Change of one account by execution. */
export interface AccountChange {
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly before: Account | undefined;
  readonly after: Account | undefined;
  /** The account existed before and was destroyed at some point. Slots that are not listed were then removed too. */
  readonly destroyed: boolean;
  /** Byte code, if `after` has another code than `before`. */
  readonly code: Uint8Array | undefined;
  /** Slots whose value changed; 32 bytes each, zero means empty. */
  readonly slots: readonly { readonly key: Uint8Array; readonly before: Uint8Array; readonly after: Uint8Array }[];
}

const NO_CODE = new Uint8Array(0);

/** Writable state over a reader. Reads are passed to the reader and cached; writes stay here. `changes` returns them. */
export class StateOverlay implements StateReader {
  private readonly base: StateReader;
  private readonly accounts = new Map<string, Account | undefined>();
  private readonly storage = new Map<string, Map<string, Uint8Array>>();
  /** Accounts whose storage in the base no longer counts. */
  private readonly cleared = new Set<string>();
  private readonly destroyed = new Set<string>();
  private readonly codes = new Map<string, Uint8Array>();
  private writes = 0;

  /** @param base - wrapped in a read cache, unless it is a cache or an overlay */
  constructor(base: StateReader) {
    this.base = base instanceof ReadCache || base instanceof StateOverlay ? base : new ReadCache(base);
  }

  /** The fixed state that is read here as long as nothing is written, if there is one. */
  get source(): StateReader | undefined {
    const base = this.base instanceof ReadCache ? this.base.base : this.base;
    return base.isFixed === true ? base : undefined;
  }

  /** Another number after each write. */
  get version(): number {
    return this.writes;
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

  setAccount(address: Uint8Array, account: Account | undefined): void {
    this.writes++;
    this.accounts.set(bytesToKey(address), account);
  }

  /** @param value - up to 32 bytes, big-endian */
  setSlot(address: Uint8Array, slot: Uint8Array, value: Uint8Array): void {
    this.writes++;
    const key = bytesToKey(address);
    let slots = this.storage.get(key);
    if (slots === undefined) {
      slots = new Map();
      this.storage.set(key, slots);
    }
    slots.set(bytesToKey(slot), padStart(value, 32));
  }

  /** Adds byte code. @returns its hash, 32 bytes */
  addCode(code: Uint8Array): Uint8Array {
    const hash = keccak256(code);
    this.codes.set(bytesToKey(hash), code);
    return hash;
  }

  /** Removes an account and its storage. */
  destroy(address: Uint8Array): void {
    this.clearStorage(bytesToKey(address));
    this.destroyed.add(bytesToKey(address));
    this.setAccount(address, undefined);
  }

  /** Writes what a transaction changed. */
  write(changes: readonly EvmChange[]): void {
    for (const { address, account, storageCleared, code, slots } of changes) {
      if (account === undefined) {
        this.destroy(address);
        continue;
      }
      if (storageCleared) this.clearStorage(bytesToKey(address));
      if (code !== undefined) this.codes.set(bytesToKey(account.codeHash), code);
      this.setAccount(address, account);
      for (const [key, value] of slots) this.setSlot(address, key, value);
    }
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

  private clearStorage(key: string): void {
    this.writes++;
    this.cleared.add(key);
    if (this.storage.has(key)) this.storage.set(key, new Map());
  }
}

function sameAccount(a: Account | undefined, b: Account | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.nonce === b.nonce && a.balance === b.balance && equalBytes(a.codeHash, b.codeHash);
}

/** Changes by execution, as writes of the Merkle-Patricia trie. */
export function trieWrites(changes: readonly AccountChange[]): TrieWrite[] {
  return changes.map(({ address, after, destroyed, slots }) => {
    return { address, account: after, clearStorage: destroyed, slots };
  });
}
