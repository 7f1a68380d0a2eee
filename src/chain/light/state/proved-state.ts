import type { Account } from '../../../evm/state/state-reader.js';
import { bytesToKey } from '../../../primitives/bytes.js';
import { hasNoCode } from '../../../proof/ethereum-proof.js';
import { AccessSet } from './access-set.js';
import type { CodeCache } from './code-cache.js';

/** States that are kept; the least recently used is dropped first. */
const MAX_STATES = 8;
/** A state with more accounts and slots is replaced by an empty one. Calls that use it keep it until they end. */
const MAX_ENTRIES = 32_768;

/** A proved account, undefined if there is none, and proved slots, 32 bytes each, by `bytesToKey` of the slot. */
interface Proved {
  readonly account: Account | undefined;
  readonly slots: ReadonlyMap<string, Uint8Array>;
}

/** The proved part of one state: accounts and slots by proofs against its root, code by its hash. */
export class ProvedState {
  private readonly accounts = new Map<string, Account | undefined>();
  private readonly slots = new Map<string, Uint8Array>();
  /** Address of an account by its code hash. */
  private readonly holders = new Map<string, Uint8Array>();

  /** @param root - 32 bytes */
  constructor(
    readonly root: Uint8Array,
    readonly codes: CodeCache,
  ) {}

  /** Number of known accounts and slots. */
  get size(): number {
    return this.accounts.size + this.slots.size;
  }

  hasAccount(address: Uint8Array): boolean {
    return this.accounts.has(bytesToKey(address));
  }

  /** Undefined for a missing account, and for one that is not known: call `hasAccount` first. */
  account(address: Uint8Array): Account | undefined {
    return this.accounts.get(bytesToKey(address));
  }

  /** 32 bytes; undefined for a slot that is not known. */
  slot(address: Uint8Array, slot: Uint8Array): Uint8Array | undefined {
    const known = this.slots.get(bytesToKey(address) + bytesToKey(slot));
    if (known !== undefined) return known;
    const absent = this.hasAccount(address) && this.account(address) === undefined;
    return absent ? new Uint8Array(32) : undefined;
  }

  /** Address of an account with this code; undefined when none is known. */
  holderOf(codeHash: Uint8Array): Uint8Array | undefined {
    return this.holders.get(bytesToKey(codeHash));
  }

  /** Whether the code of a known account is known, or the account has no code. */
  hasCodeOf(address: Uint8Array): boolean {
    const account = this.account(address);
    return account === undefined || hasNoCode(account.codeHash) || this.codes.get(account.codeHash) !== undefined;
  }

  /** Adds what was proved under this root. @param proved - by `bytesToKey` of the address */
  take(proved: ReadonlyMap<string, Proved>): void {
    for (const [key, { account, slots }] of proved) {
      this.accounts.set(key, account);
      for (const [slot, value] of slots) this.slots.set(key + slot, value);
      if (account !== undefined && !hasNoCode(account.codeHash)) {
        this.holders.set(
          bytesToKey(account.codeHash),
          Uint8Array.from(key, (character) => character.charCodeAt(0)),
        );
      }
    }
  }

  /** The part of `accesses` that is not known. */
  missing(accesses: AccessSet): AccessSet {
    const open = new AccessSet();
    for (const { address, slots, code } of accesses) {
      const known = this.hasAccount(address);
      if (!known || (code && !this.hasCodeOf(address))) open.addAccount(address, code);
      for (const slot of slots.values()) if (this.slot(address, slot) === undefined) open.addSlot(address, slot);
    }
    return open;
  }
}

/** Proved states by their root. Blocks with the same state root share one. */
export class ProvedStates {
  private readonly states = new Map<string, ProvedState>();

  constructor(readonly codes: CodeCache) {}

  at(root: Uint8Array): ProvedState {
    const key = bytesToKey(root);
    const held = this.states.get(key);
    const state = held !== undefined && held.size <= MAX_ENTRIES ? held : new ProvedState(root, this.codes);
    this.states.delete(key);
    this.states.set(key, state);
    if (this.states.size > MAX_STATES) this.states.delete(this.states.keys().next().value!);
    return state;
  }
}
