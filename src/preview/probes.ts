import { PlumblineError } from '../errors.js';
import type { BlockContext } from '../evm/block-context.js';
import { FREE_RUN, type SimulationRules, transactionMessageOf } from '../evm/call.js';
import { Machine } from '../evm/machine.js';
import type { RunBudget } from '../evm/run-budget.js';
import { StateOverlay } from '../evm/state-overlay.js';
import { hasCode, type StateReader } from '../evm/state-reader.js';
import { simulateTransaction } from '../evm/transaction.js';
import { bytesToBigInt, isZeroBytes } from '../primitives/bytes.js';
import { type Hex, hexToBytes } from '../primitives/hex.js';

/** Functions of tokens, by selector. */
export const SELECTOR = {
  allowance: '0xdd62ed3e',
  balanceOf: '0x70a08231',
  balanceOfId: '0x00fdd58e',
  convertToAssets: '0x07a2d13a',
  getApproved: '0x081812fc',
  isApprovedForAll: '0xe985e9c5',
  ownerOf: '0x6352211e',
  permit2Allowance: '0x927da105',
  totalSupply: '0x18160ddd',
} as const;

/** The states that questions are asked on: before the first and after the last call. */
export interface ProbedStates {
  readonly network: SimulationRules;
  readonly block: BlockContext;
  readonly before: StateReader;
  readonly after: StateReader;
  readonly budget: RunBudget;
  /** Who asks, with the gas and the price of a call: a contract must not tell a question from one. */
  readonly as?: AskedAs | undefined;
}

interface AskedAs {
  readonly from: Uint8Array;
  readonly gas: bigint;
  readonly price: bigint;
}

type When = 'before' | 'after';

/** A number below 2^256, or its digits, as of an address. */
type Argument = bigint | Hex;

/** Asks contracts by calls that change nothing. An answer is asked for once. */
export interface Probes {
  /** @returns the first word of the answer; undefined if the call fails or returns less */
  word(when: When, contract: Hex, selector: Hex, ...args: readonly Argument[]): Promise<bigint | undefined>;
  /** As `word`, for an address. @returns undefined also for what is no address */
  address(when: When, contract: Hex, selector: Hex, ...args: readonly Argument[]): Promise<Hex | undefined>;
  /** @returns all of the answer; undefined if the call fails */
  bytes(when: When, contract: Hex, selector: Hex, ...args: readonly Argument[]): Promise<Uint8Array | undefined>;
  /** Whether the account has code. */
  hasCode(when: When, account: Hex): Promise<boolean>;
  /** Nothing can be asked afterwards. */
  close(): void;
}

const LEAST_GAS = 2_000_000n;
/** Questions that may use up all their gas, or give more than is kept, before a contract is not asked any more. */
const MAX_BURNT = 8;
/**
 * Most questions of a preview. A transaction that changes a balance pays 5 000 gas for it at least, so that what 16 777 216 gas
 * (EIP-7825) change needs fewer; events that claim more than they change may need more.
 */
const MAX_QUESTIONS = 8_192;
/** Bytes of an answer that are kept. */
const KEPT_BYTES = 4_096;

const word = (value: Argument) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');

/** @throws PlumblineError of a question: errors of reading the state and of the budget, `PREVIEW_TOO_LARGE` for too many */
export function openProbes({ network, block, budget, as, ...states }: ProbedStates): Probes {
  const asked = new Map<string, Promise<Uint8Array | undefined>>();
  const machines = new Map<When, Machine>();
  const burnt = new Map<Hex, number>();
  const run = as === undefined ? { budget, ...FREE_RUN } : { budget, leniency: FREE_RUN.leniency };
  const gasLimit = as === undefined || as.gas < LEAST_GAS ? LEAST_GAS : as.gas;

  async function machineOn(when: When): Promise<Machine> {
    const known = machines.get(when);
    if (known !== undefined) return known;
    const reader = states[when];
    // What only simulates writes nothing, so that the overlay of the calls needs no other one on top.
    const state = reader instanceof StateOverlay ? reader : new StateOverlay(reader);
    const machine = Machine.open(network, block, state);
    machines.set(when, machine);
    return machine;
  }

  /** The questions on one state share a machine: what one of them reads the next one need not hand in again. */
  async function ask(when: When, contract: Hex, data: Uint8Array): Promise<Uint8Array | undefined> {
    const times = burnt.get(contract) ?? 0;
    if (times >= MAX_BURNT) return undefined;
    const machine = await machineOn(when);
    const call = { from: as?.from, to: hexToBytes(contract), data };
    const message = transactionMessageOf(call, { gasLimit, nonce: 0n, price: as?.price ?? 0n, free: true });
    const { succeeded, gasUsed, returnData } = await simulateTransaction(machine, message, run);
    if ((!succeeded && gasUsed === gasLimit) || returnData.length > KEPT_BYTES) burnt.set(contract, times + 1);
    if (!succeeded) return undefined;
    return returnData.length > KEPT_BYTES ? returnData.slice(0, KEPT_BYTES) : returnData;
  }

  const probes: Probes = {
    bytes(when, contract, selector, ...args) {
      const data: Hex = `${selector}${args.map(word).join('')}`;
      const key = `${when} ${contract} ${data}`;
      let answer = asked.get(key);
      if (answer === undefined) {
        if (asked.size >= MAX_QUESTIONS) throw tooMany();
        answer = ask(when, contract, hexToBytes(data));
        asked.set(key, answer);
      }
      return answer;
    },
    async word(...question) {
      const answer = await probes.bytes(...question);
      if (answer === undefined || answer.length < 32) return undefined;
      return bytesToBigInt(answer.length === 32 ? answer : answer.subarray(0, 32));
    },
    async address(...question) {
      const answer = await probes.word(...question);
      if (answer === undefined || answer >> 160n !== 0n) return undefined;
      return `0x${answer.toString(16).padStart(40, '0')}`;
    },
    hasCode: (when, account) => hasCode(states[when], hexToBytes(account)),
    close() {
      for (const machine of machines.values()) machine.close();
    },
  };
  return probes;
}

function tooMany(): PlumblineError<'PREVIEW_TOO_LARGE'> {
  const text = `the calls change or claim so much that contracts would be asked more than ${MAX_QUESTIONS} questions`;
  return new PlumblineError('PREVIEW_TOO_LARGE', `${text}; preview fewer calls at a time`, { limit: MAX_QUESTIONS });
}

/** What a contract says of itself. @source docs/spec/preview.md 8.9 */
export async function tokenName(probes: Probes, token: Hex) {
  const decimals = await probes.word('after', token, '0x313ce567');
  const symbol = await probes.bytes('after', token, '0x95d89b41');
  return {
    symbol: (symbol && symbolOf(symbol)) ?? null,
    decimals: decimals === undefined || decimals > 255n ? null : Number(decimals),
  };
}

/** Most characters of a symbol that is shown. */
const MAX_SYMBOL = 64;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Text, or 32 bytes up to the first zero. @returns undefined for other answers */
function symbolOf(answer: Uint8Array): string | undefined {
  const length = (at: number) =>
    at + 32 <= answer.length && isZeroBytes(answer.subarray(at, at + 28))
      ? Number(bytesToBigInt(answer.subarray(at + 28, at + 32)))
      : Number.POSITIVE_INFINITY;
  try {
    if (answer.length === 32) {
      const end = answer.indexOf(0);
      return UTF8.decode(answer.subarray(0, end < 0 ? 32 : end)) || undefined;
    }
    const at = length(0);
    if (at + 32 + length(at) > answer.length) return undefined;
    const text = UTF8.decode(answer.subarray(at + 32, at + 32 + length(at)));
    return text.length <= MAX_SYMBOL ? text : [...text].slice(0, MAX_SYMBOL).join('');
  } catch {
    return undefined;
  }
}

/** Quantity of a number; null for no answer. */
export const quantityOrNull = (value: bigint | undefined): Hex | null =>
  value === undefined ? null : `0x${value.toString(16)}`;
