import { type ErrorCode, isPlumblineError } from '../errors.js';
import { toQuantity } from '../primitives/quantity.js';
import { CHECKS, type CheckBasis, type CheckName } from './check-table.js';
import type { TransactionCheck } from './diagnosis.js';

/** What one check found. */
export interface Finding {
  readonly check: CheckName;
  readonly outcome: TransactionCheck['outcome'];
  readonly found?: bigint;
  readonly needed?: bigint;
  readonly reason?: string;
  /** Of `state-gas`: what a run with `needed` uses, or with the gas limit if that is enough. */
  readonly used?: { readonly executionGas: bigint; readonly stateGas: bigint };
  /** Fills `{remedy}` of the next step. */
  readonly remedy?: string;
  /** Replaces that of the table. */
  readonly basis?: CheckBasis;
}

/** Errors that mean that something could not be read or counted. Others are passed on. */
const COULD_NOT_CHECK: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UPSTREAM_CONFIGURATION',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_MALFORMED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_ERROR',
  'UPSTREAM_DISAGREEMENT',
  'TRUST_LEVEL_NOT_REACHED',
  'ANSWER_REFUSED',
  'PROOF_MALFORMED',
  'STATE_NOT_HELD',
  'BLOCK_NOT_FOUND',
  'GAS_BUDGET_EXCEEDED',
  'ANSWER_TOO_LARGE',
  'CALLDATA_TOO_LARGE',
  'TRANSACTION_TYPE_UNSUPPORTED',
  'OUT_OF_RANGE',
]);

/** The message, if the error means that a check could not be made. @throws the error, if it means something else */
export function couldNotCheck(error: unknown): string {
  if (isPlumblineError(error) && COULD_NOT_CHECK.has(error.code)) return error.message;
  throw error;
}

export function unknown(checks: readonly CheckName[], reason: string): Finding[] {
  return checks.map((check) => ({ check, outcome: 'unknown', reason }));
}

/** What `read` gives, or why it could not be read. @throws errors that do not mean this */
export async function tried<T>(read: () => Promise<T>): Promise<T | string> {
  try {
    return await read();
  } catch (error) {
    return couldNotCheck(error);
  }
}

/** Compares two numbers by the rule of the check. */
export function compared(
  check: CheckName,
  found: bigint | number,
  needed: bigint | number,
  more: Pick<Finding, 'reason' | 'remedy'> = {},
): Finding {
  const [left, right] = [BigInt(found), BigInt(needed)];
  const { rule } = CHECKS[check];
  const holds = rule === 'at least' ? left >= right : rule === 'at most' ? left <= right : left === right;
  return { check, outcome: holds ? 'ok' : 'fails', found: left, needed: right, ...more };
}

/** A check that a function makes: it fails if the function refuses the transaction. */
export async function refusedBy(check: CheckName, judge: () => unknown): Promise<Finding> {
  try {
    await judge();
    return { check, outcome: 'ok' };
  } catch (error) {
    if (!isPlumblineError(error, 'TRANSACTION_REJECTED')) throw error;
    return { check, outcome: 'fails', reason: error.details.reason };
  }
}

export function formatFinding({ check, outcome, found, needed, reason, basis, used }: Finding): TransactionCheck {
  const { basis: usual, failure, unit, rule } = CHECKS[check];
  return {
    check,
    outcome,
    basis: basis ?? usual,
    failure,
    ...(unit !== undefined && { unit }),
    ...(rule !== undefined && { rule }),
    ...(found !== undefined && { found: toQuantity(found) }),
    ...(needed !== undefined && { needed: toQuantity(needed) }),
    ...(reason !== undefined && { reason }),
    ...(used !== undefined && {
      used: { executionGas: toQuantity(used.executionGas), stateGas: toQuantity(used.stateGas) },
    }),
  };
}
