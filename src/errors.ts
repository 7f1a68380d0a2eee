/** The details of each error code. The keys are all the codes that plumbline throws. */
export interface ErrorDetails {
  // Input.
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
  BLOCK_NOT_PROVABLE: { block: string; from?: number };
  /** The block is on the chain, but the data of it was deleted to keep a storage budget. Blocks from `from` on have it. */
  BLOCK_PRUNED: { block: number; from: number };
  /** No source has the trie log, although layer 1 has finalized its block. */
  TRIE_LOG_MISSING: { block: number };
  /** Applying the trie logs does not give what is known of a block. `kept`: the newest earlier block that layer 1 confirms. */
  REPLICA_DIVERGED: { block: number; what: ReplicaCheck; expected: string; actual: string; kept?: number };
  /** An imported block is invalid. `head`: the newest block, which stays. */
  BLOCK_INVALID: { block: number; what: string; expected: string; actual: string; head: number };
  TRANSACTION_REJECTED: { rule: TransactionRule; reason: string };
  // Execution.
  EXECUTION_REVERTED: { data: Uint8Array; reason?: string };
  EXECUTION_FAILED: { reason: string; opcode?: number };
  MODULE_LIMIT_EXCEEDED: { module: string; count: number; limit: number };
  /** `sent`: of a transaction that is sent, not of a call. */
  INSUFFICIENT_FUNDS: { sender: string; required: bigint; balance: bigint; sent?: true };
  UPFRONT_COST_EXCEEDS_BALANCE: { sender: string };
  GAS_ALLOWANCE_EXCEEDED: { allowance: bigint };
  /** Of a request; with `retryAfterMs`, of the requests of a connection within a minute. */
  GAS_BUDGET_EXCEEDED: { budget: number; retryAfterMs?: number };
  SIMULATION_REFUSED: { rule: SimulationRule; reason: string };
  // Requests.
  METHOD_NOT_FOUND: { method: string };
  /** `reason`: why, and what to do, where a caller can do something. */
  METHOD_NOT_ENABLED: { method: string; reason?: string };
  /** What a wallet's method was asked for is not possible. */
  WALLET_REFUSED: { rule: WalletRule; reason: string };
  REQUEST_TIMED_OUT: { timeoutMs: number };
  ABORTED: Record<never, never>;
  /** `limit`: bytes of the answers to one request or batch, or of the return data and logs of the runs of one request. */
  ANSWER_TOO_LARGE: { limit: number };
  /** `limit`: questions to contracts that a preview may ask. */
  PREVIEW_TOO_LARGE: { limit: number };
  FILTER_NOT_FOUND: { id: string };
  FILTER_LIMIT: { limit: number };
  SUBSCRIPTION_NOT_FOUND: { id: string };
  SUBSCRIPTION_LIMIT: { limit: number };
  // Upstream endpoints, each named by its origin alone: the rest of a URL may hold a key.
  /** No endpoint accepts the requests: a wrong key, plan or URL. A retry does not help. */
  UPSTREAM_CONFIGURATION: { endpoints: readonly UpstreamReason[] };
  UPSTREAM_RATE_LIMITED: { endpoints: readonly UpstreamReason[]; retryAfterMs?: number };
  /** The response is not a JSON-RPC response, or not of the expected form. */
  UPSTREAM_MALFORMED: { endpoints: readonly UpstreamReason[] };
  UPSTREAM_UNAVAILABLE: { endpoints: readonly UpstreamReason[] };
  /** A JSON-RPC error of an endpoint, keys removed. `forwarded`: it answers a request that was only forwarded. */
  UPSTREAM_ERROR: { origin: string; code: number; message: string; data?: unknown; forwarded?: true };
  /** An endpoint serves another chain. `found`: the chain id that it gave, or what it gave in its place, cut. */
  UPSTREAM_WRONG_CHAIN: { origin: string; expected: number; found: string };
  /** Endpoints answered, but fewer than `needed` agree. */
  UPSTREAM_DISAGREEMENT: { needed: number; agreed: number; answers: number; endpoints: readonly UpstreamReason[] };
  // Light node.
  /** A block does not reach the required trust level. `reached`: the level it has, if any. */
  TRUST_LEVEL_NOT_REACHED: { required: string; reached: string | undefined; reason: string };
  /**
   * The answer of the endpoint at `origin` about `what` is false: the check that failed, and the place in the answer. `hint`: what was
   * found, in numbers, and the setting that decides it.
   */
  ANSWER_REFUSED: { what: string; check: string; at: string; origin?: string; hint?: string };
  // Consensus of layer 1.
  /** The beacon chain is at a fork that this release does not read, or before the first that it reads. */
  FORK_UNSUPPORTED: { network: string; fork: string; epoch?: number };
  /** Two objects with valid signatures contradict each other. `slot`: attested slot of the second. */
  LAYER_ONE_CONTRADICTS: { reason: string; slot: number };
  /** There is no trusted beacon block to follow layer 1 from. */
  CHECKPOINT_NEEDED: { reason: string };
  // Hosts.
  WORKER_FAILED: { reason: string };
  NODE_CLOSED: Record<never, never>;
  // Store.
  STORE_UNAVAILABLE: { reason: string };
  STORE_TOO_NEW: { version: number; supported: number };
  STORE_CORRUPT: { table: string; reason: string };
  STORE_QUOTA_EXCEEDED: Record<never, never>;
  /** The file is not an exported chain, is damaged, or belongs to another chain. Nothing was changed. */
  CHAIN_FILE_REFUSED: { reason: string };
  /** Another page or worker has become the writer of the store; this one cannot write any more. */
  STORE_TAKEN_OVER: Record<never, never>;
  /** Another page or worker runs a node with other options on the store. */
  STORE_IN_USE: { reason: string };
  /** The writer ended before it answered a non-idempotent request. It may have been carried out, so it is not retried. */
  OUTCOME_UNKNOWN: { method: string };
  INTERNAL: { reason: string };
}

/** What a replica compares. `changes`: the values before them, in the trie log and in the state that is held. */
export type ReplicaCheck = 'changes' | 'block-hash' | 'state-manager-root' | 'layer-one-root';

/** Why one endpoint gave no usable answer. */
export interface UpstreamReason {
  readonly origin: string;
  readonly kind: 'configuration' | 'rate-limited' | 'timed-out' | 'unavailable' | 'malformed' | 'rejected';
  readonly reason: string;
  /** HTTP status, when there was one. */
  readonly status?: number;
}

/** Why a transaction is rejected; each has its own JSON-RPC error. */
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
  | 'init-code'
  | 'recipient'
  | 'denied'
  | 'type-refused'
  | 'unprofitable'
  | 'underpriced'
  | 'pool-full'
  | 'known';

/** Why `eth_simulateV1` refuses a request; each has its own JSON-RPC code. */
export type SimulationRule =
  | 'base-block'
  | 'override'
  | 'block-number'
  | 'timestamp'
  | 'too-many-blocks'
  | 'too-many-calls'
  | 'block-gas-limit'
  | 'nonce-too-low'
  | 'nonce-too-high'
  | 'base-fee'
  | 'intrinsic-gas'
  | 'funds'
  | 'init-code'
  | 'parameter';

/** Why a method of wallets refuses a request; each has the code that EIP-1193, EIP-3326 or EIP-5792 gives it. */
export type WalletRule =
  | 'unauthorized'
  | 'unsupported'
  | 'unknown-chain'
  | 'unsupported-capability'
  | 'unsupported-chain'
  | 'duplicate-batch'
  | 'unknown-batch'
  | 'batch-too-large'
  | 'atomicity';

/** The codes of `PlumblineError`. */
export type ErrorCode = keyof ErrorDetails;

/** The error class of plumbline: a code, details typed by that code, and a cause. */
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

/**
 * An option, argument or parameter that cannot be used.
 *
 * @param parameter - its name, as the caller writes it
 * @param reason - what is wrong, and what it must be instead. It never quotes a value that may hold a key
 */
export function invalidParameter(
  parameter: string,
  reason: string,
  options?: { cause?: unknown },
): PlumblineError<'INVALID_PARAMETER'> {
  return new PlumblineError('INVALID_PARAMETER', `${parameter}: ${reason}`, { parameter, reason }, options);
}

/** True for a PlumblineError; with `code`, only for one of that code. */
export function isPlumblineError<C extends ErrorCode>(error: unknown, code?: C): error is PlumblineError<C> {
  return error instanceof PlumblineError && (code === undefined || error.code === code);
}

/** The message of a thrown value, which need not be an Error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
