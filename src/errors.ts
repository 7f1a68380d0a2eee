/** What each error code carries. The keys are the closed set of codes plumbline throws. */
export interface ErrorDetails {
  // Input that is not what it has to be.
  INVALID_HEX: { value: string; reason: string };
  INVALID_QUANTITY: { value: string; reason: string };
  INVALID_LENGTH: { what: string; expected: string; actual: number };
  INVALID_PARAMETER: { parameter: string; reason: string };
  OUT_OF_RANGE: { what: string; value: string; limit: string };
  // Kernels.
  KERNEL_UNAVAILABLE: { kernel: string; reason: string };
  KERNEL_OUT_OF_MEMORY: { kernel: string; memoryBytes: number };
  HASH_INPUT_LENGTH: { scheme: string; length: number };
  HASH_INPUT_NOT_CANONICAL: { scheme: string };
  CALLDATA_TOO_LARGE: { length: number; limit: number };
  // Dictionary.
  DICTIONARY_LENGTH_MISMATCH: { expected: number; actual: number };
  DICTIONARY_CHECKSUM_MISMATCH: { expected: string; actual: string };
  DICTIONARY_UNREACHABLE: { origin: string; status?: number };
  // Proofs: malformed material. A well-formed proof that does not hold is a verdict, not an error.
  PROOF_MALFORMED: { path: string; reason: string };
  // Fees.
  GAS_IS_ZERO: Record<never, never>;
  TRANSACTION_TYPE_UNSUPPORTED: { type: number };
  MARGIN_INVALID: { value: string };
  // State.
  STATE_MISMATCH: { what: string; expected: string; actual: string };
  STATE_NOT_HELD: { block: number };
  TRIE_LOG_MALFORMED: { path: string; reason: string };
  TRACE_MALFORMED: { path: string; reason: string };
  WITNESS_MISSING: { part: 'branch' | 'leaf' | 'value' | 'storage'; position?: number; hkey?: string };
  WITNESS_CONFLICT: { position: number; reason: string };
  // Chain.
  BLOCK_NOT_FOUND: { block: string };
  BLOCK_NOT_PROVABLE: { block: string };
  TRANSACTION_REJECTED: { rule: TransactionRule; reason: string };
  // Execution.
  EXECUTION_REVERTED: { data: Uint8Array; reason?: string };
  EXECUTION_FAILED: { reason: string };
  INSUFFICIENT_FUNDS: { sender: string; required: bigint; balance: bigint };
  UPFRONT_COST_EXCEEDS_BALANCE: { sender: string };
  GAS_ALLOWANCE_EXCEEDED: { allowance: bigint };
  STEP_BUDGET_EXCEEDED: { budget: number };
  // Requests.
  METHOD_NOT_FOUND: { method: string };
  METHOD_NOT_ENABLED: { method: string };
  REQUEST_TIMED_OUT: { timeoutMs: number };
  ABORTED: Record<never, never>;
  // Hosts.
  WORKER_FAILED: { reason: string };
  NODE_CLOSED: Record<never, never>;
  // Store.
  STORE_UNAVAILABLE: { reason: string };
  STORE_TOO_NEW: { version: number; supported: number };
  STORE_CORRUPT: { table: string; reason: string };
  STORE_QUOTA_EXCEEDED: Record<never, never>;
  INTERNAL: { reason: string };
}

/** Why a transaction is not accepted; each has its own JSON-RPC code. */
export type TransactionRule =
  | 'malformed'
  | 'chain-id'
  | 'signature'
  | 'sender'
  | 'type'
  | 'nonce-too-low'
  | 'nonce-too-high'
  | 'intrinsic-gas'
  | 'funds'
  | 'gas-limit'
  | 'block-gas-limit'
  | 'gas-price'
  | 'calldata-size'
  | 'recipient'
  | 'known';

export type ErrorCode = keyof ErrorDetails;

/** The one error class of plumbline: a code from a closed set, details typed by that code, and a cause. */
export class PlumblineError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'PlumblineError';
  readonly code: C;
  readonly details: ErrorDetails[C];

  constructor(code: C, message: string, details: ErrorDetails[C], options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** True for a PlumblineError, of one code when a code is named. */
export function isPlumblineError<C extends ErrorCode>(error: unknown, code?: C): error is PlumblineError<C> {
  return error instanceof PlumblineError && (code === undefined || error.code === code);
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
