import type { AnswerNote } from '../chain/chain.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import type { GasCount } from '../evm/run-budget.js';
import { type Deadline, type LateSignal, openDeadline, withLateSignal } from '../scheduling/deadline.js';
import type { InOrder } from '../scheduling/in-order.js';
import { nextTurn, turnToBegin } from '../scheduling/turns.js';
import type { AnswerReport } from './answer-report.js';
import {
  asError,
  batchTooLargeReply,
  EMPTY_BATCH_REPLY,
  failure,
  type NodeFault,
  PARSE_ERROR_REPLY,
  type Reply,
  type RpcResponse,
  readRequest,
  success,
} from './envelope.js';
import type { Method, MethodCallOptions, MethodTable } from './method.js';
import { toRpcError, wireError } from './rpc-errors.js';

/** How payloads are handled. */
export interface HandleOptions {
  /** Time limit of a whole payload, milliseconds; the requests of a batch share it. No limit when left out. */
  readonly timeoutMs?: number | undefined;
  /** Most gas of all executions of a whole payload. No limit when left out. */
  readonly gasBudget?: number | undefined;
  /** Most requests of a batch. No limit when left out. */
  readonly maxBatch?: number | undefined;
  /** Holds the deadlines of all payloads under way, so that they can be aborted. */
  readonly running?: InOrder<Deadline> | undefined;
  /** Most bytes of all answers to a payload, as JSON; no limit when left out. What does not fit becomes an error. */
  readonly maxAnswerBytes?: number | undefined;
  /** Receives every error that a method threw; the response says less. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}

/** What is known of the caller of one payload. */
export interface PayloadOptions extends Pick<MethodCallOptions, 'subscriber' | 'client' | 'chains'> {
  readonly signal?: AbortSignal | LateSignal | undefined;
  /** Nobody reads what the answers of reads rest on: no reports are made of them. */
  readonly unreported?: boolean | undefined;
  /** Gas of the caller's connection. */
  readonly connectionGas?: GasCount | undefined;
}

/** Handles a parsed payload, an object or an array. It never rejects. Hosts need nothing else of a node's methods. */
export type Dispatch = (payload: unknown, call?: PayloadOptions) => Promise<Reply>;

/** What one request reads of the chain. */
export interface Noted {
  readonly note: AnswerNote;
  /** @param errorCode - of an answer that is an error */
  report(errorCode?: number): Promise<AnswerReport>;
}

/** Notes what one request reads. With it, replies carry reports of what their answers rest on. */
export interface NotingOption<Context> {
  readonly note?: ((context: Context, method: Method<Context>) => Noted) | undefined;
}

/**
 * Makes a dispatcher of a table and the context of its methods. It answers a payload: a request object or a batch. The requests of a
 * batch run one after another, in order, because transactions of one sender depend on each other. The answers have the same order;
 * notifications have none. Between them, other requests and timers get their turn.
 */
export function createDispatcher<Context>(
  table: MethodTable<Context>,
  context: Context,
  options: HandleOptions & NotingOption<Context> = {},
): Dispatch {
  return async (payload, caller = {}) => {
    if (typeof payload !== 'object' || payload === null) return PARSE_ERROR_REPLY;
    if (Array.isArray(payload)) {
      if (payload.length === 0) return EMPTY_BATCH_REPLY;
      const { maxBatch = Number.POSITIVE_INFINITY } = options;
      if (payload.length > maxBatch) return batchTooLargeReply(maxBatch);
    }
    const { timeoutMs, running, gasBudget: budget = Number.POSITIVE_INFINITY } = options;
    const deadline = openDeadline(caller.signal, timeoutMs);
    const gas: GasCount = { budget, spent: 0, within: caller.connectionGas };
    const shared = { caller, deadline, gas, fits: answerRoom(options.maxAnswerBytes, !Array.isArray(payload)) };
    const place = running?.add(deadline);
    try {
      const turn = turnToBegin();
      if (turn !== undefined) await until(turn, deadline);
      if (!Array.isArray(payload)) return await answer(table, context, payload, shared, options);
      const responses: RpcResponse[] = [];
      const reports: AnswerReport[] = [];
      const faults: NodeFault[] = [];
      for (const request of payload) {
        const turn = nextTurn();
        if (turn !== undefined) await until(turn, deadline);
        const { body, reports: own = [], faults: found = [] } = await answer(table, context, request, shared, options);
        if (body !== undefined) responses.push(body);
        reports.push(...own);
        faults.push(...found);
      }
      return { body: responses, ...(options.note !== undefined && { reports }), ...(faults.length > 0 && { faults }) };
    } finally {
      if (place !== undefined) running!.remove(place);
      deadline.close();
    }
  };
}

/** Waits for a turn, but not beyond the deadline: each request is answered with its error then. */
async function until(turn: Promise<void>, deadline: Deadline): Promise<void> {
  try {
    await deadline.run(() => turn);
  } catch {}
}

/** What the requests of one payload share. */
interface Shared {
  readonly caller: PayloadOptions;
  readonly deadline: Deadline;
  readonly gas: GasCount;
  /** Counts an answer. @returns whether there is room for it */
  fits(response: RpcResponse): boolean;
}

async function answer<Context>(
  table: MethodTable<Context>,
  context: Context,
  value: unknown,
  { caller, deadline, gas, fits }: Shared,
  options: HandleOptions & NotingOption<Context>,
): Promise<Reply & { readonly body: RpcResponse | undefined }> {
  const request = readRequest(value);
  if ('error' in request) return { body: request, fault: 'envelope' };
  const { id, method, params } = request;
  let noted: Noted | undefined;
  const reported = async (errorCode?: number) => noted && { reports: [await noted.report(errorCode)] };
  try {
    const found = table.find(method);
    if (!found.info.timed) deadline.unlimit();
    if (!(caller.unreported && found.info.effect === 'none')) noted = options.note?.(context, found);
    const call: MethodCallOptions = withLateSignal({
      stopped: deadline.stopped,
      gas,
      note: noted?.note,
      subscriber: caller.subscriber,
      client: caller.client,
      chains: caller.chains,
      onError: (error: unknown, name: string) => report(options, error, name),
      signalFrom: deadline,
    });
    const result = await deadline.run(() => found.handle(context, params, call));
    if (id === undefined) return { body: undefined };
    const body = success(id, result);
    if (!fits(body)) throw answerTooLarge(options.maxAnswerBytes!);
    return noted === undefined ? { body } : { body, ...(await reported()) };
  } catch (error) {
    report(options, error, method);
    const told = toRpcError(error);
    const faults =
      told.reason === 'INTERNAL' ? { faults: [{ id: told.details.id!, method, error: asError(error) }] } : {};
    if (id === undefined) return { body: undefined, ...faults };
    const full = failure(id, told);
    const body = fits(full) ? full : failure(id, toRpcError(answerTooLarge(options.maxAnswerBytes!)));
    const fault = isPlumblineError(error, 'REQUEST_TIMED_OUT') ? ({ fault: 'timeout' } as const) : {};
    return { body, ...fault, ...faults, ...(await reported(body.error.code)) };
  }
}

/** The caller gets its answer even if the observer throws. */
function report(options: HandleOptions, error: unknown, method: string): void {
  try {
    options.onError?.(error, method);
  } catch {}
}

/** A result or error of so many bytes always fits, so that the hash of a sent transaction is not lost. Errors are no longer. */
const ALWAYS_FITS = 256;
/** Bytes of a response beside its id, its result or error: `{"jsonrpc":"2.0","id":,"result":},`. */
const ENVELOPE = 36;
/** Only characters that are one byte each in JSON text: ASCII without controls, quote and backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

const encoder = new TextEncoder();

/**
 * Counts the answers of one payload as bytes of JSON text in UTF-8.
 *
 * @param limit - bytes of all answers together; no limit when left out
 * @param isOne - there is one answer alone
 * @returns a function that takes an answer, or returns false for one that does not fit
 */
export function answerRoom(limit = Number.POSITIVE_INFINITY, isOne = false): (response: RpcResponse) => boolean {
  let left = limit;
  return (response) => {
    if (limit === Number.POSITIVE_INFINITY) return true;
    const body = 'error' in response ? wireError(response.error) : response.result;
    const most = Math.max(left, ALWAYS_FITS);
    // In a fraction of the time.
    if (isOne && jsonSize(body, most, mostTextSize) <= most) return true;
    const size = jsonSize(body, most);
    if (size > most) return false;
    left -= size + ENVELOPE + jsonSize(response.id, limit);
    return true;
  };
}

/** The error for an answer that does not fit. @param limit - bytes */
export function answerTooLarge(limit: number): PlumblineError<'ANSWER_TOO_LARGE'> {
  const advice = 'ask for less, in several requests, or allow more with maxAnswerBytes';
  return new PlumblineError('ANSWER_TOO_LARGE', `the answer has more than ${limit} bytes; ${advice}`, { limit });
}

/**
 * Length of a value as JSON text in UTF-8, bytes. A value that JSON cannot express counts as nothing: writing it fails.
 *
 * @param most - counting ends above it
 * @param sizeOf - of a text
 */
export function jsonSize(value: unknown, most: number, sizeOf = textSize): number {
  switch (typeof value) {
    case 'string':
      return sizeOf(value, most);
    case 'number':
      return Number.isFinite(value) ? String(value).length : 4;
    case 'boolean':
      return value ? 4 : 5;
    case 'object':
      break;
    default:
      return value === undefined ? 4 : 0;
  }
  if (value === null) return 4;
  // The brackets, and a comma before each member but the first.
  let size = 2;
  let separator = 0;
  const isList = Array.isArray(value);
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (!isList && (member === undefined || typeof member === 'function')) continue;
    size += separator + jsonSize(member, most - size, sizeOf) + (isList ? 0 : sizeOf(name, most) + 1);
    separator = 1;
    if (size > most) break;
  }
  return size;
}

/** No less than a text takes: an escape has six bytes. */
const mostTextSize = (text: string): number => 2 + 6 * text.length;

function textSize(text: string, most: number): number {
  const least = text.length + 2;
  return least > most || PLAIN.test(text) ? least : encoder.encode(JSON.stringify(text)).length;
}
