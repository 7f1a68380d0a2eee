import { PlumblineError } from '../../../errors.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { Account, StateReader } from '../../../evm/state-reader.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { hasNoCode } from '../../../proof/ethereum-proof.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import type { Block } from '../../block.js';
import { AccessSet } from './access-set.js';

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
  /** By `bytesToKey` of the address; undefined for a missing account. */
  readonly accounts = new Map<string, Account | undefined>();
  /** By the key of the address and that of the slot. */
  readonly slots = new Map<string, Uint8Array>();
  /** Keys of what was read, of those that are known. */
  readonly used = new Set<string>();
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
    const key = bytesToKey(address);
    if (this.accounts.has(key)) this.used.add(key);
    return this.accounts.get(key);
  }

  /** 32 bytes; undefined for a slot that is not known. */
  slot(address: Uint8Array, slot: Uint8Array): Uint8Array | undefined {
    const key = bytesToKey(address) + bytesToKey(slot);
    const absent = this.hasAccount(address) && this.account(address) === undefined;
    if (absent && !this.slots.has(key)) this.slots.set(key, new Uint8Array(32));
    const known = this.slots.get(key);
    if (known !== undefined) this.used.add(key);
    return known;
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

/** Proved states by their root. Blocks with the same state root share one, unless access lists tell values of blocks. */
export class ProvedStates {
  private readonly states = new Map<string, ProvedState>();

  /** @param areOfBlocks - whether `after` keeps the states of blocks apart: a list is of one block, whatever root its header has */
  constructor(
    readonly codes: CodeCache,
    private readonly areOfBlocks = false,
  ) {}

  after({ header, hash }: Pick<Block, 'header' | 'hash'>): ProvedState {
    return this.at(header.stateRoot, this.areOfBlocks ? hash : undefined);
  }

  at(root: Uint8Array, name = root): ProvedState {
    const key = bytesToKey(name);
    const held = this.states.get(key);
    const state = held !== undefined && held.size <= MAX_ENTRIES ? held : new ProvedState(root, this.codes);
    this.states.delete(key);
    this.states.set(key, state);
    if (this.states.size > MAX_STATES) this.states.delete(this.states.keys().next().value!);
    return state;
  }
}

/** Bytes of code kept in memory; the least recently used code is dropped first. A contract has 24 KiB at most. */
const MAX_BYTES = 16 * 2 ** 20;
/** Accounts whose code hash is kept in memory. */
const MAX_HOLDERS = 4096;

/** Verified code by its hash. It never goes stale, because the hash identifies the code. */
export class CodeCache {
  private readonly codes = new Map<string, Uint8Array>();
  private readonly holders = new Map<string, Uint8Array>();
  private bytes = 0;

  /** @param table - stores code, and the code hash of accounts, for later sessions */
  constructor(private readonly table?: BudgetedTable | undefined) {}

  /** @param hash - Keccak-256, 32 bytes */
  get(hash: Uint8Array): Uint8Array | undefined {
    const key = bytesToKey(hash);
    const code = this.codes.get(key);
    if (code === undefined) return undefined;
    this.codes.delete(key);
    this.codes.set(key, code);
    return code;
  }

  /** As `get`, or from the table. Stored code whose hash does not match its key is deleted. */
  async load(hash: Uint8Array): Promise<Uint8Array | undefined> {
    const held = this.get(hash);
    if (held !== undefined || this.table === undefined) return held;
    const key = bytesToHex(hash);
    const code = await this.table.get(key);
    if (code === undefined) return undefined;
    if (!equalBytes(keccak256(code), hash)) {
      await this.table.delete(key);
      return undefined;
    }
    this.keep(hash, code);
    return code;
  }

  /** Loads the code that accounts had when they were last read, so that `hasCodeOf` knows it. */
  async recall(addresses: readonly Uint8Array[]): Promise<void> {
    const { table } = this;
    if (table === undefined) return;
    await Promise.all(
      addresses.map(async (address) => {
        if (this.hasCodeOf(address)) return;
        const hash = await table.get(holderKey(address));
        if (hash === undefined || (await this.load(hash)) === undefined) return;
        this.hold(address, hash);
      }),
    );
  }

  /**
   * Whether the code is known that an account had when it was last read. If the account has other code by now, its proof
   * shows that.
   *
   * @param address - 20 bytes
   */
  hasCodeOf(address: Uint8Array): boolean {
    const hash = this.holders.get(bytesToKey(address));
    return hash !== undefined && this.codes.has(bytesToKey(hash));
  }

  /** Keeps code whose hash was verified. @param address - of an account with this code, 20 bytes */
  put(hash: Uint8Array, code: Uint8Array, address?: Uint8Array): void {
    if (!this.codes.has(bytesToKey(hash))) {
      this.keep(hash, code);
      void this.table?.put(bytesToHex(hash), code);
    }
    if (address === undefined) return;
    const known = this.holders.get(bytesToKey(address));
    if (known !== undefined && equalBytes(known, hash)) return;
    this.hold(address, hash);
    void this.table?.put(holderKey(address), hash);
  }

  private keep(hash: Uint8Array, code: Uint8Array): void {
    const key = bytesToKey(hash);
    if (this.codes.has(key)) return;
    this.codes.set(key, code);
    this.bytes += code.length;
    for (const [oldest, dropped] of this.codes) {
      if (this.bytes <= MAX_BYTES || oldest === key) break;
      this.codes.delete(oldest);
      this.bytes -= dropped.length;
    }
  }

  private hold(address: Uint8Array, hash: Uint8Array): void {
    this.holders.set(bytesToKey(address), hash);
    if (this.holders.size > MAX_HOLDERS) this.holders.delete(this.holders.keys().next().value!);
  }
}

function holderKey(address: Uint8Array): string {
  return `of ${bytesToHex(address)}`;
}

/** Fetches and proves accesses and puts them into the state, or throws. It may fetch more than was asked for. */
export type Obtain = (accesses: AccessSet) => Promise<void>;

/** Microtasks during which reads are gathered into one request. */
const GATHERING_TURNS = 3;
const NO_CODE = new Uint8Array(0);

/** Reads a state that is proved in part. What is missing is fetched; reads at the same time share one request. */
export class LightState implements StateReader {
  readonly isFixed = true;
  private gathering: { readonly accesses: AccessSet; readonly done: Promise<void> } | undefined;

  /** @param read - every read is added to it */
  constructor(
    private readonly state: ProvedState,
    private readonly obtain: Obtain,
    private readonly read: AccessSet = new AccessSet(),
  ) {}

  async account(address: Uint8Array): Promise<Account | undefined> {
    this.read.addAccount(address);
    if (!this.state.hasAccount(address)) await this.get((accesses) => accesses.addAccount(address));
    return this.state.account(address);
  }

  async slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    this.read.addSlot(address, slot);
    const known = this.state.slot(address, slot);
    if (known !== undefined) return known;
    await this.get((accesses) => accesses.addSlot(address, slot));
    return this.state.slot(address, slot)!;
  }

  async code(codeHash: Uint8Array): Promise<Uint8Array> {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return NO_CODE;
    const { codes } = this.state;
    const known = await codes.load(codeHash);
    const holder = this.state.holderOf(codeHash);
    if (holder !== undefined) this.read.addAccount(holder, true);
    if (known !== undefined) return known;
    if (holder === undefined) {
      const reason = `no known account has the code ${bytesToHex(codeHash)}`;
      throw new PlumblineError('INTERNAL', reason, { reason });
    }
    await this.get((accesses) => accesses.addAccount(holder, true));
    return codes.get(codeHash)!;
  }

  private get(add: (accesses: AccessSet) => AccessSet): Promise<void> {
    if (this.gathering === undefined) {
      const accesses = new AccessSet();
      this.gathering = { accesses, done: this.gather(accesses) };
    }
    add(this.gathering.accesses);
    return this.gathering.done;
  }

  private async gather(accesses: AccessSet): Promise<void> {
    for (let turn = 0; turn < GATHERING_TURNS; turn++) await undefined;
    this.gathering = undefined;
    await this.obtain(accesses);
  }
}
