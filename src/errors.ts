/** The details of each error code. The keys are all codes that plumbline throws. */
export interface ErrorDetails {
  // Input.
  /** A value is not hex. Remedy: write hex with 0x and two digits for each byte. */
  INVALID_HEX: { value: string; reason: string };
  /** A quantity is not hex, or has leading zeros. Remedy: write it like 0x0 or 0x1f. */
  INVALID_QUANTITY: { value: string; reason: string };
  /** A value has the wrong number of bytes. Remedy: give as many bytes as the message says. */
  INVALID_LENGTH: { what: string; expected: string; actual: number };
  /** An option, argument or parameter cannot be used. Remedy: correct the one that the message names. */
  INVALID_PARAMETER: { parameter: string; reason: string };
  /** A number is outside of its limits. Remedy: give a number within the limits. */
  OUT_OF_RANGE: { what: string; value: string; limit: string };
  // Kernels.
  /** A WebAssembly kernel cannot be started. Remedy: allow WebAssembly: a Content-Security-Policy needs 'wasm-unsafe-eval'. */
  KERNEL_UNAVAILABLE: { kernel: string; reason: string };
  /** A kernel cannot get more memory. Remedy: ask for less at a time, or close other nodes of the page. */
  KERNEL_OUT_OF_MEMORY: { kernel: string; memoryBytes: number };
  /** A hash function got bytes of the wrong length. Remedy: give a multiple of 4 bytes (Poseidon2) or of 32 bytes (MiMC). */
  HASH_INPUT_LENGTH: { scheme: string; length: number };
  /** A hash function got a number that is not below the modulus of its field. Remedy: give field elements only. */
  HASH_INPUT_NOT_CANONICAL: { scheme: string };
  /**
   * The data of a transaction is longer than the network allows, or too long to compute its compressed size. Remedy: shorten the
   * data, or split it.
   */
  CALLDATA_TOO_LARGE: { length: number; limit: number };
  // Dictionary.
  /** The compression dictionary has the wrong length. Remedy: give the dictionary file of this network. */
  DICTIONARY_LENGTH_MISMATCH: { expected: number; actual: number };
  /** The compression dictionary is not the one of this network. Remedy: give the dictionary file of this network. */
  DICTIONARY_CHECKSUM_MISMATCH: { expected: string; actual: string };
  /** The compression dictionary cannot be loaded from its address. Remedy: check the address, or give the bytes of the dictionary. */
  DICTIONARY_UNREACHABLE: { origin: string; status?: number };
  // Proofs with a wrong form. If a proof has the right form but is false, that is a verdict and not an error.
  /**
   * The data does not have the form of this proof. If `origin` is there, an endpoint gave the data. Remedy: give the whole result
   * of the method, unchanged.
   */
  PROOF_MALFORMED: { path: string; reason: string; origin?: string; method?: string };
  // Fees.
  /** A gas limit is zero. Remedy: give a gas limit above zero, or leave it out. */
  GAS_IS_ZERO: Record<never, never>;
  /** plumbline does not know this type of transaction. Remedy: send another type. */
  TRANSACTION_TYPE_UNSUPPORTED: { type: number };
  /** The margin of an estimate is not a number, or is below zero. Remedy: correct it in the profile or in the argument. */
  MARGIN_INVALID: { value: string };
  // State.
  /**
   * The state differs from the state that it must be. Remedy: if you gave the change, correct its earlier values. Otherwise
   * report it, with the event `error`.
   */
  STATE_MISMATCH: { what: string; expected: string; actual: string };
  /** The node does not hold the state after this block. Remedy: ask for a newer block. */
  STATE_NOT_HELD: { block: number };
  /** The data is not a trie log. Remedy: check where the data comes from. */
  TRIE_LOG_MALFORMED: { path: string; reason: string };
  /** The data is not a state trace. Remedy: check where the data comes from. */
  TRACE_MALFORMED: { path: string; reason: string };
  /** A part of a witness is missing. Remedy: give proofs of all keys that the block changes. */
  WITNESS_MISSING: { part: 'branch' | 'leaf' | 'value' | 'storage'; position?: number; hkey?: string };
  /** Two proofs of a witness contradict each other. Remedy: take all proofs from the same state. */
  WITNESS_CONFLICT: { position: number; reason: string };
  // Chain.
  /** The block does not exist. Remedy: ask for a block from genesis to the newest. */
  BLOCK_NOT_FOUND: { block: string };
  /**
   * The zk state after this block cannot be proved. Layer 1 has no root of it, or the node does not hold it. Remedy: ask for
   * `finalized`.
   */
  BLOCK_NOT_PROVABLE: { block: string; from?: number };
  /** The data of the block was deleted to keep a storage budget. Remedy: ask for block `from` or a later one, or raise the budget. */
  BLOCK_PRUNED: { block: number; from: number };
  /** No source has the trie log, although layer 1 has finalized its block. Remedy: name another source in `trieLogs`. */
  TRIE_LOG_MISSING: { block: number };
  /**
   * The trie logs lead to something else than what is known of a block. `kept`: the newest earlier block that layer 1 confirms.
   * Remedy: find out which source is wrong, and name other sources.
   */
  REPLICA_DIVERGED: { block: number; what: ReplicaCheck; expected: string; actual: string; kept?: number };
  /**
   * An imported block is invalid. `head`: the newest block, which stays. Remedy: check the file. Its genesis must be the genesis
   * of this chain.
   */
  BLOCK_INVALID: { block: number; what: string; expected: string; actual: string; head: number };
  /** A transaction is refused. Remedy: `rule` says what to change. */
  TRANSACTION_REJECTED: { rule: TransactionRule; reason: string };
  /** No block has the transaction. Remedy: check the hash. The transaction may still wait, or belong to another network. */
  TRANSACTION_NOT_FOUND: { hash: string };
  /**
   * The transaction was sent, but no receipt of it came in time: no block has included it, or its `cause` says why the receipt could
   * not be read. Remedy: ask for its receipt later. Do not send it again.
   */
  TRANSACTION_PENDING: { hash: string; waitedMs: number };
  /**
   * The node does not have all data of the block that the request needs, such as the state before the block, or its uncles.
   * Remedy: ask about another block.
   */
  BLOCK_INCOMPLETE: { block: number; reason: string };
  // Execution.
  /** The contract refused the call. Remedy: `data` has the reason. Change the call or its sender. */
  EXECUTION_REVERTED: { data: Uint8Array; reason?: string };
  /** The call ended with an exception of the EVM. Remedy: if it ran out of gas, give more gas. Otherwise change the call. */
  EXECUTION_FAILED: { reason: string; opcode?: number };
  /** The transaction needs more lines of the zk circuit than a block has. Remedy: do less in one transaction. */
  MODULE_LIMIT_EXCEEDED: { module: string; count: number; limit: number };
  /**
   * The sender cannot pay for the transaction. `sent`: the transaction was sent; it was not only a call. Remedy: lower the value
   * or the price, or fund the sender.
   */
  INSUFFICIENT_FUNDS: { sender: string; required: bigint; balance: bigint; sent?: true };
  /** The sender cannot pay for gas and value together. Remedy: lower them, or fund the sender. */
  UPFRONT_COST_EXCEEDS_BALANCE: { sender: string };
  /** The call needs more gas than it may use. Remedy: allow more gas, or leave `gas` out. */
  GAS_ALLOWANCE_EXCEEDED: { allowance: bigint };
  /**
   * The executions of a request used too much gas. With `retryAfterMs`: those of a connection within a minute did. Remedy: ask
   * for less, or wait.
   */
  GAS_BUDGET_EXCEEDED: { budget: number; retryAfterMs?: number };
  /** `eth_simulateV1` refuses the request. Remedy: `rule` says what to change. */
  SIMULATION_REFUSED: { rule: SimulationRule; reason: string };
  // Requests.
  /** A payload is not JSON (-32700), or not a request. Remedy: send an object with `method` and a list `params`. */
  REQUEST_MALFORMED: { reason: string };
  /** A body or a batch is too large, or all bodies of one client together are. `limit`: bytes, or requests. Remedy: send less at a time. */
  REQUEST_TOO_LARGE: { what: 'body' | 'bodies' | 'batch'; limit?: number };
  /** No kind of node has the method. Remedy: check its name. docs/methods.md lists all methods. */
  METHOD_NOT_FOUND: { method: string };
  /**
   * This kind of node does not have the method. `reason`: why, and what to do, if the caller can do something. Remedy: use a node
   * that has the method.
   */
  METHOD_NOT_ENABLED: { method: string; reason?: string };
  /** The node cannot do what a wallet method asks for. Remedy: `rule` says why. */
  WALLET_REFUSED: { rule: WalletRule; reason: string };
  /** The request took too long. Remedy: ask for less, or raise `requestTimeoutMs`. */
  REQUEST_TIMED_OUT: { timeoutMs: number };
  /** The caller aborted the request, or the node was closed. Remedy: none is needed. */
  ABORTED: Record<never, never>;
  /**
   * The answer to a request or batch, or the return data and logs of its executions, have more than `limit` bytes. Remedy: ask
   * for less.
   */
  ANSWER_TOO_LARGE: { limit: number };
  /** A preview needs to ask contracts more than `limit` questions. Remedy: preview fewer calls at a time. */
  PREVIEW_TOO_LARGE: { limit: number };
  /** The filter does not exist. It was removed, or nobody asked for it for 5 minutes. Remedy: make a new filter. */
  FILTER_NOT_FOUND: { id: string };
  /** The client has too many filters. Remedy: remove filters that you do not use. */
  FILTER_LIMIT: { limit: number };
  /** The subscription does not exist. Remedy: subscribe again. */
  SUBSCRIPTION_NOT_FOUND: { id: string };
  /** The connection has too many subscriptions. Remedy: end subscriptions that you do not use. */
  SUBSCRIPTION_LIMIT: { limit: number };
  // Upstream endpoints. Each is named by its origin alone, because the rest of a URL may contain a key.
  /** No endpoint accepts the requests: a key, plan or URL is wrong. Remedy: correct it. A retry does not help. */
  UPSTREAM_CONFIGURATION: { endpoints: readonly UpstreamReason[] };
  /** The endpoints limit how often you may ask. Remedy: wait, or give more endpoints. */
  UPSTREAM_RATE_LIMITED: { endpoints: readonly UpstreamReason[]; retryAfterMs?: number };
  /** No endpoint gave a JSON-RPC response of the expected form. Remedy: check the URLs. */
  UPSTREAM_MALFORMED: { endpoints: readonly UpstreamReason[] };
  /** No endpoint could be reached. Remedy: check the network and the URLs. */
  UPSTREAM_UNAVAILABLE: { endpoints: readonly UpstreamReason[] };
  /**
   * An endpoint answered with an error. `message`: the endpoint's text, with keys removed. `method`: the method that it was
   * asked. `block`: the block that it was asked about. `forwarded`: the request was only forwarded. Remedy: do what the
   * endpoint's text says, or ask another endpoint.
   */
  UPSTREAM_ERROR: {
    origin: string;
    code: number;
    message: string;
    data?: unknown;
    method?: string;
    block?: string;
    forwarded?: true;
  };
  /** An endpoint serves another chain. `found`: its chain id, or `none`. Remedy: give the URL of the right network. */
  UPSTREAM_WRONG_CHAIN: { origin: string; expected: number; found: string };
  /**
   * Endpoints answered, but fewer than `needed` agree. `said`: the short answer of each endpoint. Remedy: find out which endpoint
   * is wrong, or add an endpoint of another origin.
   */
  UPSTREAM_DISAGREEMENT: {
    needed: number;
    agreed: number;
    answers: number;
    said: readonly { readonly origin: string; readonly answer: string }[];
    endpoints: readonly UpstreamReason[];
  };
  // Light node.
  /**
   * A block does not reach the required trust level. `reached`: the level that it has, if any. Remedy: give more endpoints, or
   * require a lower level.
   */
  TRUST_LEVEL_NOT_REACHED: { required: string; reached: string | undefined; reason: string };
  /**
   * The answer of the endpoint at `origin` about `what` is false. `check`: the check that failed. `at`: the place in the answer.
   * `hint`: what was found, in numbers, and the setting that decides it. Remedy: use another endpoint, and tell the operator of
   * this one.
   */
  ANSWER_REFUSED: { what: string; check: string; at: string; origin?: string; method?: string; hint?: string };
  /**
   * A header has members that this version does not know. The members that it knows do not give the block's hash. Remedy: use a
   * newer version.
   */
  HEADER_UNSUPPORTED: { block: string; members: readonly string[]; origin?: string; method?: string };
  /**
   * Layer 1 has the hash of the finalized block, but no state root. So there is nothing to check an answer of `linea_getProof`
   * against. Remedy: use `eth_getProof`, or name an older block that has a root.
   */
  STATE_ROOT_MISSING: { block: string };
  // Consensus of layer 1.
  /**
   * This release cannot read the beacon chain at this fork. The fork is too new, or is older than the first that the release
   * reads. Remedy: use a newer release.
   */
  FORK_UNSUPPORTED: { network: string; fork: string; epoch?: number };
  /**
   * The signatures at `slot` show that the beacon chain changes to `fork` in another epoch than this release knows. Nothing is
   * accepted. No endpoint gave a false answer. Remedy: use a newer release, or give the epoch with `beaconNetwork` in `layerOne`
   * of the profile.
   */
  FORK_SCHEDULE: { network: string; fork: string; slot: number };
  /**
   * Two objects with valid signatures contradict each other. `slot`: attested slot of the second. Remedy: give a checkpoint that
   * you trust.
   */
  LAYER_ONE_CONTRADICTS: { reason: string; slot: number };
  /** A light node needs a trusted beacon block to follow layer 1, and has none. Remedy: give `layerOne.checkpoint`. */
  CHECKPOINT_NEEDED: { reason: string };
  /** A layer-1 endpoint cannot be used: `problem` says why. Remedy: name an endpoint of the right chain that has what is missing. */
  LAYER_ONE_UNUSABLE: { origin: string; problem: LayerOneProblem; reason: string };
  // Hosts.
  /**
   * The worker of the node does not start, or has ended. `url`: its script. `status`: the HTTP status of the script, if it was
   * fetched. Remedy: `reason` says what stopped it.
   */
  WORKER_FAILED: { reason: string; url?: string; status?: number };
  /** The node was closed. Remedy: open it again. */
  NODE_CLOSED: Record<never, never>;
  // Store.
  /** The store cannot be opened or used. Remedy: open the node without a store, or leave the private window. */
  STORE_UNAVAILABLE: { reason: string };
  /** A newer version of plumbline has written the store. Remedy: load the page again without its cache, or update. */
  STORE_TOO_NEW: { version: number; supported: number };
  /** A record of the store is damaged. Remedy: clear the store. A light node fetches its data again. */
  STORE_CORRUPT: { table: string; reason: string };
  /** The browser gives the store no more space. Remedy: free space, or lower the budgets. */
  STORE_QUOTA_EXCEEDED: Record<never, never>;
  /** The file is not an exported chain, is damaged, or belongs to another chain. Nothing was changed. Remedy: choose another file. */
  CHAIN_FILE_REFUSED: { reason: string };
  /** Another page or worker has become the writer of the store, so this one can no longer write. Remedy: open the node again. */
  STORE_TAKEN_OVER: Record<never, never>;
  /** Another page or worker runs a node with other options on the store. Remedy: use the same options, or another `storeName`. */
  STORE_IN_USE: { reason: string };
  /**
   * The writer ended before it answered a request that must not be sent twice. Remedy: read the chain before you send the request
   * again.
   */
  OUTCOME_UNKNOWN: { method: string };
  /**
   * plumbline or its host has a defect. `reason`: why, if the error is thrown. `id`: if the error answers a request, the event
   * `error` of the node has the same id, with the exception. Remedy: report it, with the exception.
   */
  INTERNAL: { reason?: string; id?: string };
}

/**
 * Why a layer-1 endpoint cannot be used:
 *
 * - `no-contract`: it has no rollup contract at the profile's address
 * - `not-final`: it names no finalized block
 * - `no-light-client-data`: it does not serve the light-client part of the beacon API (status 501)
 * - `other-genesis`: it follows another beacon chain
 * - `other-spec`: its configuration (`/eth/v1/config/spec`) has other sizes, forks or epochs than the network
 */
export type LayerOneProblem = 'no-contract' | 'not-final' | 'no-light-client-data' | 'other-genesis' | 'other-spec';

/** What a replica compares. `changes`: the values before the changes, in the trie log and in the state that it holds. */
export type ReplicaCheck = 'changes' | 'block-hash' | 'state-manager-root' | 'layer-one-root';

/** Why one endpoint gave no usable answer. */
export interface UpstreamReason {
  readonly origin: string;
  readonly kind: 'configuration' | 'rate-limited' | 'timed-out' | 'unavailable' | 'malformed' | 'rejected';
  readonly reason: string;
  /** The HTTP status, if there was one. */
  readonly status?: number;
}

/** Why a transaction is rejected. Each rule has its own JSON-RPC error. */
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

/** Why `eth_simulateV1` refuses a request. Each rule has its own JSON-RPC code. */
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

/** Why a wallet method refuses a request. Each rule has the code that EIP-1193, EIP-3326 or EIP-5792 gives it. */
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

  /** Also true for errors of another copy of the package: a page and a server may each have a copy, and exchange errors. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'PlumblineError';
  }

  constructor(code: C, message: string, details: ErrorDetails[C], options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** The error for a transaction that a rule refuses. @param reason - what is wrong; the message of the error */
export function rejected(
  rule: TransactionRule,
  reason: string,
  cause?: unknown,
): PlumblineError<'TRANSACTION_REJECTED'> {
  return new PlumblineError('TRANSACTION_REJECTED', reason, { rule, reason }, { cause });
}

/**
 * The error for an option, argument or parameter that cannot be used.
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

/** The error for a zk proof of a block if layer 1 stores only the hash of the block. */
export function stateRootMissing(number: number): PlumblineError<'STATE_ROOT_MISSING'> {
  const reason = `block ${number} is on layer 1 by its hash, without a state root to hold a zk proof against`;
  const remedy = 'use eth_getProof, or name an older block that has a root';
  return new PlumblineError('STATE_ROOT_MISSING', `${reason}; ${remedy}`, { block: String(number) });
}

/**
 * Returns true for a PlumblineError. With `code`, only for an error with that code.
 *
 * @example
 * ```ts
 * import { hexToBytes, isPlumblineError } from 'plumbline-l2/verify';
 *
 * try {
 *   hexToBytes('0x01', 20);
 * } catch (error) {
 *   if (!isPlumblineError(error, 'INVALID_LENGTH')) throw error;
 *   error.details.expected; // => '20'
 * }
 * ```
 */
export function isPlumblineError<C extends ErrorCode>(error: unknown, code?: C): error is PlumblineError<C> {
  return error instanceof PlumblineError && (code === undefined || error.code === code);
}

/** The message of a thrown value. The value may be something else than an Error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Origin of a URL, without user, password, path and query. Errors and events may contain nothing else of a URL. */
export function originOf(url: string): string {
  try {
    const { protocol, host } = new URL(url);
    return host === '' ? protocol : `${protocol}//${host}`;
  } catch {
    return 'an invalid URL';
  }
}
