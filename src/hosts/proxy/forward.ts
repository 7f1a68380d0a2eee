import { PlumblineError } from '../../errors.js';
import { readBody } from '../../rpc/http/read-body.js';
import { failure, type RpcRequest, type RpcResponse, success } from '../../rpc/protocol/envelope.js';
import { toRpcError } from '../../rpc/protocol/rpc-errors.js';
import { openDeadline } from '../../scheduling/deadline.js';

/**
 * Hands calls on, all in one request, and gives back what was said, unchecked but for its form: one response for each call
 * with an id, with that id, in order. Undefined where nobody answers JSON-RPC.
 */
export type Forward = (calls: readonly RpcRequest[], signal?: AbortSignal) => Promise<RpcResponse[] | undefined>;

/** Traces of long transactions are that long. */
const MAX_BYTES = 64 * 2 ** 20;
/** What a page's own server says of a path that only the worker answers. */
const NOBODY = [404, 405, 501];

/**
 * Hands on to the address that a page asked, with the headers and credentials of its request. Nothing leaves for another
 * origin: redirects are not followed.
 */
export function forwardTo(request: Request, timeoutMs: number): Forward {
  return async (calls, signal) => {
    const deadline = openDeadline(signal, timeoutMs);
    try {
      const answered = calls.filter(({ id }) => id !== undefined);
      const said = await deadline.run(() => exchange(request, bodyOf(calls), deadline.signal));
      return said === undefined ? undefined : answered.map((call, i) => responseTo(call.id!, i + 1, said, request));
    } catch (error) {
      return calls.filter(({ id }) => id !== undefined).map(({ id }) => failure(id!, toRpcError(error)));
    } finally {
      deadline.close();
    }
  };
}

/** The calls with ids of our own: those of a page may be there twice. */
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

/** What came back, as JSON; an empty answer is an empty list. */
async function exchange(request: Request, body: string, signal: AbortSignal): Promise<unknown> {
  const { url, headers, credentials, referrerPolicy } = request;
  let response: Response;
  try {
    const rules = { credentials, referrerPolicy, cache: 'no-store', redirect: 'manual', mode: 'cors' } as const;
    response = await fetch(url, { method: 'POST', headers, body, signal, ...rules });
  } catch {
    if (signal.aborted) throw signal.reason;
    // The words of `fetch` may quote the address, and the address may hold a key.
    throw unavailable(url, 'no connection');
  }
  if (response.type === 'opaqueredirect') throw unavailable(url, 'redirects, and is not followed');
  const text = await readBody(response, MAX_BYTES);
  if (text === 'too-large') throw malformed(url, `answer above ${MAX_BYTES} bytes`, response.status);
  try {
    return text === '' && response.ok ? [] : JSON.parse(text ?? '');
  } catch {
    if (NOBODY.includes(response.status)) return undefined;
    throw malformed(url, 'no JSON', response.status);
  }
}

/** The member of what was said that answers call `sent`, with the page's id. One error for everything is everybody's. */
function responseTo(
  id: NonNullable<RpcRequest['id']> | null,
  sent: number,
  said: unknown,
  { url }: Request,
): RpcResponse {
  const members: unknown[] = Array.isArray(said) ? said : [said];
  const own = members.find((member) => isObject(member) && String(member.id) === String(sent));
  const only = members.length === 1 ? members[0] : undefined;
  const found = own ?? (isObject(only) && (only.id === null || only.id === undefined) ? only : undefined);
  if (isObject(found)) {
    const { result, error } = found;
    if (isObject(error) && Number.isSafeInteger(error.code)) {
      const { code, message, data } = error as { code: number; message?: unknown; data?: unknown };
      return failure(id, { code, message: String(message ?? ''), ...(data !== undefined && { data }) });
    }
    if ('result' in found && found === own) return success(id, result);
  }
  return failure(id, toRpcError(malformed(url, 'no answer to this call')));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function unavailable(url: string, reason: string): PlumblineError {
  const endpoints = [{ origin: new URL(url).origin, kind: 'unavailable', reason }] as const;
  return new PlumblineError('UPSTREAM_UNAVAILABLE', reason, { endpoints });
}

function malformed(url: string, reason: string, status?: number): PlumblineError {
  const endpoint = { origin: new URL(url).origin, kind: 'malformed', reason, ...(status !== undefined && { status }) };
  return new PlumblineError('UPSTREAM_MALFORMED', reason, {
    endpoints: [endpoint as typeof endpoint & { kind: 'malformed' }],
  });
}
