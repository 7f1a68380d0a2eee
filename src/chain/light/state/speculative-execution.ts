import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { BlockContext } from '../../../evm/block-context.js';
import { type SimulationRules, transactionMessageOf } from '../../../evm/calls/call.js';
import { precompileOverrides, withOverrides } from '../../../evm/calls/overrides.js';
import type { Interpreters } from '../../../evm/interpreter/interpreters.js';
import { Machine } from '../../../evm/interpreter/machine.js';
import { StepBudget } from '../../../evm/interpreter/step-budget.js';
import { StateOverlay } from '../../../evm/state/state-overlay.js';
import type { Account, StateReader } from '../../../evm/state/state-reader.js';
import { runTransaction } from '../../../evm/transactions/transaction.js';
import { bigIntToBytes, bytesToKey, equalBytes, ZERO_ADDRESS } from '../../../primitives/bytes.js';
import type { CallRequest } from '../../../primitives/call-request.js';
import type { StateOverrides } from '../../../primitives/state-overrides.js';
import { Wants } from './access-set.js';
import { constantSlots } from './constant-slots.js';
import type { ProvedState } from './proved-state.js';

/*
 * Where an endpoint gives no access lists, each read of an execution would be a round trip of its own. So the call is
 * executed with guesses in place of what is not known, again and again with other guesses until it comes to an end, and
 * everything it looked at is asked for at once. Nothing of these executions is kept but what they looked at.
 */

/** What is executed, and where. */
export interface Rehearsal {
  readonly call: CallRequest;
  readonly overrides: StateOverrides | undefined;
  readonly context: BlockContext;
  readonly network: SimulationRules;
  readonly interpreters: Interpreters;
  readonly signal?: AbortSignal | undefined;
}

/** Executions at most. */
const RUNS = 12;
/** Gas of each, and steps of all together; who needs more has shown enough. */
const GAS = 10_000_000n;
const STEPS = 200_000;
/** Accounts and slots asked for at most. */
const MAX_WANTS = 128;

/**
 * Values of an unknown slot, in the order in which they are tried: large, with the form of an address; one, as locks and
 * switches have; nothing.
 */
const SLOT_GUESSES = [1n << 96n, 1n, 0n].map((value) => bigIntToBytes(value, 32));
/** What unknown code returns, again and again: a number that every type holds but the smallest; true; nothing. */
const WORD_GUESSES = [0x7fff_ffffn, 1n, 0n].map((value) => bigIntToBytes(value, 32));
const ANSWERING_CODES = WORD_GUESSES.map(answeringCode);
const ANSWERING_HASHES = ANSWERING_CODES.map((code) => keccak_256(code));

/** What the call reads beyond what is known, as far as can be guessed. */
export async function rehearse(state: ProvedState, rehearsal: Rehearsal): Promise<Wants> {
  const reader = new GuessingReader(state, rehearsal.call.from ?? ZERO_ADDRESS, rehearsal.context.coinbase);
  const steps = new StepBudget({ stepBudget: STEPS, signal: rehearsal.signal });
  for (let run = 0; run < RUNS; run++) {
    reader.beginRun();
    const ended = await runOnce(reader, rehearsal, steps);
    if (ended || !reader.guessOtherwise()) break;
  }
  return reader.wants;
}

/** @returns whether it came to its end, or nothing but another call could make it */
async function runOnce(reader: GuessingReader, rehearsal: Rehearsal, steps: StepBudget): Promise<boolean> {
  const { call, overrides = [], context, network, interpreters } = rehearsal;
  const overlay = new StateOverlay(withOverrides(reader, overrides));
  const machine = await Machine.open(network, context, overlay, { ...precompileOverrides(overrides), interpreters });
  try {
    const { nonce: _, ...rest } = call;
    const message = transactionMessageOf(rest, { gasLimit: GAS, nonce: 0n, price: 0n, free: true });
    const { succeeded } = await runTransaction(machine, message, {
      leniency: { nonce: 'any', contractSender: true, gasAboveCap: true, unfunded: true, lowPrice: true },
      baseFeePerGas: 0n,
      steps,
    });
    return succeeded;
  } catch {
    // The run that counts comes later and says what is wrong.
    return true;
  } finally {
    machine.close();
  }
}

/** Gives guesses for what is not known, and remembers what they were given for. */
class GuessingReader implements StateReader {
  readonly wants = new Wants();
  /** Which guess each unknown gets, by its key. */
  private readonly guesses = new Map<string, number>();
  /** Unknowns of this run, in the order in which they were read. */
  private order: string[] = [];

  constructor(
    private readonly state: ProvedState,
    private readonly from: Uint8Array,
    private readonly coinbase: Uint8Array,
  ) {}

  beginRun(): void {
    this.order = [];
  }

  /** Gives the unknown that was read last, and has guesses left, its next one. @returns false when all are used up */
  guessOtherwise(): boolean {
    for (const key of this.order.reverse()) {
      const next = this.guesses.get(key)! + 1;
      if (next < SLOT_GUESSES.length) {
        this.guesses.set(key, next);
        return true;
      }
      this.guesses.set(key, 0);
    }
    return false;
  }

  async account(address: Uint8Array): Promise<Account | undefined> {
    if (this.state.hasAccount(address)) return this.state.account(address);
    if (equalBytes(address, this.from)) {
      this.want(() => this.wants.account(address));
      return { nonce: 0n, balance: 1n << 120n, codeHash: EMPTY_CODE_HASH };
    }
    if (equalBytes(address, this.coinbase) || isPrecompile(address)) {
      this.want(() => this.wants.account(address));
      return undefined;
    }
    // A guess of ours is no account to ask for.
    if (!SLOT_GUESSES.concat(WORD_GUESSES).some((guess) => equalBytes(guess.subarray(12), address)))
      this.want(() => this.wants.account(address, true));
    const codeHash = ANSWERING_HASHES[this.guess(bytesToKey(address))]!;
    return { nonce: 1n, balance: 1n << 80n, codeHash };
  }

  async slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    const known = this.state.slot(address, slot);
    if (known !== undefined) return known;
    this.want(() => {
      this.wants.slot(address, slot);
      const account = this.state.account(address);
      const code = account && this.state.codes.get(account.codeHash);
      for (const constant of code === undefined ? [] : constantSlots(code)) {
        if (this.state.slot(address, constant) === undefined) this.wants.slot(address, constant);
      }
    });
    return SLOT_GUESSES[this.guess(bytesToKey(address) + bytesToKey(slot))]!;
  }

  async code(codeHash: Uint8Array): Promise<Uint8Array> {
    const known = this.state.codes.get(codeHash);
    if (known !== undefined) return known;
    const answering = ANSWERING_HASHES.findIndex((hash) => equalBytes(hash, codeHash));
    if (answering >= 0) return ANSWERING_CODES[answering]!;
    const holder = this.state.holderOf(codeHash);
    if (holder !== undefined) this.want(() => this.wants.account(holder, true));
    return ANSWERING_CODES[this.guess(bytesToKey(codeHash))]!;
  }

  private want(name: () => void): void {
    if (this.wants.size < MAX_WANTS) name();
  }

  private guess(key: string): number {
    const index = this.guesses.get(key) ?? 0;
    this.guesses.set(key, index);
    if (!this.order.includes(key)) this.order.push(key);
    return index;
  }
}

/** Addresses 0x01 to 0x11 and 0x100, and with them whatever is as low. */
function isPrecompile(address: Uint8Array): boolean {
  return address.subarray(0, 18).every((byte) => byte === 0);
}

/** Code that returns a word sixteen times, whatever it is called with. */
function answeringCode(word: Uint8Array): Uint8Array {
  const code: number[] = [];
  for (let i = 0; i < 16; i++) code.push(0x7f, ...word, 0x61, (i * 32) >> 8, (i * 32) & 255, 0x52);
  code.push(0x61, 0x02, 0x00, 0x5f, 0xf3);
  return Uint8Array.from(code);
}
