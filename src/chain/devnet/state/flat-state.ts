import { PlumblineError } from '../../../errors.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { RunLimits } from '../../../evm/run-budget.js';
import type { AccountChange } from '../../../evm/state-overlay.js';
import type { Account, StateReader } from '../../../evm/state-reader.js';
import { bytesToKey, isZeroBytes, keyToBytes, ZERO_WORD } from '../../../primitives/bytes.js';
import { nextTurn } from '../../../scheduling/turns.js';

/** An account with its code and its slots, key and value of 32 bytes each. */
export interface DumpedAccount extends Account {
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly code: Uint8Array;
  readonly slots: readonly (readonly [key: Uint8Array, value: Uint8Array])[];
}

/**
 * Does on another state what a state is read for, so that what it reads becomes known. Values of the other state may be guesses.
 *
 * @returns whether it succeeded
 */
export type PrefetchRun = (state: StateReader, limits: RunLimits) => Promise<boolean>;

/** How a state is read. */
export interface Reading {
  /** Ends what is fetched for it. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a value comes from the state below. */
  readonly onBelow?: (() => void) | undefined;
  /** Called where something has to be fetched: the rest of what is read can be fetched with it. */
  readonly prefetchRun?: PrefetchRun | undefined;
  /** Of the request, which prefetch runs count for. */
  readonly gas?: RunLimits['gas'];
}

/** Accounts, slots and code of the devnet after every block. */
export class FlatState {
  private readonly accounts = new VersionedMap<Account>();
  private readonly codeHashes = new Map<string, Uint8Array>();
  /** Values are stored as key strings: byte arrays would take five times the memory. */
  private readonly slots = new Map<string, VersionedMap<string>>();
  /** Accounts whose storage in the state below no longer counts. */
  private readonly emptied = new VersionedMap<true>();
  /** Oldest block whose state is held. */
  private oldest = 0;
  private readonly codes = new Map<string, Uint8Array>([[bytesToKey(EMPTY_CODE_HASH), new Uint8Array(0)]]);

  /** @param below - has what was not written here; a state without it begins empty */
  constructor(private readonly below?: (reading: Reading) => StateReader) {}

  /** Applies the changes of a block. */
  apply(block: number, changes: readonly AccountChange[]): void {
    for (const change of changes) {
      const address = bytesToKey(change.address);
      this.accounts.set(address, block, change.after && this.withSharedHash(change.after));
      if (change.code !== undefined && change.after !== undefined) {
        this.codes.set(bytesToKey(change.after.codeHash), change.code);
      }
      if (change.destroyed) {
        this.emptyStorage(address, block);
        if (this.below !== undefined) this.emptied.set(address, block, true);
      }
      for (const { key, after } of change.slots) {
        this.storageOf(address).set(bytesToKey(key), block, isZeroBytes(after) ? undefined : bytesToKey(after));
      }
    }
  }

  /** Reverts the changes of blocks after this one. */
  revertTo(block: number): void {
    this.accounts.truncate(block);
    this.emptied.truncate(block);
    for (const storage of this.slots.values()) storage.truncate(block);
  }

  /** Keys of an account's slots after `block` that have a value, 32 bytes each. */
  usedSlots(address: Uint8Array, block: number): Uint8Array[] {
    const storage = this.slots.get(bytesToKey(address));
    const used = [...(storage?.keys() ?? [])].filter((key) => storage!.get(key, block) !== undefined);
    return used.map((key) => keyToBytes(key));
  }

  /**
   * The accounts after `block` and these changes to it, one after the other.
   *
   * @param changes - not destroyed: pending edits destroy no account
   */
  async *accountsAt(block: number, changes: readonly AccountChange[]): AsyncGenerator<DumpedAccount> {
    const changed = new Map(changes.map((change) => [bytesToKey(change.address), change]));
    for (const name of new Set([...this.accounts.keys(), ...changed.keys()])) {
      await nextTurn();
      const change = changed.get(name);
      const account = change === undefined ? this.accounts.get(name, block) : change.after;
      if (account === undefined) continue;
      const address = keyToBytes(name);
      const slots = new Map<string, Uint8Array>();
      for (const key of this.usedSlots(address, block)) {
        await nextTurn();
        slots.set(bytesToKey(key), this.slot(name, bytesToKey(key), block)!);
      }
      for (const { key, after } of change?.slots ?? []) {
        await nextTurn();
        slots.set(bytesToKey(key), after);
      }
      const used: [Uint8Array, Uint8Array][] = [];
      for (const [key, value] of slots) {
        await nextTurn();
        if (!isZeroBytes(value)) used.push([keyToBytes(key), value]);
      }
      const code = change?.code ?? (await this.at(block).code(account.codeHash));
      yield { ...account, address, code, slots: used };
    }
  }

  /** Removes the states before that of `block`. */
  forgetBefore(block: number): void {
    this.oldest = Math.max(this.oldest, block);
    this.accounts.forgetBefore(block);
    for (const storage of this.slots.values()) storage.forgetBefore(block);
  }

  /** State after `block`. @throws PlumblineError `STATE_NOT_HELD` */
  at(block: number, reading: Reading = {}): StateReader {
    const { prefetchRun } = reading;
    const overBlock: PrefetchRun | undefined =
      prefetchRun && ((guesses, limits) => prefetchRun(this.over(guesses, block), limits));
    return this.over(this.below?.({ ...reading, prefetchRun: overBlock }), block);
  }

  private over(below: StateReader | undefined, block: number): StateReader {
    if (block < this.oldest) {
      throw new PlumblineError(
        'STATE_NOT_HELD',
        `the state of block ${block} is no longer held; ask for a newer block`,
        { block },
      );
    }
    return {
      account: async (address) => {
        const key = bytesToKey(address);
        return this.accounts.has(key, block) ? this.accounts.get(key, block) : below?.account(address);
      },
      slot: async (address, slot) =>
        this.slot(bytesToKey(address), bytesToKey(slot), block) ?? below?.slot(address, slot) ?? ZERO_WORD,
      code: async (codeHash) => this.codes.get(bytesToKey(codeHash)) ?? below?.code(codeHash) ?? unknownCode(),
    };
  }

  /** Shares code hashes: an account is stored once for every block that changed it. */
  private withSharedHash(account: Account): Account {
    const name = bytesToKey(account.codeHash);
    const codeHash = this.codeHashes.get(name) ?? account.codeHash;
    this.codeHashes.set(name, codeHash);
    return { nonce: account.nonce, balance: account.balance, codeHash };
  }

  private emptyStorage(address: string, block: number): void {
    const storage = this.slots.get(address);
    for (const key of storage?.keys() ?? []) storage!.set(key, block, undefined);
  }

  /** @returns undefined for a slot of which the state below decides */
  private slot(address: string, slot: string, block: number): Uint8Array | undefined {
    const storage = this.slots.get(address);
    const value = storage?.get(slot, block);
    if (value !== undefined) return keyToBytes(value);
    return storage?.has(slot, block) || this.emptied.has(address, block) ? ZERO_WORD : undefined;
  }

  private storageOf(address: string): VersionedMap<string> {
    let storage = this.slots.get(address);
    if (storage === undefined) {
      storage = new VersionedMap();
      this.slots.set(address, storage);
    }
    return storage;
  }
}

function unknownCode(): never {
  throw new PlumblineError('INTERNAL', 'the code of an account is missing', { reason: 'unknown code hash' });
}

/** A map that keeps the value of each key after each block, so that every past state can be read. */
class VersionedMap<Value> {
  private readonly histories = new Map<string, { block: number; value: Value | undefined }[]>();

  /** Value of `key` after `block`; undefined if it had none. */
  get(key: string, block: number): Value | undefined {
    return this.entry(key, block)?.value;
  }

  /** Whether `key` was set by `block`, to a value or to none. */
  has(key: string, block: number): boolean {
    return this.entry(key, block) !== undefined;
  }

  private entry(key: string, block: number): { readonly value: Value | undefined } | undefined {
    const history = this.histories.get(key);
    if (history === undefined) return undefined;
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (history[middle]!.block <= block) low = middle + 1;
      else high = middle;
    }
    return history[low - 1];
  }

  /** Sets the value of `key` from `block` on. Blocks must ascend. */
  set(key: string, block: number, value: Value | undefined): void {
    const history = this.histories.get(key);
    if (history === undefined) {
      this.histories.set(key, [{ block, value }]);
      return;
    }
    const last = history[history.length - 1]!;
    if (last.block === block) last.value = value;
    else history.push({ block, value });
  }

  /** Removes values that were replaced by `block`. */
  forgetBefore(block: number): void {
    for (const [key, history] of this.histories) {
      let newest = 0;
      while (newest + 1 < history.length && history[newest + 1]!.block <= block) newest++;
      history.splice(0, newest);
      if (history.length === 1 && history[0]!.block <= block && history[0]!.value === undefined) {
        this.histories.delete(key);
      }
    }
  }

  /** Removes values that were set after `block`. */
  truncate(block: number): void {
    for (const [key, history] of this.histories) {
      while (history.length > 0 && history[history.length - 1]!.block > block) history.pop();
      if (history.length === 0) this.histories.delete(key);
    }
  }

  /** Every key that ever had a value. */
  keys(): IterableIterator<string> {
    return this.histories.keys();
  }
}
