/**
 * A payload that came to an address of the proxy: the node answers what it serves, and the endpoint at that address gets the rest. A batch
 * is divided, and its answers are put together in the order of the requests.
 */

import { isPlumblineError, PlumblineError } from '../../errors.js';
import { isDeeperThan } from '../../primitives/bounded-input.js';
import type { AnswerClass, AnswerReport } from '../../rpc/answer-report.js';
import { failure, type Reply, type RpcRequest, type RpcResponse, readRequest, success } from '../../rpc/envelope.js';
import { readBody } from '../../rpc/read-body.js';
import { toRpcError } from '../../rpc/rpc-errors.js';
import { openDeadline } from '../../scheduling/deadline.js';
import { hanging } from '../../upstream/failure.js';

/** How the requests of a payload are answered. */
interface Parts {
  /** Answers by the node. @throws when the node cannot be opened */
  readonly local: (payload: unknown) => Promise<Reply>;
  readonly serves: (method: string) => boolean;
  /** Answers methods that the node does not have. If undefined, the node answers them with errors. */
  readonly forward: Forward | undefined;
  /** Answers methods that the node has, while it cannot be opened. */
  readonly fallback: Forward | undefined;
  readonly maxBatch: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a response is known. */
export interface Mark {
  /** `forwarded` when it is not verified, `error` for an error of the node. */
  readonly class: AnswerClass | 'error' | 'unreported';
  /** Left out where it rests on no block. */
  readonly level?: AnswerReport['level'];
  readonly relayed?: AnswerReport['relayed'];
}

/** A reply with a mark for each response. */
interface SplitReply extends Reply {
  readonly marks: readonly Mark[];
}

type Answer = { readonly response: RpcResponse; readonly mark: Mark };

const FORWARDED: Mark = { class: 'forwarded' };
const ERROR: Mark = { class: 'error' };

/**
 * Answers the requests of a payload: by the node if it has the method, otherwise by forwarding. Both run at the same time. The
 * responses are in the order of the requests.
 */
export async function answerSplit(payload: unknown, parts: Parts): Promise<SplitReply> {
  const isBatch = Array.isArray(payload);
  const items: unknown[] = isBatch ? payload : [payload];
  const requests = items.map(readRequest);
  const { forward, serves } = parts;
  const isAway = (i: number) => {
    const request = requests[i]!;
    return forward !== undefined && !('error' in request) && !serves(request.method);
  };
  const away = items.length > parts.maxBatch ? [] : items.map((_, i) => i).filter(isAway);
  if (away.length === 0) return own(payload, parts);

  const here = items.map((_, i) => i).filter((i) => !isAway(i));
  const [ours, theirs] = await Promise.all([
    here.length === 0
      ? []
      : own(
          here.map((i) => items[i]),
          parts,
        ).then(answersOf),
    forwardAll(
      away.map((i) => items[i]),
      parts,
      forward!,
    ),
  ]);
  const answers: Answer[] = [];
  for (const [i, request] of requests.entries()) {
    if (!('error' in request) && request.id === undefined) continue;
    const answer = (away.includes(i) ? theirs : ours).shift();
    if (answer !== undefined) answers.push(answer);
  }
  const bodies = answers.map(({ response }) => response);
  return { body: isBatch ? bodies : bodies[0], marks: answers.map(({ mark }) => mark) };
}

/** Forwards requests. If the URL does not answer JSON-RPC, the node answers with its errors. */
async function forwardAll(requests: readonly unknown[], parts: Parts, forward: Forward): Promise<Answer[]> {
  const responses = await forward(
    requests.map((request) => readRequest(request) as RpcRequest),
    parts.signal,
  );
  if (responses === undefined) return answersOf(await own(requests, parts));
  return responses.map((response) => ({ response, mark: FORWARDED }));
}

/** Answers by the node. If it cannot be opened, the fallback answers; without a fallback, each request gets the error. */
async function own(payload: unknown, parts: Parts): Promise<SplitReply> {
  const { local, fallback, signal } = parts;
  try {
    const reply = await local(payload);
    return { ...reply, marks: marksOf(reply) };
  } catch (error) {
    const isBatch = Array.isArray(payload);
    const requests = (isBatch ? payload : [payload]).map(readRequest);
    const sound = requests.filter((request): request is RpcRequest => !('error' in request));
    const useFallback = fallback !== undefined && sound.length === requests.length && signal?.aborted !== true;
    const responses = useFallback ? await fallback(sound, signal) : undefined;
    const bodies =
      responses ??
      requests
        .filter((request) => 'error' in request || request.id !== undefined)
        .map((request) => ('error' in request ? request : failure(request.id!, toRpcError(error))));
    return {
      body: isBatch ? bodies : bodies[0],
      marks: bodies.map(() => (responses === undefined ? ERROR : FORWARDED)),
    };
  }
}

function listOf(reply: Reply): readonly RpcResponse[] {
  const { body } = reply;
  return body === undefined ? [] : Array.isArray(body) ? (body as readonly RpcResponse[]) : [body as RpcResponse];
}

function marksOf(reply: Reply): SplitReply['marks'] {
  const reports = [...(reply.reports ?? [])];
  const responses = listOf(reply);
  const answers = responses.filter((response) => !('error' in response));
  // Each result has a report. An error has one only if its method began.
  const ofResults = reports.filter(({ errorCode }) => errorCode === undefined);
  if (ofResults.length !== answers.length)
    return responses.map((response) => ('error' in response ? ERROR : { class: 'unreported' }));
  return responses.map((response) => ('error' in response ? ERROR : ofResults.shift()!));
}

function answersOf(reply: SplitReply): Answer[] {
  return listOf(reply).map((response, i) => ({ response, mark: reply.marks[i]! }));
}

/**
 * Sends calls to an endpoint in one request. Returns one response for each call that has an id, with that id, in order. Only the
 * form of the responses is checked. Undefined when the URL does not answer JSON-RPC.
 */
type Forward = (calls: readonly RpcRequest[], signal?: AbortSignal) => Promise<RpcResponse[] | undefined>;

/** Largest response, bytes. Traces of long transactions are large. */
const MAX_BYTES = 64 * 2 ** 20;
/** Depth of a response. A trace of nested calls has two levels for each of up to 1024 calls. */
const MAX_DEPTH = 4096;
/** Status codes of a page's own server for a path that only the worker answers. */
const NOT_AN_ENDPOINT = [404, 405, 501];

/**
 * Forwards to the URL that the page requested, with the headers and credentials of its request. Redirects are not followed, so
 * nothing is sent to another origin.
 */
export function forwardTo(request: Request, timeoutMs: number): Forward {
  return async (calls, signal) => {
    const deadline = openDeadline(signal, timeoutMs);
    try {
      const answered = calls.filter(({ id }) => id !== undefined);
      const body = await deadline.run(() => exchange(request, bodyOf(calls), deadline.signal));
      return body === undefined ? undefined : answered.map((call, i) => responseTo(call.id!, i + 1, body, request));
    } catch (error) {
      const isHanging = isPlumblineError(error, 'REQUEST_TIMED_OUT') && error === deadline.signal.reason;
      const told = toRpcError(isHanging ? unavailable(request.url, hanging(timeoutMs)) : error);
      return calls.filter(({ id }) => id !== undefined).map(({ id }) => failure(id!, told));
    } finally {
      deadline.close();
    }
  };
}

/** The calls with new ids, because a page may use an id twice. */
function bodyOf(calls: readonly RpcRequest[]): string {
  let next = 1;
  const sent = calls.map(({ id, method, params }) => ({
    jsonrpc: '2.0',
    ...(id !== undefined && { id: next++ }),
    method,
    params,
  }));
  return JSON.stringify(sent.length === 1 ? sent[0] : sent);
}

/** The parsed body of the response. An empty body is an empty list. */
async function exchange(request: Request, body: string, signal: AbortSignal): Promise<unknown> {
  const { url, headers, credentials, referrerPolicy } = request;
  let response: Response;
  try {
    const rules = { credentials, referrerPolicy, cache: 'no-store', redirect: 'manual', mode: 'cors' } as const;
    response = await fetch(url, { method: 'POST', headers, body, signal, ...rules });
  } catch {
    if (signal.aborted) throw signal.reason;
    // The error of `fetch` is dropped: its message may quote the URL, which may hold a key.
    throw unavailable(
      url,
      'no connection: down, or no CORS headers for this page, which a browser does not tell apart; check both',
    );
  }
  if (response.type === 'opaqueredirect')
    throw unavailable(url, 'it redirects, which is not followed; use the URL it redirects to');
  const text = await readBody(response, MAX_BYTES);
  if (text === 'too-large') throw malformed(url, `the answer is larger than ${MAX_BYTES} bytes`, response.status);
  if (isDeeperThan(text ?? '', MAX_DEPTH))
    throw malformed(url, `the answer is nested deeper than ${MAX_DEPTH} levels`, response.status);
  try {
    return text === '' && response.ok ? [] : JSON.parse(text ?? '');
  } catch {
    if (NOT_AN_ENDPOINT.includes(response.status)) return undefined;
    throw malformed(url, 'the answer is not JSON', response.status);
  }
}

/** The response to call number `sent`, with the page's id. A single error without an id answers all calls. */
function responseTo(
  id: NonNullable<RpcRequest['id']> | null,
  sent: number,
  body: unknown,
  { url }: Request,
): RpcResponse {
  const responses: unknown[] = Array.isArray(body) ? body : [body];
  const own = responses.find((response) => isObject(response) && String(response.id) === String(sent));
  const only = responses.length === 1 ? responses[0] : undefined;
  const found = own ?? (isObject(only) && (only.id === null || only.id === undefined) ? only : undefined);
  if (isObject(found)) {
    const { result, error } = found;
    if (isObject(error) && Number.isSafeInteger(error.code)) {
      const { code, message, data } = error as { code: number; message?: unknown; data?: unknown };
      const said = { code, message: String(message ?? ''), ...(data !== undefined && { data }) };
      const { origin } = new URL(url);
      return failure(id, { ...said, reason: 'UPSTREAM_ERROR', details: { origin, ...said, forwarded: true } });
    }
    if ('result' in found && found === own) return success(id, result);
  }
  return failure(id, toRpcError(malformed(url, 'the answer to this call is missing')));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function unavailable(url: string, reason: string): PlumblineError {
  const { origin } = new URL(url);
  const endpoints = [{ origin, kind: 'unavailable', reason }] as const;
  return new PlumblineError('UPSTREAM_UNAVAILABLE', `${origin}: ${reason}`, { endpoints });
}

function malformed(url: string, reason: string, status?: number): PlumblineError {
  const { origin } = new URL(url);
  const more = status === undefined ? {} : { status };
  const message = `${origin}: ${status === undefined ? '' : `status ${status}: `}${reason}`;
  return new PlumblineError('UPSTREAM_MALFORMED', message, {
    endpoints: [{ origin, kind: 'malformed', reason, ...more }],
  });
}
