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
  private readonly accounts = new VersionedMap();
  /** Code hashes by number, and their numbers. */
  private readonly codeHashes: Uint8Array[] = [];
  private readonly codeNumbers = new Map<string, number>();
  private readonly slots = new Map<string, VersionedMap>();
  /** Accounts whose storage in the state below no longer counts. */
  private readonly emptied = new VersionedMap();
  /** Oldest block whose state is held. */
  private oldest = 0;
  /** The state that was asked for last. */
  private last: { readonly block: number; readonly state: StateReader } | undefined;
  private readonly codes = new Map<string, Uint8Array>([[bytesToKey(EMPTY_CODE_HASH), new Uint8Array(0)]]);

  /** @param below - has what was not written here; a state without it begins empty */
  constructor(private readonly below?: (reading: Reading) => StateReader) {}

  /** Applies the changes of a block. */
  apply(block: number, changes: readonly AccountChange[]): void {
    this.last = undefined;
    for (const change of changes) {
      const address = bytesToKey(change.address);
      const after = change.after && this.textOf(change.after);
      // An account of which only the storage changed is the one before.
      if (after === undefined || this.accounts.get(address, block) !== after) this.accounts.set(address, block, after);
      if (change.code !== undefined && change.after !== undefined) {
        this.codes.set(bytesToKey(change.after.codeHash), change.code);
      }
      if (change.destroyed) {
        this.emptyStorage(address, block);
        if (this.below !== undefined) this.emptied.set(address, block, '');
      }
      for (const { key, after } of change.slots) {
        this.storageOf(address).set(bytesToKey(key), block, isZeroBytes(after) ? undefined : bytesToKey(after));
      }
    }
  }

  /** Reverts the changes of blocks after this one. */
  revertTo(block: number): void {
    this.last = undefined;
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
      const account = change === undefined ? this.accountOf(this.accounts.get(name, block)) : change.after;
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
    this.last = undefined;
    this.oldest = Math.max(this.oldest, block);
    this.accounts.forgetBefore(block);
    for (const storage of this.slots.values()) storage.forgetBefore(block);
  }

  /** State after `block`: the same object as long as it is the same state. @throws PlumblineError `STATE_NOT_HELD` */
  at(block: number, reading: Reading = {}): StateReader {
    if (this.below !== undefined) return this.overBelow(this.below, block, reading);
    if (this.last?.block !== block) this.last = { block, state: { ...this.over(undefined, block), isFixed: true } };
    return this.last.state;
  }

  private overBelow(below: (reading: Reading) => StateReader, block: number, reading: Reading): StateReader {
    const { prefetchRun } = reading;
    const overBlock: PrefetchRun | undefined =
      prefetchRun && ((guesses, limits) => prefetchRun(this.over(guesses, block), limits));
    return this.over(below({ ...reading, prefetchRun: overBlock }), block);
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
        return this.accounts.has(key, block) ? this.accountOf(this.accounts.get(key, block)) : below?.account(address);
      },
      slot: async (address, slot) =>
        this.slot(bytesToKey(address), bytesToKey(slot), block) ?? below?.slot(address, slot) ?? ZERO_WORD,
      code: async (codeHash) => this.codes.get(bytesToKey(codeHash)) ?? below?.code(codeHash) ?? unknownCode(),
    };
  }

  /** Nonce, balance and the number of the code hash. */
  private textOf({ nonce, balance, codeHash }: Account): string {
    const name = bytesToKey(codeHash);
    let code = this.codeNumbers.get(name);
    if (code === undefined) {
      code = this.codeHashes.push(codeHash) - 1;
      this.codeNumbers.set(name, code);
    }
    return `${nonce.toString(16)} ${balance.toString(16)} ${code}`;
  }

  private accountOf(text: string | undefined): Account | undefined {
    if (text === undefined) return undefined;
    const [nonce, balance, code] = text.split(' ');
    return { nonce: BigInt(`0x${nonce}`), balance: BigInt(`0x${balance}`), codeHash: this.codeHashes[Number(code)]! };
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

  private storageOf(address: string): VersionedMap {
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

/** A value that was set at block 0, or blocks in ascending order, each with the value from it on; undefined for none. */
type History = string | (number | string | undefined)[];

/**
 * A map that keeps the value of each key after each block, so that every past state can be read. Keys and values are text, and a
 * history is one list, because objects and arrays of bytes would take several times the memory.
 */
class VersionedMap {
  private readonly histories = new Map<string, History>();

  /** Value of `key` after `block`; undefined if it had none. */
  get(key: string, block: number): string | undefined {
    const history = this.histories.get(key);
    if (history === undefined || typeof history === 'string') return history;
    const at = indexAt(history, block);
    return at < 0 ? undefined : (history[at + 1] as string | undefined);
  }

  /** Whether `key` was set by `block`, to a value or to none. */
  has(key: string, block: number): boolean {
    const history = this.histories.get(key);
    return history !== undefined && (typeof history === 'string' || indexAt(history, block) >= 0);
  }

  /** Sets the value of `key` from `block` on. Blocks must ascend. */
  set(key: string, block: number, value: string | undefined): void {
    const known = this.histories.get(key);
    if (known === undefined) {
      this.histories.set(key, block === 0 && value !== undefined ? value : [block, value]);
      return;
    }
    const history = typeof known === 'string' ? [0, known] : known;
    if (history.at(-2) === block) history[history.length - 1] = value;
    else history.push(block, value);
    if (history !== known) this.histories.set(key, history);
  }

  /** Removes values that were replaced by `block`. */
  forgetBefore(block: number): void {
    for (const [key, history] of this.histories) {
      if (typeof history === 'string') continue;
      history.splice(0, Math.max(0, indexAt(history, block)));
      if (history.length === 2 && (history[0] as number) <= block && history[1] === undefined)
        this.histories.delete(key);
    }
  }

  /** Removes values that were set after `block`. */
  truncate(block: number): void {
    for (const [key, history] of this.histories) {
      if (typeof history === 'string') continue;
      history.length = indexAt(history, block) + 2;
      if (history.length === 0) this.histories.delete(key);
    }
  }

  /** Every key that ever had a value. */
  keys(): IterableIterator<string> {
    return this.histories.keys();
  }
}

/** Index of the last block of a history up to this one; -2 if all are later. */
function indexAt(history: readonly unknown[], block: number): number {
  let low = 0;
  let high = history.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((history[2 * middle] as number) <= block) low = middle + 1;
    else high = middle;
  }
  return 2 * low - 2;
}
