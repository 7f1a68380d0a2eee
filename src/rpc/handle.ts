import { isPlumblineError } from '../errors.js';
import { type Deadline, openDeadline } from '../scheduling/deadline.js';
import type { AnswerReport } from './answer-report.js';
import type { Dispatch } from './dispatch.js';
import {
  BATCH_TOO_LARGE_REPLY,
  EMPTY_BATCH_REPLY,
  failure,
  PARSE_ERROR_REPLY,
  type Reply,
  type RpcResponse,
  readRequest,
  success,
} from './envelope.js';
import type { MethodCallOptions, MethodTable } from './method.js';
import type { Noted, Noting } from './noted-context.js';
import { toRpcError } from './rpc-errors.js';

/** Most requests of a batch, unless told otherwise. */
export const DEFAULT_MAX_BATCH = 1024;

/** How payloads are handled. */
export interface HandleOptions {
  /** Time for a payload as a whole, milliseconds; a batch shares it. No limit when left out. */
  readonly timeoutMs?: number | undefined;
  /** Most requests of a batch, 1024 when left out. */
  readonly maxBatch?: number | undefined;
  /** Told of every error a method threw, before it becomes a response that says less. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}

/** Has replies carry reports of what their answers rest on. */
export interface NotingOption<Context> {
  readonly note?: Noting<Context> | undefined;
}

/** Binds a table and its context into a dispatcher. */
export function createDispatcher<Context>(
  table: MethodTable<Context>,
  context: Context,
  options: HandleOptions & NotingOption<Context> = {},
): Dispatch {
  return (payload, call = {}) => handlePayload(table, context, payload, { ...options, ...call });
}

/**
 * Answers one request object.
 *
 * @param request - anything; what is no request is answered with -32600
 * @returns undefined for a notification, which has been carried out
 * @source docs/spec/json-rpc.md 3
 */
export async function handleRequest<Context>(
  table: MethodTable<Context>,
  context: Context,
  request: unknown,
  options: HandleOptions & MethodCallOptions = {},
): Promise<RpcResponse | undefined> {
  const deadline = openDeadline(options.signal, options.timeoutMs);
  try {
    return (await answer(table, context, request, deadline, options)).body;
  } finally {
    deadline.close();
  }
}

/**
 * Answers a payload: a request object or a batch. The requests of a batch run one after another in the order they came
 * (transactions of one sender depend on it) and are answered in that order, without the notifications.
 */
export async function handlePayload<Context>(
  table: MethodTable<Context>,
  context: Context,
  payload: unknown,
  options: HandleOptions & MethodCallOptions & NotingOption<Context> = {},
): Promise<Reply> {
  if (typeof payload !== 'object' || payload === null) return PARSE_ERROR_REPLY;
  if (Array.isArray(payload)) {
    if (payload.length === 0) return EMPTY_BATCH_REPLY;
    if (payload.length > (options.maxBatch ?? DEFAULT_MAX_BATCH)) return BATCH_TOO_LARGE_REPLY;
  }
  const deadline = openDeadline(options.signal, options.timeoutMs);
  try {
    if (!Array.isArray(payload)) return await answer(table, context, payload, deadline, options);
    const responses: RpcResponse[] = [];
    const reports: AnswerReport[] = [];
    for (const request of payload) {
      const { body, reports: own = [] } = await answer(table, context, request, deadline, options);
      if (body !== undefined) responses.push(body);
      reports.push(...own);
    }
    return { body: responses, ...(options.note !== undefined && { reports }) };
  } finally {
    deadline.close();
  }
}

async function answer<Context>(
  table: MethodTable<Context>,
  context: Context,
  value: unknown,
  deadline: Deadline,
  options: HandleOptions & MethodCallOptions & NotingOption<Context>,
): Promise<{ body: RpcResponse | undefined; fault?: 'envelope' | 'timeout'; reports?: readonly AnswerReport[] }> {
  const request = readRequest(value);
  if ('error' in request) return { body: request, fault: 'envelope' };
  const { id, method, params } = request;
  let noted: Noted<Context> | undefined;
  const reported = async (errorCode?: number) => noted && { reports: [await noted.report(errorCode)] };
  try {
    const call: MethodCallOptions = {
      signal: deadline.signal,
      subscriber: options.subscriber,
      onError: (error, name) => report(options, error, name),
    };
    const result = await deadline.run(() => {
      const found = table.find(method);
      if (found.untimed === true) deadline.unlimit();
      noted = options.note?.(context, found.name);
      return found.handle(noted?.context ?? context, params, call);
    });
    return id === undefined ? { body: undefined } : { body: success(id, result), ...(await reported()) };
  } catch (error) {
    report(options, error, method);
    if (id === undefined) return { body: undefined };
    const body = failure(id, toRpcError(error));
    const fault = isPlumblineError(error, 'REQUEST_TIMED_OUT') ? ({ fault: 'timeout' } as const) : {};
    return { body, ...fault, ...(await reported(body.error.code)) };
  }
}

/** An observer that throws must not cost the caller its answer. */
function report(options: HandleOptions, error: unknown, method: string): void {
  try {
    options.onError?.(error, method);
  } catch {}
}
