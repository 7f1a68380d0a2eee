import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { Account, StateReader } from '../../../evm/state-reader.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { bigIntToBytes, bytesToKey, concatBytes, equalBytes, padStart } from '../../../primitives/bytes.js';
import { AccessSet } from './access-set.js';
import type { ProvedState } from './proved-state.js';

/**
 * Guesses for an unknown slot, in the order in which they are tried: a large number in the form of an address; one, as in
 * locks and switches; zero.
 */
const SLOT_GUESSES = [1n << 96n, 1n, 0n].map((value) => bigIntToBytes(value, 32));
/** Guesses for the words that unknown code returns: a number that fits in most integer types; true; zero. */
const WORD_GUESSES = [0x7fff_ffffn, 1n, 0n].map((value) => bigIntToBytes(value, 32));
const GUESSED_CODES = WORD_GUESSES.map(codeReturning);
/** Guesses for an unknown account: one with each of these codes, none. */
const ACCOUNT_GUESSES = GUESSED_CODES.length + 1;
const ADDRESS_BYTES = 20;
let hashesOfGuesses: readonly Uint8Array[] | undefined;

/** Made when they are first needed: where there is no WebAssembly, loading this module is no error. */
function guessedCodeHashes(): readonly Uint8Array[] {
  hashesOfGuesses ??= GUESSED_CODES.map((code) => keccak256(code));
  return hashesOfGuesses;
}

/** Returns guesses for unknown values, and records which values were unknown. */
export class PrefetchReader implements StateReader {
  readonly accesses = new AccessSet();
  /** Index of the guess for each unknown value, by its key. */
  private readonly guesses = new Map<string, number>();
  /** Guesses for unknown code by their hash, each with the hash of that code. */
  private readonly standIns = new Map<string, { readonly code: Uint8Array; readonly unknown: Uint8Array }>();
  private readonly senders = new Set<string>();
  private readonly absent = new Set<string>();
  /** Keys of the unknown values of this run, in the order in which they were read. */
  private order: string[] = [];

  /**
   * @param senders - addresses of accounts that pay, 20 bytes each
   * @param absent - addresses of accounts that may not exist, such as coinbases
   * @param limit - most accounts and slots that are recorded
   */
  constructor(
    private readonly state: ProvedState,
    senders: Iterable<Uint8Array>,
    absent: Iterable<Uint8Array>,
    private readonly limit: number,
  ) {
    for (const address of senders) this.senders.add(bytesToKey(address));
    for (const address of absent) this.expectAbsent(address);
  }

  /** Takes an account for one that does not exist, while it is unknown: the address of a creation. */
  expectAbsent(address: Uint8Array): void {
    this.absent.add(bytesToKey(address));
  }

  beginRun(): void {
    this.order = [];
  }

  /** Takes the next guess for the unknown value that was read last and has one left. @returns false if none has */
  nextGuess(): boolean {
    for (const key of this.order.reverse()) {
      const next = this.guesses.get(key)! + 1;
      if (next < (key.length === ADDRESS_BYTES ? ACCOUNT_GUESSES : SLOT_GUESSES.length)) {
        this.guesses.set(key, next);
        return true;
      }
      this.guesses.set(key, 0);
    }
    return false;
  }

  async account(address: Uint8Array): Promise<Account | undefined> {
    if (this.state.hasAccount(address)) return this.withKnownCode(this.state.account(address));
    if (this.senders.has(bytesToKey(address))) {
      this.record(() => this.accesses.addAccount(address));
      return { nonce: 0n, balance: 1n << 120n, codeHash: EMPTY_CODE_HASH };
    }
    if (this.absent.has(bytesToKey(address)) || isPrecompile(address)) {
      this.record(() => this.accesses.addAccount(address));
      return undefined;
    }
    // An address that is itself a guess is not an account to fetch.
    if (!SLOT_GUESSES.concat(WORD_GUESSES).some((guess) => equalBytes(guess.subarray(12), address)))
      this.record(() => this.accesses.addAccount(address, true));
    const codeHash = guessedCodeHashes()[this.guess(bytesToKey(address))];
    return codeHash && { nonce: 1n, balance: 1n << 80n, codeHash };
  }

  async slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    const known = this.state.slot(address, slot);
    if (known !== undefined) return known;
    this.record(() => {
      this.accesses.addSlot(address, slot);
      const account = this.state.account(address);
      const code = account && this.state.codes.get(account.codeHash);
      for (const constant of code === undefined ? [] : constantSlots(code)) {
        if (this.state.slot(address, constant) === undefined) this.accesses.addSlot(address, constant);
      }
    });
    return SLOT_GUESSES[this.guess(bytesToKey(address) + bytesToKey(slot))]!;
  }

  async code(codeHash: Uint8Array): Promise<Uint8Array> {
    const known = this.state.codes.get(codeHash);
    if (known !== undefined) return known;
    const guessed = guessedCodeHashes().findIndex((hash) => equalBytes(hash, codeHash));
    if (guessed >= 0) return GUESSED_CODES[guessed]!;
    const { code, unknown } = this.standIns.get(bytesToKey(codeHash))!;
    const holder = this.state.holderOf(unknown);
    if (holder !== undefined) this.record(() => this.accesses.addAccount(holder, true));
    this.guess(bytesToKey(unknown));
    return code;
  }

  /** A proved account. Unknown code is replaced by a guess under a hash of its own: a hash always names the same code. */
  private withKnownCode(account: Account | undefined): Account | undefined {
    if (account === undefined || equalBytes(account.codeHash, EMPTY_CODE_HASH)) return account;
    const { codeHash: unknown } = account;
    if (this.state.codes.get(unknown) !== undefined) return account;
    const code = concatBytes(GUESSED_CODES[this.guesses.get(bytesToKey(unknown)) ?? 0]!, unknown);
    const codeHash = keccak256(code);
    this.standIns.set(bytesToKey(codeHash), { code, unknown });
    return { ...account, codeHash };
  }

  private record(add: () => void): void {
    if (this.accesses.size < this.limit) add();
  }

  private guess(key: string): number {
    const index = this.guesses.get(key) ?? 0;
    this.guesses.set(key, index);
    if (!this.order.includes(key)) this.order.push(key);
    return index;
  }
}

/** Addresses 0x01 to 0x11 and 0x100, and all others below 2^16. */
function isPrecompile(address: Uint8Array): boolean {
  return address.subarray(0, 18).every((byte) => byte === 0);
}

/** Code that returns a word sixteen times, for any calldata. */
function codeReturning(word: Uint8Array): Uint8Array {
  const code: number[] = [];
  for (let i = 0; i < 16; i++) code.push(0x7f, ...word, 0x61, (i * 32) >> 8, (i * 32) & 255, 0x52);
  code.push(0x61, 0x02, 0x00, 0x5f, 0xf3);
  return Uint8Array.from(code);
}

const PUSH0 = 0x5f;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;
const DUP1 = 0x80;
const SLOAD = 0x54;
/** Most constant slots of one contract. */
const MAX_CONSTANT_SLOTS = 24;

/**
 * Slots that code reads at a constant position: a push right before SLOAD. Compilers write state variables of value types in
 * this way, and proxies read their slots so.
 *
 * @returns 32 bytes each, at most 24
 */
function constantSlots(code: Uint8Array): Uint8Array[] {
  const slots = new Map<string, Uint8Array>();
  for (let at = 0; at < code.length && slots.size < MAX_CONSTANT_SLOTS; at++) {
    const opcode = code[at]!;
    if (opcode < PUSH0 || opcode > PUSH32) continue;
    const length = opcode === PUSH0 ? 0 : opcode - PUSH1 + 1;
    const end = at + length + 1;
    const next = code[end] === DUP1 ? code[end + 1] : code[end];
    if (next === SLOAD) {
      const slot = padStart(code.subarray(at + 1, end), 32);
      slots.set(bytesToKey(slot), slot);
    }
    at += length;
  }
  return [...slots.values()];
}
