import { isPlumblineError } from '../../errors.js';
import { type Deadline, openDeadline } from '../../scheduling/deadline.js';
import type { AnswerReport } from './answer-report.js';
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
import type { Method, MethodCallOptions, MethodTable } from './method.js';
import { toRpcError } from './rpc-errors.js';

/** Most requests of a batch, unless told otherwise. */
export const DEFAULT_MAX_BATCH = 1024;

/** How payloads are handled. */
export interface HandleOptions {
  /** Time limit of a whole payload, milliseconds; the requests of a batch share it. No limit when left out. */
  readonly timeoutMs?: number | undefined;
  /** Most requests of a batch, 1024 when left out. */
  readonly maxBatch?: number | undefined;
  /** Receives every error that a method threw; the response says less. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}

/** Handles a parsed payload, an object or an array. It never rejects. Hosts need nothing else of a node's methods. */
export type Dispatch = (payload: unknown, call?: MethodCallOptions) => Promise<Reply>;

/** The context of one request, which records what the request reads of the chain. */
export interface Noted<Context> {
  readonly context: Context;
  /** @param errorCode - of an answer that is an error */
  report(errorCode?: number): Promise<AnswerReport>;
}

/** Makes the context of one request. With it, replies carry reports of what their answers rest on. */
export interface NotingOption<Context> {
  readonly note?: ((context: Context, method: Method<Context>) => Noted<Context>) | undefined;
}

/** Makes a dispatcher of a table and the context of its methods. */
export function createDispatcher<Context>(
  table: MethodTable<Context>,
  context: Context,
  options: HandleOptions & NotingOption<Context> = {},
): Dispatch {
  return (payload, call = {}) => handlePayload(table, context, payload, { ...options, ...call });
}

/**
 * Answers a payload: a request object or a batch. The requests of a batch run one after another, in order, because
 * transactions of one sender depend on each other. The answers have the same order; notifications have none.
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
      if (!found.info.timed) deadline.unlimit();
      noted = options.note?.(context, found);
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

/** The caller gets its answer even if the observer throws. */
function report(options: HandleOptions, error: unknown, method: string): void {
  try {
    options.onError?.(error, method);
  } catch {}
}
