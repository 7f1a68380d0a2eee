/**
 * JSON-RPC over HTTP, and through an EIP-1193 provider: calls in, an outcome for each out. Answers are read as loosely as servers
 * write them, and every text of an endpoint is redacted (docs/spec/json-rpc.md 3, 4.3).
 */

import { type Address, createRedactor, type Redactor } from './address.js';
import {
  backoffMs,
  type Call,
  classifyError,
  type Exchange,
  type Fault,
  type FaultKind,
  faultOutcome,
  forAll,
  isBatchTooLong,
  type Outcome,
  type RpcErrorBody,
  refusedBatchLimit,
  saying,
  type Transport,
} from './failure.js';
import { exchangeHttp, type HttpOptions, type HttpReply } from './http.js';

/** HTTP statuses with which servers refuse a batch. */
const MAY_REFUSE_BATCH = [400, 405, 413, 415, 422];

/** JSON-RPC over HTTP POST. @source docs/spec/json-rpc.md 3, 4.3 */
export function jsonRpcTransport(address: Address, batchLimit: number, options: HttpOptions): Transport {
  let nextId = 1;
  return {
    origin: address.origin,
    batchLimit,
    async exchange(calls, signal): Promise<Exchange> {
      const firstId = nextId;
      nextId += calls.length;
      const requests = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: firstId + i, method, params }));
      const body = JSON.stringify(requests.length === 1 ? requests[0] : requests);
      const bytesSent = new TextEncoder().encode(body).length;
      const answer = await exchangeHttp(address, address.url, body, options, signal);
      const { bytesReceived } = answer;
      if ('fault' in answer)
        return { reply: forAll(calls, { kind: 'fault', fault: answer.fault }), bytesSent, bytesReceived };
      return { reply: readReply(address, calls, firstId, answer), status: answer.status, bytesSent, bytesReceived };
    },
  };
}

function readReply(address: Address, calls: readonly Call[], firstId: number, reply: HttpReply): Exchange['reply'] {
  const { status, retryAfterMs } = reply;
  const json = parseJson(reply.body);
  const fail = (kind: FaultKind, reason: string, more: Partial<Fault> = {}) =>
    forAll(calls, faultOutcome(kind, reason, { status, ...more }));
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };

  const whole = wholeError(address, json, calls.length);
  const said = whole === undefined ? undefined : classifyError(whole, status);
  const words = whole === undefined ? `status ${status}` : `status ${status}, ${saying(whole.message)}`;
  if (status === 429) {
    const backoff = retryAfterMs ?? backoffMs(whole?.data);
    return fail('rate-limited', words, backoff === undefined ? {} : { retryAfterMs: backoff });
  }
  if (status === 401 || status === 402 || status === 403) {
    const limited = said?.kind === 'fault' && said.fault.kind === 'rate-limited';
    if (limited) return forAll(calls, said);
    const refused = fail('configuration', `${words}${KEY_ADVICE}`);
    return status === 403 && calls.length > 1 ? { byMethod: refused } : refused;
  }
  const isOfBatch = whole !== undefined && said?.kind === 'error' && /batch|more than \d+/i.test(whole.message);
  if (status >= 500 && isOfBatch) {
    const limit = refusedBatchLimit(whole, calls.length);
    if (limit !== undefined) return { batchLimit: limit };
  }
  if (status === 413 && calls.length > 1) return { batchLimit: Math.floor(calls.length / 2) };
  if (status >= 500 || status === 408 || status === 425) return fail('unavailable', words, wait);

  const isSuccess = status < 300;
  // The address belongs to another service, or a captive portal or error page is in between.
  if (isSuccess && json === undefined && isOtherText(reply.body))
    return fail('configuration', notJson(status, reply.body), { mayPass: true });
  if (whole !== undefined && said !== undefined) {
    const limit = said.kind === 'error' ? refusedBatchLimit(whole, calls.length) : undefined;
    return limit === undefined ? forAll(calls, said) : { batchLimit: limit };
  }
  const members = Array.isArray(json) ? json : [json];
  const tooLong = calls.length > 1 && members.some((one) => isBatchTooLong(parseError(one)));
  if (tooLong) return { batchLimit: Math.max(1, Math.floor(calls.length / 2)) };
  if (isSuccess || members.some(hasAnswer)) return readMembers(address, calls, firstId, members, status);
  if (calls.length > 1 && MAY_REFUSE_BATCH.includes(status)) return { batchLimit: 1 };
  return fail('configuration', `${words}; check the path of its URL`);
}

/** The error of a body that is one error for all calls, redacted. */
function wholeError(address: Address, json: unknown, size: number): RpcErrorBody | undefined {
  if (!Array.isArray(json)) return parseError(json, address.redactor);
  if (json.length !== 1) return undefined;
  // Some servers return the error of a whole batch in an array, with id null; geth with the id of the first call.
  const error = parseError(json[0], address.redactor);
  const isOfBatch = error !== undefined && size > 1 && /batch/i.test(error.message);
  return json[0]?.id === null || isOfBatch ? error : undefined;
}

/** Matches members to calls by id. Ids may be in any order, be strings, or be missing. */
function readMembers(
  address: Address,
  calls: readonly Call[],
  firstId: number,
  members: readonly unknown[],
  status: number,
): Outcome[] {
  const byId = new Map<string, object>();
  for (const member of members) {
    if (typeof member !== 'object' || member === null || !('id' in member)) continue;
    const id = String(member.id);
    if (!byId.has(id)) byId.set(id, member);
  }
  return calls.map((_, i) => {
    const member = byId.get(String(firstId + i));
    const error = parseError(member, address.redactor);
    if (error !== undefined) return classifyError(error);
    if (member !== undefined && 'result' in member) return { kind: 'result', result: member.result };
    const reason = members.some(hasAnswer) ? 'the answer to this call is missing' : 'not a JSON-RPC answer';
    return faultOutcome('malformed', reason, { status });
  });
}

/** An EIP-1193 provider: a wallet, a light client, or another plumbline node. */
export interface Eip1193Provider {
  request(args: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** EIP-1193 codes of a provider that refuses to serve this page, or cannot serve now. */
const UNAUTHORIZED = 4100;
const DISCONNECTED = [4900, 4901];

/** Sends calls to a provider, one at a time. URLs in its errors are reduced to their origins. */
export function providerTransport(provider: Eip1193Provider, name: string): Transport {
  const redactor = createRedactor([]);
  return {
    origin: name,
    batchLimit: 1,
    async exchange([call]) {
      return { reply: [await ask(call as Call)], bytesSent: 0, bytesReceived: 0 };
    },
  };

  async function ask({ method, params }: Call): Promise<Outcome> {
    try {
      return { kind: 'result', result: (await provider.request({ method, params })) ?? null };
    } catch (thrown) {
      const error = errorBody(thrown, redactor);
      if (error === undefined || typeof (thrown as { code?: unknown }).code !== 'number')
        return faultOutcome('unavailable', 'the provider failed');
      if (error.code === UNAUTHORIZED) return faultOutcome('configuration', saying(error.message));
      if (DISCONNECTED.includes(error.code)) return faultOutcome('unavailable', saying(error.message));
      return classifyError(error);
    }
  }
}

/** Error messages of endpoints are cut to this number of characters. */
const MAX_MESSAGE = 500;
const INTERNAL_ERROR = -32603;

/** @returns undefined for a text that is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a body does not begin like an object or a list: it is a page of text, not part of an answer. */
export function isOtherText(body: string): boolean {
  return /^\s*[^\s{[]/.test(body);
}

/** What is wrong where `isOtherText` holds, or the body is cut off. */
export function notJson(status: number, body: string): string {
  const isPage = /^\s*<(?:!doctype|html)/i.test(body);
  return `status ${status}: ${isPage ? 'HTML instead of' : 'not'} JSON; check the path of its URL`;
}

/** What to do about a refused key, plan or address. */
export const KEY_ADVICE = '; check its API key, plan and allowed origins';

/** Whether a value looks like a JSON-RPC answer. */
export function hasAnswer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('result' in value || parseError(value) !== undefined);
}

/**
 * The `error` member of a JSON-RPC answer.
 *
 * @returns undefined without one, and for `"error": null`
 */
export function parseError(value: unknown, redactor?: Redactor): RpcErrorBody | undefined {
  if (typeof value !== 'object' || value === null || !('error' in value)) return undefined;
  return errorBody(value.error, redactor);
}

/** An error object of an endpoint or a provider, redacted and cut. @returns undefined if it has neither code nor message */
export function errorBody(error: unknown, redactor?: Redactor): RpcErrorBody | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  if (typeof code !== 'number' && typeof message !== 'string') return undefined;
  const text = typeof message === 'string' ? message : '';
  return {
    code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
    // Redacted before it is cut, so that no part of a key is left at the end.
    message: (redactor?.text(text) ?? text).slice(0, MAX_MESSAGE),
    ...(data !== undefined && { data: redactor?.json(data) ?? data }),
  };
}
