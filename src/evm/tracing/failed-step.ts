import type { TraceLeave, TraceStep } from '../../kernel/evm.js';
import { bytesToBigInt } from '../../primitives/bytes.js';
import { failureText } from './failure-text.js';
import { opcodeOf } from './opcodes.js';

/** What a list of instructions says of one that failed. */
export interface FailedStep {
  /** The cost that could not be paid, or that was paid in vain. */
  readonly cost: bigint;
  /** Undefined if the instruction was paid for, and failed as it was executed. */
  readonly error?: string | undefined;
}

/** Codes of assembly/evm/exceptions.ts. */
const [OUT_OF_GAS, UNDERFLOW, OVERFLOW, STATIC_STATE_CHANGE, INIT_CODE_TOO_LARGE] = [2, 3, 4, 7, 14];
const [SSTORE, TSTORE, LOG0, LOG4, CREATE, CREATE2, SELFDESTRUCT] = [0x55, 0x5d, 0xa0, 0xa4, 0xf0, 0xf5, 0xff];
const CALLS: readonly number[] = [0xf1, 0xf2, 0xf4, 0xfa];
/** No memory is larger: geth's limit, whose square is below 2^64. */
const MOST_MEMORY = 0x1f_ffff_ffe0n;
const MOST_INIT_CODE = 49_152;
const NEW_ACCOUNT_GAS = 25_000n;

/**
 * As geth 1.17.10: it charges the fixed gas, then the rest of the price, and says an error only if it does not come to execute.
 */
export function failedStep(step: TraceStep, leave: TraceLeave): FailedStep {
  const { op, gas, stack } = step;
  const { exception, rest } = leave;
  const fixed = BigInt(opcodeOf(op)?.fixedGas ?? 0);
  const spent = gas - rest;
  if (exception === UNDERFLOW || exception === OVERFLOW) return { cost: fixed, error: failureText(leave) };
  const isLate = op === TSTORE || (op >= LOG0 && op <= LOG4);
  const isEarly = exception === OUT_OF_GAS || exception === INIT_CODE_TOO_LARGE || exception === STATIC_STATE_CHANGE;
  if (!isEarly || (exception === STATIC_STATE_CHANGE && isLate)) return { cost: spent };
  if (gas < fixed) return { cost: fixed, error: 'out of gas' };
  const { end, length } = memoryOf(op, stack);
  const early = (cause: string): FailedStep => ({ cost: fixed, error: `out of gas: ${cause}` });
  if (end > 2n ** 64n - 32n) return { cost: fixed, error: 'gas uint64 overflow' };
  if (exception === STATIC_STATE_CHANGE) return early('write protection');
  if (op === SSTORE && rest >= 0n) return early('not enough gas for reentrancy sentry');
  if (end > MOST_MEMORY && !CALLS.includes(op)) return early('gas uint64 overflow');
  if ((op === CREATE || op === CREATE2) && length > MOST_INIT_CODE)
    return early(`max initcode size exceeded: code size ${length} limit ${MOST_INIT_CODE}`);
  if (CALLS.includes(op) || (op === SELFDESTRUCT && spent < NEW_ACCOUNT_GAS)) return early('out of gas');
  // The kernel does not price memory that no gas pays for.
  if (end < FAR) return { cost: spent, error: 'out of gas' };
  const paid = rest >= 0n && spent > fixed ? spent : fixed;
  const grown = memoryGas(wordsOf(end)) - memoryGas(wordsOf(BigInt(leave.memoryBytes)));
  return { cost: paid + grown + lengthGas(op, length), error: 'out of gas' };
}

/** Where memory ends of which the kernel gives no price. */
const FAR = 2n ** 32n;
const wordsOf = (bytes: bigint) => (bytes + 31n) / 32n;
const memoryGas = (words: bigint) => 3n * words + words ** 2n / 512n;

/** Places of the words, from the top, that give offset and length of the memory that an instruction uses, by the instruction. */
const REGIONS: Readonly<Record<number, readonly (readonly [offset: number, length: number | bigint])[]>> = {
  32: [[0, 1]], // KECCAK256
  55: [[0, 2]], // CALLDATACOPY
  57: [[0, 2]], // CODECOPY
  60: [[1, 3]], // EXTCODECOPY
  62: [[0, 2]], // RETURNDATACOPY
  81: [[0, 32n]], // MLOAD
  82: [[0, 32n]], // MSTORE
  83: [[0, 1n]], // MSTORE8
  94: [
    [0, 2],
    [1, 2],
  ], // MCOPY
  160: [[0, 1]], // LOG0 to LOG4
  161: [[0, 1]],
  162: [[0, 1]],
  163: [[0, 1]],
  164: [[0, 1]],
  240: [[1, 2]], // CREATE
  241: [
    [3, 4],
    [5, 6],
  ], // CALL
  242: [
    [3, 4],
    [5, 6],
  ], // CALLCODE
  243: [[0, 1]], // RETURN
  244: [
    [2, 3],
    [4, 5],
  ], // DELEGATECALL
  245: [[1, 2]], // CREATE2
  250: [
    [2, 3],
    [4, 5],
  ], // STATICCALL
  253: [[0, 1]], // REVERT
};

/** Where the memory of an instruction ends, and the length of its first region. */
function memoryOf(op: number, stack: readonly Uint8Array[]): { readonly end: bigint; readonly length: bigint } {
  const word = (place: number) => bytesToBigInt(stack[stack.length - 1 - place]!);
  let end = 0n;
  let first: bigint | undefined;
  for (const [offset, given] of REGIONS[op] ?? []) {
    const length = typeof given === 'bigint' ? given : word(given);
    first ??= length;
    const last = length === 0n ? 0n : word(offset) + length;
    if (last > end) end = last;
  }
  return { end, length: first ?? 0n };
}

/** What an instruction costs for each byte or word that it is given. */
function lengthGas(op: number, length: bigint): bigint {
  if (op === 0x20) return 6n * wordsOf(length);
  if (op >= LOG0 && op <= LOG4) return 375n * BigInt(op - LOG0 + 1) + 8n * length;
  return op === 0x37 || op === 0x39 || op === 0x3c || op === 0x3e || op === 0x5e ? 3n * wordsOf(length) : 0n;
}
