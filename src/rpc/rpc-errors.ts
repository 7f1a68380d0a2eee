import {
  type ErrorCode,
  type ErrorDetails,
  isPlumblineError,
  PlumblineError,
  type SimulationRule,
  type TransactionRule,
  type WalletRule,
} from '../errors.js';
import { bytesToHex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';

/** The `error` member of a JSON-RPC response, as it is sent. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The `error` of a response inside this program, with plumbline's code and its details. `wireError` returns what is sent. */
export type RpcErrorObject = {
  [C in ErrorCode]: WireError & { readonly reason: C; readonly details: ErrorDetails[C] };
}[ErrorCode];

/** An error that already has its JSON-RPC form, such as that of a bad parameter. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(readonly told: RpcErrorObject) {
    super(told.message);
  }
}

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const SERVER_ERROR = -32000;

export const PARSE_ERROR = malformed(-32700, 'Parse error', 'is not JSON');
export const INVALID_REQUEST_ERROR = malformed(INVALID_REQUEST, 'Invalid Request', 'is not a request');

/** The error for a batch of more than `limit` requests. */
export function batchTooLarge(limit: number): RpcErrorObject {
  return tooLarge(-32005, 'Number of requests exceeds max batch size', 'batch', limit);
}

/** The error while the bodies of a client's requests take too much memory. -32005: the client may send it again later. */
export const TOO_MANY_BODIES = tooLarge(-32005, 'Too many bytes of requests at once', 'bodies');

/** Of geth. @source ethereum/go-ethereum@02b73d4ea7 rpc/errors.go, errcodeResponseTooLarge */
const RESPONSE_TOO_LARGE = -32003;

/** The error for JSON that is nested deeper than `limit`. */
export function nestedTooDeep(limit: number): RpcErrorObject {
  const reason = `nested deeper than ${limit} levels`;
  return malformed(INVALID_REQUEST, `Invalid Request (${reason})`, reason);
}

/** The error for a body above `limit` bytes. Not -32005: clients take that for a rate limit and send the body again. */
export function bodyTooLarge(limit: number): RpcErrorObject {
  return tooLarge(INVALID_REQUEST, `Invalid Request (body above ${limit} bytes)`, 'body', limit);
}

function malformed(code: number, message: string, reason: string): RpcErrorObject {
  return { code, message, reason: 'REQUEST_MALFORMED', details: { reason } };
}

function tooLarge(
  code: number,
  message: string,
  what: ErrorDetails['REQUEST_TOO_LARGE']['what'],
  limit?: number,
): RpcErrorObject {
  return { code, message, reason: 'REQUEST_TOO_LARGE', details: { what, ...(limit !== undefined && { limit }) } };
}

/**
 * The -32602 of a bad parameter, `Invalid call params (to: expected 20 bytes, got 19)`.
 *
 * @param parameter - its name, with the path inside it
 * @param subject - which parameters, in the words of the reference node (docs/spec/json-rpc.md 4.1)
 */
export function invalidParams(parameter: string, reason: string, subject = 'params'): RpcError {
  const message = `Invalid ${subject} (${parameter}: ${reason})`;
  return new RpcError({ code: INVALID_PARAMS, message, reason: 'INVALID_PARAMETER', details: { parameter, reason } });
}

/** Internal error. `detail` must be a constant text: the message of what was thrown may contain paths or API keys. */
function internal(detail?: string): WireError {
  return { code: INTERNAL_ERROR, message: detail === undefined ? 'Internal error' : `Internal error (${detail})` };
}

function server(message: string): WireError {
  return { code: SERVER_ERROR, message };
}

function badInput(what: string, reason: string): WireError {
  return { code: INVALID_PARAMS, message: `Invalid params (${what}: ${reason})` };
}

function withReason(code: number, message: string, reason: string): WireError {
  return reason === '' ? { code, message } : { code, message, data: reason };
}

/**
 * Why a transaction is refused. Where the rule has its own message, the reason is `data`; otherwise the reason is the
 * message.
 *
 * @source docs/spec/json-rpc.md 4.1, docs/spec/fees.md 7; for `type` and `chain-id`
 *   hyperledger/besu@06af6b57ee ethereum/api, RpcErrorType
 */
const REJECTIONS: { readonly [R in TransactionRule]: (reason: string) => WireError } = {
  malformed: (reason) => ({ code: INVALID_PARAMS, message: `Invalid transaction params (${reason})` }),
  sender: (reason) => withReason(-32007, 'Sender account not authorized to send transactions', reason),
  type: (reason) => withReason(INVALID_PARAMS, 'Invalid transaction type', reason),
  'chain-id': (reason) => withReason(SERVER_ERROR, 'Wrong chainId', reason),
  signature: (reason) => withReason(-32002, 'Invalid signature', reason),
  'nonce-too-low': (reason) => withReason(-32001, 'Nonce too low', reason),
  'nonce-too-high': (reason) => withReason(-32006, 'Nonce too high', reason),
  'intrinsic-gas': (reason) => withReason(-32003, 'Intrinsic gas exceeds gas limit', reason),
  funds: (reason) => withReason(-32004, 'Upfront cost exceeds account balance', reason),
  'gas-limit': server,
  'block-gas-limit': (reason) => withReason(-32005, 'Transaction gas limit exceeds block gas limit', reason),
  'gas-price': (reason) => withReason(-32009, 'Gas price below configured minimum gas price', reason),
  'calldata-size': server,
  'init-code': server,
  recipient: server,
  denied: server,
  'type-refused': server,
  unprofitable: server,
  underpriced: server,
  'pool-full': server,
  known: () => server('Known transaction'),
};

/** @source EIP-1193, "Provider Errors"; EIP-3326 for 4902; EIP-5792, "Error Codes" */
const WALLET_CODES: { readonly [R in WalletRule]: number } = {
  unauthorized: 4100,
  unsupported: 4200,
  'unknown-chain': 4902,
  'unsupported-capability': 5700,
  'unsupported-chain': 5710,
  'duplicate-batch': 5720,
  'unknown-batch': 5730,
  'batch-too-large': 5740,
  atomicity: 5760,
};

/**
 * Codes of a simulation that is refused as a whole.
 *
 * @source docs/spec/json-rpc.md 4.2; ethereum/go-ethereum@02b73d4ea7 internal/ethapi/errors.go, as
 *   ethereum/execution-apis@033ca6e6 tests record it
 */
const SIMULATION_CODES: { readonly [R in SimulationRule]: number } = {
  'base-block': SERVER_ERROR,
  override: SERVER_ERROR,
  'nonce-too-low': -38010,
  'nonce-too-high': -38011,
  'base-fee': -38012,
  'intrinsic-gas': -38013,
  funds: -38014,
  'block-gas-limit': -38015,
  'block-number': -38020,
  timestamp: -38021,
  'init-code': -38025,
  'too-many-blocks': -38026,
  'too-many-calls': -38026,
  parameter: INVALID_PARAMS,
};

/** Code of a simulated call that fails for another reason than a revert. */
const SIMULATED_FAILURE = -32015;

/**
 * The JSON-RPC errors of codes with a number or a message of their own. The others are -32000 with the message as it is. A code whose
 * message may have words of the host, such as a path, has its own here.
 *
 * @source docs/spec/json-rpc.md 2.3, 3, 4.1; docs/spec/fees.md 6; docs/decisions.md 6, 8, 9, 11 and 13
 */
const BY_CODE: { readonly [C in ErrorCode]?: (details: ErrorDetails[C], message: string) => WireError } = {
  INVALID_HEX: ({ reason }) => badInput('hex', reason),
  INVALID_QUANTITY: ({ reason }) => badInput('quantity', reason),
  INVALID_LENGTH: ({ what, expected, actual }) => badInput(what, `expected ${expected}, got ${actual}`),
  INVALID_PARAMETER: ({ parameter, reason }) => badInput(parameter, reason),
  OUT_OF_RANGE: ({ what, limit }) => badInput(what, `outside ${limit}`),
  KERNEL_UNAVAILABLE: ({ kernel }) => internal(`WebAssembly kernel ${kernel} is not available`),
  KERNEL_OUT_OF_MEMORY: ({ kernel }) => internal(`WebAssembly kernel ${kernel} is out of memory`),
  HASH_INPUT_LENGTH: () => internal(),
  HASH_INPUT_NOT_CANONICAL: () => internal(),
  CALLDATA_TOO_LARGE: ({ limit }) => server(`Calldata of transaction is greater than the allowed max of ${limit}`),
  DICTIONARY_LENGTH_MISMATCH: () => internal('the compression dictionary has the wrong length'),
  DICTIONARY_CHECKSUM_MISMATCH: () => internal('the compression dictionary has the wrong checksum'),
  DICTIONARY_UNREACHABLE: () => internal('the compression dictionary cannot be loaded'),
  PROOF_MALFORMED: ({ path, reason, origin, method }) =>
    server(
      origin === undefined
        ? `malformed proof at ${path}`
        : `the answer of ${origin} to ${method} is malformed: ${path === '' ? 'it' : path} ${reason}`,
    ),
  TRIE_LOG_MALFORMED: ({ path }) => server(`malformed trie log at ${path}`),
  TRACE_MALFORMED: ({ path }) => internal(`malformed state trace at ${path}`),
  WITNESS_MISSING: ({ part }) => internal(`a ${part} of the state is missing`),
  WITNESS_CONFLICT: () => internal('branches of the state contradict each other'),
  GAS_IS_ZERO: () => badInput('gas', 'is zero'),
  TRANSACTION_TYPE_UNSUPPORTED: ({ type }) => REJECTIONS.type(`type ${type}`),
  MARGIN_INVALID: () => internal('the margin is not a number of at least zero'),
  STATE_MISMATCH: ({ what }) => internal(`${what} differs from what was committed`),
  STATE_NOT_HELD: () => server('World state unavailable'),
  BLOCK_NOT_FOUND: ({ block }) => ({
    code: -39001,
    message: ['finalized', 'safe'].includes(block)
      ? `Unknown block (${block}: there is none yet, or chain.layerOne names no layer 1)`
      : 'Unknown block',
  }),
  BLOCK_PRUNED: ({ from }) => ({ code: 4444, message: `Pruned history unavailable (blocks from ${from} on are held)` }),
  BLOCK_NOT_PROVABLE: ({ from }) => ({
    code: INVALID_REQUEST,
    message: `BLOCK_MISSING_IN_CHAIN - block is missing${from === undefined ? '' : ` (states from block ${from} on can be proved)`}`,
  }),
  TRIE_LOG_MISSING: ({ block }) => server(`the trie log of block ${block} is missing`),
  REPLICA_DIVERGED: ({ block, what }) => internal(`the replica differs at block ${block}: ${what}`),
  BLOCK_INVALID: ({ block, what }) => server(`block ${block} is invalid: ${what}`),
  TRANSACTION_REJECTED: ({ rule, reason }) => REJECTIONS[rule](reason),
  EXECUTION_REVERTED: ({ data, reason }) => ({
    code: 3,
    message: reason === undefined ? 'Execution reverted' : `Execution reverted (${reason})`,
    data: bytesToHex(data),
  }),
  EXECUTION_FAILED: ({ reason, opcode }) =>
    server(`Transaction processing could not be completed due to an exception (${haltReason(reason, opcode)})`),
  MODULE_LIMIT_EXCEEDED: ({ module, count, limit }) =>
    server(`Transaction line count for module ${module}=${count} is above the limit ${limit}`),
  INSUFFICIENT_FUNDS: ({ required, balance, sender, sent }) => ({
    code: sent === true ? -32004 : SERVER_ERROR,
    message:
      `transaction up-front cost ${toQuantity(required)} exceeds transaction sender account balance ` +
      `${toQuantity(balance)} for sender ${sender}`,
  }),
  UPFRONT_COST_EXCEEDS_BALANCE: () => REJECTIONS.funds(''),
  GAS_ALLOWANCE_EXCEEDED: ({ allowance }) => server(`gas required exceeds allowance (${allowance})`),
  GAS_BUDGET_EXCEEDED: ({ budget, retryAfterMs }) => {
    const stopped = server(`execution stopped: its runs have used more than ${budget} gas`);
    if (retryAfterMs === undefined) return stopped;
    const again = `within a minute, with others of the connection; try again in ${Math.ceil(retryAfterMs / 1000)} s`;
    return { code: -32005, message: `${stopped.message} ${again}` };
  },
  SIMULATION_REFUSED: ({ rule, reason }) => ({ code: SIMULATION_CODES[rule], message: reason }),
  REQUEST_MALFORMED: ({ reason }) => ({ code: INVALID_REQUEST, message: `Invalid Request (${reason})` }),
  REQUEST_TOO_LARGE: ({ what }) => ({ code: -32005, message: `Too many bytes or requests at once (${what})` }),
  TRANSACTION_NOT_FOUND: () => server('transaction not found'),
  // EIP-7966.
  TRANSACTION_PENDING: ({ hash, waitedMs }) => ({
    code: 4,
    message: `The transaction was added to the mempool but wasn't processed in ${waitedMs} ms`,
    data: hash,
  }),
  BLOCK_INCOMPLETE: ({ reason }) => server(reason),
  // A caller may give a name of any length.
  METHOD_NOT_FOUND: ({ method }) => ({ code: -32601, message: `Method not found (${method.slice(0, 64)})` }),
  METHOD_NOT_ENABLED: ({ method, reason }) => ({
    code: -32604,
    message: `Method not enabled (${reason ?? method.slice(0, 64)})`,
  }),
  WALLET_REFUSED: ({ rule, reason }) => ({ code: WALLET_CODES[rule], message: reason }),
  REQUEST_TIMED_OUT: () => ({ code: INTERNAL_ERROR, message: 'Timeout expired' }),
  ABORTED: () => ({ code: INTERNAL_ERROR, message: 'Request aborted' }),
  ANSWER_TOO_LARGE: ({ limit }) => ({
    code: RESPONSE_TOO_LARGE,
    message: `Response too large (more than ${limit} bytes)`,
  }),
  PREVIEW_TOO_LARGE: ({ limit }) => ({
    code: -32005,
    message: `The calls change or claim too much for a preview (more than ${limit} questions to contracts)`,
  }),
  FILTER_NOT_FOUND: () => server('Filter not found'),
  FILTER_LIMIT: ({ limit }) => ({ code: -32005, message: `Number of filters exceeds ${limit}` }),
  SUBSCRIPTION_NOT_FOUND: () => server('Subscription not found'),
  SUBSCRIPTION_LIMIT: ({ limit }) => ({ code: -32005, message: `Number of subscriptions exceeds ${limit}` }),
  UPSTREAM_RATE_LIMITED: (_, message) => ({ code: -32005, message }),
  UPSTREAM_ERROR: upstreamAnswer,
  ANSWER_REFUSED: ({ what, check, origin = 'an endpoint', method, hint }) => {
    const asked = method === undefined ? '' : ` to ${method}`;
    const found = hint === undefined ? '' : ` (${hint})`;
    return server(`the answer of ${origin}${asked} about ${what} was refused: ${check}${found}`);
  },
  FORK_UNSUPPORTED: ({ fork }) => internal(`this release does not read the fork ${fork} of layer 1`),
  CHECKPOINT_NEEDED: ({ reason }) => ({ code: SERVER_ERROR, message: reason }),
  LAYER_ONE_UNUSABLE: ({ reason }) => server(reason),
  LAYER_ONE_CONTRADICTS: ({ slot }) => internal(`layer 1 contradicts itself at slot ${slot}`),
  WORKER_FAILED: () => internal('the worker has failed'),
  NODE_CLOSED: () => internal('the node is closed'),
  STORE_UNAVAILABLE: () => internal('the store is not available'),
  STORE_TOO_NEW: () => internal('the store was written by a newer version of plumbline'),
  STORE_CORRUPT: ({ table }) => internal(`the store is damaged in ${table}`),
  CHAIN_FILE_REFUSED: ({ reason }) => badInput('file', reason),
  STORE_QUOTA_EXCEEDED: () => internal('the store is full: free space, or lower its budget'),
  STORE_TAKEN_OVER: () => internal('the store was taken over by another node'),
  STORE_IN_USE: () => internal('the store is in use by a node with other options'),
  OUTCOME_UNKNOWN: ({ method }) => internal(`the outcome of ${method} is unknown: the node that had it ended`),
  INTERNAL: () => internal(),
};

/**
 * An endpoint's code and data reach the caller only if the request was merely forwarded. Anywhere else they would look like
 * this node's own: a forged revert, for example.
 */
function upstreamAnswer({ code, message, data, forwarded }: ErrorDetails['UPSTREAM_ERROR'], told: string): WireError {
  if (forwarded !== true) return server(told);
  return data === undefined ? { code, message } : { code, message, data };
}

/** In the words of Besu: `Out of gas`, `Invalid opcode: 0xc8`. */
function haltReason(reason: string, opcode: number | undefined): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return opcode === undefined ? text : `${text}: 0x${opcode.toString(16).padStart(2, '0')}`;
}

/** The JSON-RPC error of anything that was thrown. An unknown error becomes an internal error with an id and no other detail. */
export function toRpcError(error: unknown): RpcErrorObject {
  if (error instanceof RpcError) return error.told;
  // Of the endpoints' time, not of the request's: `cause` says which of them did not answer.
  const isOfEndpoints = isPlumblineError(error, 'REQUEST_TIMED_OUT') && isPlumblineError(error.cause);
  const known = isOfEndpoints ? error.cause : error;
  return isPlumblineError(known) && known.code !== 'INTERNAL' ? describe(known) : unknownError();
}

/** The error of what only the program that runs the node may see. */
function unknownError(): RpcErrorObject {
  // Pages that are not secure have no `crypto.randomUUID`.
  const id = bytesToHex(crypto.getRandomValues(new Uint8Array(4))).slice(2);
  return { code: INTERNAL_ERROR, message: `Internal error (id ${id})`, reason: 'INTERNAL', details: { id } };
}

/** The `error` of a failed call within a simulation that continued: `EXECUTION_REVERTED` or `EXECUTION_FAILED`. */
export function simulatedCallError(error: PlumblineError): WireError {
  if (isPlumblineError(error, 'EXECUTION_FAILED')) return { code: SIMULATED_FAILURE, message: error.message };
  return wireFormOf(error);
}

function describe(error: PlumblineError): RpcErrorObject {
  const { code: reason, details } = error;
  return { ...wireFormOf(error), reason, details } as RpcErrorObject;
}

function wireFormOf({ code, details, message }: PlumblineError): WireError {
  return BY_CODE[code]?.(details as never, message) ?? server(message);
}

/** Codes whose details may have words of the host, such as a path. */
const OF_THE_HOST: readonly ErrorCode[] = ['KERNEL_UNAVAILABLE', 'WORKER_FAILED', 'STORE_UNAVAILABLE', 'STORE_CORRUPT'];

/** An error as it is sent: `data` has the code of plumbline and its details, if the method gives it no other meaning. */
export function wireError({ code, message, data, reason, details }: RpcErrorObject): WireError {
  if (data !== undefined) return { code, message, data };
  return { code, message, data: OF_THE_HOST.includes(reason) ? { reason } : { reason, details: asJson(details) } };
}

/** Details as JSON: bytes and bigints as hex. */
function asJson(value: unknown): unknown {
  if (typeof value === 'bigint') return toQuantity(value);
  if (value instanceof Uint8Array) return bytesToHex(value);
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asJson(member)]));
}

/** @param reason - what is wrong, and what to do */
export function walletRefused(rule: WalletRule, reason: string): PlumblineError<'WALLET_REFUSED'> {
  return new PlumblineError('WALLET_REFUSED', reason, { rule, reason });
}
