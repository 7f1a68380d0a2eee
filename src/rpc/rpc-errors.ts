import { type ErrorCode, type ErrorDetails, PlumblineError, type TransactionRule } from '../errors.js';
import { bytesToHex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';

/** The `error` member of a JSON-RPC response. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** An error that already is a JSON-RPC one: bad parameters, or what an upstream answered. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(error: RpcErrorObject, options?: { cause?: unknown }) {
    super(error.message, options);
    this.code = error.code;
    this.data = error.data;
  }
}

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const SERVER_ERROR = -32000;

export const PARSE_ERROR: RpcErrorObject = { code: -32700, message: 'Parse error' };
export const INVALID_REQUEST_ERROR: RpcErrorObject = { code: INVALID_REQUEST, message: 'Invalid Request' };
export const BATCH_TOO_LARGE: RpcErrorObject = { code: -32005, message: 'Number of requests exceeds max batch size' };

/** What a body above `limit` bytes is answered. Not -32005: clients read that as a rate limit and come back. */
export function bodyTooLarge(limit: number): RpcErrorObject {
  return { code: INVALID_REQUEST, message: `Invalid Request (body above ${limit} bytes)` };
}

/**
 * The -32602 of a bad parameter, `Invalid call params (to: expected 20 bytes, got 19)`.
 *
 * @param parameter - its name, with the path inside it
 * @param subject - what the parameters are of, as the reference node words it (spec/json-rpc.md 4.1)
 */
export function invalidParams(parameter: string, reason: string, subject = 'params'): RpcError {
  return new RpcError({ code: INVALID_PARAMS, message: `Invalid ${subject} (${parameter}: ${reason})` });
}

/** Internal error; `detail` must be a text of ours, because what was thrown may name paths or keys. */
function internal(detail?: string): RpcErrorObject {
  return { code: INTERNAL_ERROR, message: detail === undefined ? 'Internal error' : `Internal error (${detail})` };
}

function server(message: string): RpcErrorObject {
  return { code: SERVER_ERROR, message };
}

function badInput(what: string, reason: string): RpcErrorObject {
  return { code: INVALID_PARAMS, message: `Invalid params (${what}: ${reason})` };
}

function withReason(code: number, message: string, reason: string): RpcErrorObject {
  return reason === '' ? { code, message } : { code, message, data: reason };
}

/**
 * Why a transaction is refused. Rules with a message of their own carry the reason as `data`; for the others the reason
 * is the message.
 *
 * @source spec/json-rpc.md 4.1, spec/fees.md 7; Besu RpcErrorType for `type` and `chain-id`
 */
const REJECTIONS: { readonly [R in TransactionRule]: (reason: string) => RpcErrorObject } = {
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
  recipient: server,
  known: () => server('Known transaction'),
};

/** Every code of plumbline. @source spec/json-rpc.md 2.3, 3, 4.1; spec/fees.md 6; DESIGN.md 8 */
const BY_CODE: { readonly [C in ErrorCode]: (details: ErrorDetails[C]) => RpcErrorObject } = {
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
  DICTIONARY_LENGTH_MISMATCH: () => internal('compression dictionary of another length'),
  DICTIONARY_CHECKSUM_MISMATCH: () => internal('compression dictionary of another checksum'),
  DICTIONARY_UNREACHABLE: () => internal('compression dictionary is not to be had'),
  PROOF_MALFORMED: ({ path }) => internal(`malformed proof at ${path}`),
  TRIE_LOG_MALFORMED: ({ path }) => internal(`malformed trie log at ${path}`),
  TRACE_MALFORMED: ({ path }) => internal(`malformed state trace at ${path}`),
  WITNESS_MISSING: ({ part }) => internal(`a ${part} of the state is not known`),
  WITNESS_CONFLICT: () => internal('branches of the state contradict each other'),
  GAS_IS_ZERO: () => badInput('gas', 'is zero'),
  TRANSACTION_TYPE_UNSUPPORTED: ({ type }) => REJECTIONS.type(`type ${type}`),
  MARGIN_INVALID: () => internal('margin is not a positive number'),
  STATE_MISMATCH: ({ what }) => internal(`${what} differs from what was committed`),
  STATE_NOT_HELD: () => server('World state unavailable'),
  BLOCK_NOT_FOUND: () => ({ code: -39001, message: 'Unknown block' }),
  BLOCK_NOT_PROVABLE: () => ({ code: INVALID_REQUEST, message: 'BLOCK_MISSING_IN_CHAIN - block is missing' }),
  TRANSACTION_REJECTED: ({ rule, reason }) => REJECTIONS[rule](reason),
  EXECUTION_REVERTED: ({ data, reason }) => ({
    code: 3,
    message: reason === undefined ? 'Execution reverted' : `Execution reverted (${reason})`,
    data: bytesToHex(data),
  }),
  EXECUTION_FAILED: ({ reason }) =>
    server(`Transaction processing could not be completed due to an exception (${reason})`),
  INSUFFICIENT_FUNDS: ({ required, balance, sender }) =>
    server(
      `transaction up-front cost ${toQuantity(required)} exceeds transaction sender account balance ` +
        `${toQuantity(balance)} for sender ${sender}`,
    ),
  UPFRONT_COST_EXCEEDS_BALANCE: () => REJECTIONS.funds(''),
  GAS_ALLOWANCE_EXCEEDED: ({ allowance }) => server(`gas required exceeds allowance (${allowance})`),
  STEP_BUDGET_EXCEEDED: ({ budget }) => server(`execution stopped after ${budget} steps`),
  METHOD_NOT_FOUND: () => ({ code: -32601, message: 'Method not found' }),
  METHOD_NOT_ENABLED: () => ({ code: -32604, message: 'Method not enabled' }),
  REQUEST_TIMED_OUT: () => ({ code: INTERNAL_ERROR, message: 'Timeout expired' }),
  ABORTED: () => ({ code: INTERNAL_ERROR, message: 'Request aborted' }),
  WORKER_FAILED: () => internal('the worker has failed'),
  NODE_CLOSED: () => internal('the node is closed'),
  STORE_UNAVAILABLE: () => internal('the store is not available'),
  STORE_TOO_NEW: () => internal('the store was written by a newer version'),
  STORE_CORRUPT: ({ table }) => internal(`the store is damaged in ${table}`),
  STORE_QUOTA_EXCEEDED: () => internal('the store is full'),
  INTERNAL: () => internal(),
};

/** The JSON-RPC error of anything that was thrown. What is not known is an internal error that says nothing more. */
export function toRpcError(error: unknown): RpcErrorObject {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return data === undefined ? { code, message } : { code, message, data };
  }
  if (error instanceof PlumblineError) return describe(error);
  return internal();
}

function describe<C extends ErrorCode>(error: PlumblineError<C>): RpcErrorObject {
  return BY_CODE[error.code](error.details);
}
