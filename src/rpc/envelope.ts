import { isDeeperThan, MAX_JSON_DEPTH } from '../primitives/bounded-input.js';
import type { AnswerReport } from './answer-report.js';
import {
  batchTooLarge,
  INVALID_REQUEST_ERROR,
  nestedTooDeep,
  PARSE_ERROR,
  type RpcErrorObject,
  toRpcError,
  wireError,
} from './rpc-errors.js';

/** The id of a request. */
export type RpcId = string | number | null;

/** A response with a result. */
export interface RpcSuccess {
  readonly jsonrpc: '2.0';
  readonly id: RpcId;
  readonly result: unknown;
}

/** A response with an error. */
export interface RpcFailure {
  readonly jsonrpc: '2.0';
  readonly id: RpcId;
  readonly error: RpcErrorObject;
}

/** An exception behind an internal error, which a client does not see. */
export interface NodeFault {
  /** Of the `INTERNAL` error that the client got. */
  readonly id: string;
  /** Left out if it failed outside of a method. */
  readonly method?: string;
  /** What was thrown, with its stack. If it comes from a worker or another page, it has only the members that structured cloning keeps. */
  readonly error: Error;
}

/** What was thrown, as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** A response object, its members in the order in which they are sent. */
export type RpcResponse = RpcSuccess | RpcFailure;

/**
 * The answer to one payload. `body` is undefined for a notification. `fault` says that the payload as a whole was not a
 * request (`envelope`) or took too long (`timeout`): HTTP has statuses for these.
 */
export interface Reply {
  readonly body: RpcResponse | readonly RpcResponse[] | undefined;
  readonly fault?: 'envelope' | 'timeout';
  /** What the answers rest on, in the order of `body`, if the dispatcher was made with `note`. Never sent over HTTP. */
  readonly reports?: readonly AnswerReport[];
  /** Behind internal errors of the answers. Never sent over HTTP. */
  readonly faults?: readonly NodeFault[];
}

/** A checked request object. Without `id` it is a notification. */
export interface RpcRequest {
  readonly id?: RpcId;
  readonly method: string;
  readonly params: readonly unknown[];
}

export function success(id: RpcId, result: unknown): RpcSuccess {
  return { jsonrpc: '2.0', id, result: result === undefined ? null : result };
}

export function failure(id: RpcId, error: RpcErrorObject): RpcFailure {
  return { jsonrpc: '2.0', id, error };
}

export const PARSE_ERROR_REPLY: Reply = { body: failure(null, PARSE_ERROR), fault: 'envelope' };
export const EMPTY_BATCH_REPLY: Reply = { body: failure(null, INVALID_REQUEST_ERROR), fault: 'envelope' };
/** @param limit - requests of a batch */
export const batchTooLargeReply = (limit: number): Reply => ({ body: failure(null, batchTooLarge(limit)) });
const TOO_DEEP_REPLY: Reply = { body: failure(null, nestedTooDeep(MAX_JSON_DEPTH)), fault: 'envelope' };

/** A payload from its text; the reply to a text that is not JSON (-32700) or nested too deep (-32600). */
export function readPayload(text: string): { readonly payload: unknown } | { readonly refused: Reply } {
  if (isDeeperThan(text, MAX_JSON_DEPTH)) return { refused: TOO_DEEP_REPLY };
  try {
    return { payload: JSON.parse(text) };
  } catch {
    return { refused: PARSE_ERROR_REPLY };
  }
}

/**
 * Checks one element of a payload. The member `jsonrpc` and unknown members are ignored; `params` may be missing or null.
 * Integer ids that are not safe integers are refused, because parsing has already changed them.
 *
 * @returns the request, or its answer: -32600, which repeats the id only if that is a safe integer
 * @source docs/spec/json-rpc.md 3
 */
export function readRequest(value: unknown): RpcRequest | RpcFailure {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return failure(null, INVALID_REQUEST_ERROR);
  const { id, method, params } = value as Record<string, unknown>;
  // By EIP-747, this method alone has named parameters.
  const list = method === 'wallet_watchAsset' && !Array.isArray(params) ? [params] : (params ?? []);
  if (!isId(id) || typeof method !== 'string' || !Array.isArray(list)) {
    return failure(Number.isSafeInteger(id) ? (id as number) : null, INVALID_REQUEST_ERROR);
  }
  return id === undefined ? { method, params: list } : { id, method, params: list };
}

function isId(id: unknown): id is RpcId | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) || (Number.isFinite(id) && !Number.isInteger(id));
  return id === undefined || id === null || typeof id === 'string';
}

/**
 * JSON text of a reply, empty for a notification. A result that JSON cannot express becomes an internal error; the rest of
 * a batch stays as it is.
 */
export function writeReply(reply: Reply): string {
  const { body } = reply;
  if (body === undefined) return '';
  return isBatch(body) ? `[${body.map(writeResponse).join(',')}]` : writeResponse(body);
}

function isBatch(body: NonNullable<Reply['body']>): body is readonly RpcResponse[] {
  return Array.isArray(body);
}

function writeResponse(response: RpcResponse): string {
  const { jsonrpc, id } = response;
  if ('error' in response) return JSON.stringify({ jsonrpc, id, error: wireError(response.error) });
  try {
    // In parts: a text or a number alone is written in a fraction of the time of an object with it.
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(response.result)}}`;
  } catch (error) {
    return writeResponse(failure(id, toRpcError(error)));
  }
}

/**
 * The requests of a payload that are answered, each with its answer.
 *
 * @returns an empty list for a payload that was refused as a whole
 */
export function answersOf(payload: unknown, reply: Reply): { item: unknown; answer: RpcResponse }[] {
  const answers = responsesOf(reply);
  const asked = payloadItems(payload).filter(isAnswered);
  return asked.length === answers.length ? asked.map((item, i) => ({ item, answer: answers[i]! })) : [];
}

/** The method that a request object names. */
export function methodOf(item: unknown): unknown {
  return (item as { method?: unknown } | null | undefined)?.method;
}

/** All requests but notifications are answered, malformed ones too. */
export function isAnswered(item: unknown): boolean {
  const request = readRequest(item);
  return 'error' in request || request.id !== undefined;
}

/** The responses of a reply: none, one, or those of a batch. */
export function responsesOf({ body }: Reply): RpcResponse[] {
  return payloadItems(body) as RpcResponse[];
}

/** The requests or responses of a payload: one alone, or those of a batch. */
export function payloadItems(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
