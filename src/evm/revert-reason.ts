import { PlumblineError } from '../errors.js';
import { bytesToBigInt } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import type { TransactionOutcome } from './transaction-message.js';

const ERROR_SELECTOR = '0x08c379a0';
const PANIC_SELECTOR = '0x4e487b71';

const PANICS: Readonly<Record<string, string>> = {
  '1': 'assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division or modulo by zero',
  '33': 'value is not of the enum',
  '34': 'incorrectly encoded storage byte array',
  '49': 'pop on an empty array',
  '50': 'array index out of bounds',
  '65': 'too much memory allocated',
  '81': 'call of a zero-initialized function',
};

/**
 * The message in the return data of a revert: the text of `Error(string)`, or the meaning of a `Panic(uint256)` code.
 * Undefined for other data.
 */
export function revertReason(data: Uint8Array): string | undefined {
  if (data.length < 36) return undefined;
  const selector = bytesToHex(data.subarray(0, 4));
  const word = (offset: number) => bytesToBigInt(data.subarray(4 + offset, 36 + offset));
  if (selector === PANIC_SELECTOR) return `Panic(${word(0)}): ${PANICS[word(0).toString()] ?? 'unknown code'}`;
  if (selector !== ERROR_SELECTOR || data.length < 68) return undefined;
  const offset = word(0);
  if (offset > BigInt(data.length - 36)) return undefined;
  const start = Number(offset) + 36;
  const length = word(Number(offset));
  if (length > BigInt(data.length - start)) return undefined;
  return new TextDecoder().decode(data.subarray(start, start + Number(length)));
}

/** The error for a run that failed: `EXECUTION_REVERTED` or `EXECUTION_FAILED`. */
export function callFailureOf(
  outcome: TransactionOutcome,
): PlumblineError<'EXECUTION_REVERTED'> | PlumblineError<'EXECUTION_FAILED'> {
  const { exception = 'unknown', returnData } = outcome;
  if (exception !== 'revert') {
    const { opcode } = outcome;
    const details = { reason: exception, ...(opcode !== undefined && { opcode }) };
    return new PlumblineError('EXECUTION_FAILED', exception, details);
  }
  const reason = revertReason(returnData);
  const message = reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`;
  return new PlumblineError('EXECUTION_REVERTED', message, {
    data: returnData,
    ...(reason !== undefined && { reason }),
  });
}
