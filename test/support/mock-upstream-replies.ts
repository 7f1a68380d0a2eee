import type { ServerResponse } from 'node:http';
import type { MockFault } from './mock-upstream-fault.js';

/** Answers one method call; throws `MockRpcError` for a JSON-RPC error. */
export type MockHandler = (method: string, params: readonly unknown[]) => unknown;

/** A JSON-RPC error a handler throws. */
export class MockRpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** Answers a GET; no JSON-RPC is involved. */
export type MockGet = (path: string) => { readonly status: number; readonly body: unknown };

/** One JSON-RPC call as it came. */
export interface WireCall {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** One HTTP answer. */
export interface MockReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a reply depends on. */
export interface Exchange {
  readonly request: { readonly httpMethod: string; readonly path: string; readonly isBatch: boolean };
  readonly calls: readonly WireCall[];
  readonly fault: MockFault | undefined;
  readonly handler: MockHandler;
  readonly get: MockGet | undefined;
}

/** The whole answer to one HTTP request, as far as the fault leaves it one. */
export async function replyTo({ request, calls, fault, handler, get }: Exchange): Promise<MockReply> {
  const { httpMethod, path, isBatch } = request;
  const plain = (status: number, body: string, headers: MockReply['headers'] = {}): MockReply => ({
    status,
    headers,
    body,
  });
  const single = (status: number, error: object, id: unknown = null) =>
    plain(status, JSON.stringify({ jsonrpc: '2.0', id, error }));
  const size = calls.length;
  switch (fault?.kind) {
    case 'status':
      return plain(fault.status, fault.body ?? '', { 'content-type': 'text/plain', ...fault.headers });
    case 'rate-limit': {
      const { retryAfter, backoffSeconds } = fault;
      const rate = { current_rps: 11, allowed_rps: 10, backoff_seconds: backoffSeconds };
      const data = backoffSeconds === undefined ? undefined : { see: 'documentation', rate };
      const reply = single(429, { code: -32005, message: 'project ID request rate exceeded', data });
      return { ...reply, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } };
    }
    case 'single-error': {
      const { code, message, inArray } = fault;
      const reply = single(200, { code, message });
      return inArray === true ? { ...reply, body: `[${reply.body}]` } : reply;
    }
    case 'batch-limit': {
      if (size <= fault.limit) break;
      if (fault.status !== undefined) return plain(fault.status, 'no', { 'content-type': 'text/plain' });
      return single(200, { code: -32005, message: fault.message ?? 'Number of requests exceeds max batch size' });
    }
    case 'html':
      return plain(200, '<!doctype html><html><body>Please wait</body></html>', { 'content-type': 'text/html' });
  }
  if (httpMethod === 'GET') {
    const { status, body } = get?.(path) ?? { status: 404, body: { code: 404, message: 'none' } };
    return plain(status, JSON.stringify(body));
  }
  let members = await Promise.all(calls.map((call, i) => answerTo(call, i, { fault, handler })));
  if (fault?.kind === 'out-of-order') members.reverse();
  if (fault?.kind === 'partial') members = members.slice(0, fault.count);
  const body = JSON.stringify(isBatch ? members : members[0]);
  return plain(200, fault?.kind === 'truncated' ? body.slice(0, -3) : body);
}

async function answerTo(
  { id: given, method, params }: WireCall,
  i: number,
  { fault, handler }: Pick<Exchange, 'fault' | 'handler'>,
) {
  const id = fault?.kind === 'string-ids' ? String(given) : given;
  const failed = (code: number, message: string, data?: unknown) => ({
    jsonrpc: '2.0',
    id,
    error: { code, message, ...(data !== undefined && { data }) },
  });
  if (fault?.kind === 'error') return failed(fault.code, fault.message, fault.data);
  if (fault?.kind === 'partly-limited' && i >= fault.count) return failed(-32005, 'request rate exceeded');
  try {
    return { jsonrpc: '2.0', id, result: (await handler(method, params ?? [])) ?? null };
  } catch (error) {
    if (error instanceof MockRpcError) return failed(error.code, error.message, error.data);
    return failed(-32603, `mock: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A long JSON text in pieces, as fast as the client takes them. */
export async function sendHuge(
  response: ServerResponse,
  seen: { bytesSent: number; endedAt: number | undefined },
  { bytes, announced }: { readonly bytes: number; readonly announced?: boolean },
): Promise<void> {
  const length = announced === true ? { 'content-length': String(bytes) } : {};
  response.writeHead(200, { 'content-type': 'application/json', ...length });
  const piece = Buffer.alloc(64 * 1024, ' ');
  while (seen.bytesSent < bytes && !response.destroyed) {
    const part = piece.subarray(0, Math.min(piece.length, bytes - seen.bytesSent));
    seen.bytesSent += part.length;
    if (response.write(part)) continue;
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off('drain', go);
        response.off('close', go);
        resolve();
      };
      response.on('drain', go);
      response.on('close', go);
    });
  }
  seen.endedAt = performance.now();
  if (!response.destroyed) response.end();
}
