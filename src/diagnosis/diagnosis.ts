import type { TrustLevel } from '../chain/block.js';
import { type ErrorCode, isPlumblineError } from '../errors.js';
import type { Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { CHECKS, type CheckBasis, type CheckName, type CheckUnit } from './check-table.js';

/** One check of a transaction: its outcome, what was found and what the limit is. */
export interface TransactionCheck {
  readonly check: CheckName;
  /** `unknown`: the check could not be made, and `reason` says why. `fails`: the check was made, and it is false. */
  readonly outcome: 'ok' | 'fails' | 'unknown';
  /** What the outcome is based on. `endpoint` is not verified. */
  readonly basis: CheckBasis;
  /** What follows from `fails`. */
  readonly failure: 'refused' | 'waits' | 'none';
  /** Unit of `found` and `needed`. */
  readonly unit?: CheckUnit;
  /** How `found` must compare with `needed`. */
  readonly rule?: 'at least' | 'at most' | 'equal';
  /** The value of the transaction or the account, as a quantity. Left out if there is none, or if it is not known. */
  readonly found?: Hex;
  /** The limit, as a quantity. */
  readonly needed?: Hex;
  /** Why the check fails or is unknown. For `line-counts`: the module that comes nearest to its limit. */
  readonly reason?: string;
  /**
   * Only for `state-gas`: what the run with `needed` uses, as quantities. If the gas limit is enough, what the run with this limit
   * uses.
   */
  readonly used?: { readonly executionGas: Hex; readonly stateGas: Hex };
}

/**
 * Whether a transaction will be included.
 *
 * - `included`: it is in a block.
 * - `will-be-included`: all checks that matter pass on the newest block. Prices, nonces and balances may still change.
 * - `will-wait`: the pool keeps it, but no block takes it yet.
 * - `will-be-refused`: the pool or block building refuses it.
 * - `cannot-tell`: a check that matters could not be made.
 */
export type InclusionVerdict = 'included' | 'will-be-included' | 'will-wait' | 'will-be-refused' | 'cannot-tell';

/** Fields that the call does not have. They were filled in as `linea_estimateGas` does it. */
export type FilledField = 'nonce' | 'gas' | 'maxFeePerGas' | 'maxPriorityFeePerGas';

/** Answer of `node.diagnoseTransaction` (docs/spec/fees.md 11). */
export interface TransactionDiagnosis {
  readonly verdict: InclusionVerdict;
  /** What to do next, as one or more sentences. Amounts in it are decimal. */
  readonly nextStep: string;
  /**
   * Where the transaction came from: the call or the bytes that you gave, a block, the pending transactions that this node knows, the
   * pool of an endpoint (its hash was checked), or nowhere.
   */
  readonly origin: 'call' | 'raw' | 'block' | 'pool' | 'endpoint' | 'none';
  /** 32 bytes; left out for a call. */
  readonly hash?: Hex;
  /** The sender, 20 bytes. For a signed transaction, it follows from the signature. */
  readonly from?: Hex;
  readonly nonce?: Hex;
  /** Fields that were not in the call, with the value that was checked. */
  readonly filled: Readonly<Partial<Record<FilledField, Hex>>>;
  /** The block that includes it. */
  readonly included?: { readonly blockNumber: number; readonly blockHash: Hex; readonly transactionIndex: number };
  /** In the order in which the network makes them. Empty for a transaction that is included. */
  readonly checks: readonly TransactionCheck[];
  /** Limits of the prover: those that were counted, and those that cannot be counted here. */
  readonly limits: {
    readonly checked: readonly { readonly module: string; readonly count: number; readonly limit: number }[];
    readonly unchecked: readonly string[];
  };
  /** Number of the block after which it was checked; null if none could be read. */
  readonly block: number | null;
  /** `held`: on the node's own chain. Otherwise the trust level of that block on a light node. Null if there is no block. */
  readonly trust: TrustLevel | null;
  /**
   * If it is not the network's own dictionary, the compressed size is an approximation. If it is not clear whether the price is
   * enough, the check is `unknown`.
   */
  readonly dictionary: { readonly name: string; readonly networkOwn: boolean };
}

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
