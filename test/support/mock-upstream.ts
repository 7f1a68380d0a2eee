import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

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

/** What an endpoint may do in place of answering properly. */
export type MockFault =
  /** Never answers. */
  | { readonly kind: 'silence' }
  /** The headers and half of the body come, then nothing more. */
  | { readonly kind: 'stall' }
  /** Resets the connection; with `midway` after half of the body. */
  | { readonly kind: 'reset'; readonly midway?: boolean }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Status 429; `retryAfter` is the header as it stands. */
  | { readonly kind: 'rate-limit'; readonly retryAfter?: string; readonly backoffSeconds?: number }
  /** Each call is answered with this error, status 200. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** One error object for whatever was asked; `idNull` in an array. */
  | { readonly kind: 'single-error'; readonly code: number; readonly message: string; readonly inArray?: boolean }
  | { readonly kind: 'html' }
  | { readonly kind: 'truncated' }
  /** Members of a batch last first. */
  | { readonly kind: 'out-of-order' }
  /** Only the first `count` members of a batch. */
  | { readonly kind: 'partial'; readonly count: number }
  /** Members after the first `count` get a rate limit. */
  | { readonly kind: 'partly-limited'; readonly count: number }
  | { readonly kind: 'string-ids' }
  /** Batches above `limit` are refused: by one error, or by a status with text. */
  | { readonly kind: 'batch-limit'; readonly limit: number; readonly message?: string; readonly status?: number }
  /** JSON of this many bytes; `announced` sends a content length. */
  | { readonly kind: 'huge'; readonly bytes: number; readonly announced?: boolean };

/** One HTTP request as the server saw it. */
export interface MockRequest {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly methods: readonly string[];
  readonly isBatch: boolean;
  /** Milliseconds of `performance.now`: body read, and answer sent or connection gone. */
  readonly startedAt: number;
  endedAt: number | undefined;
  /** The client broke off before the answer was out. */
  brokenOff: boolean;
  /** Bytes of the answer's body that were handed to the system. */
  bytesSent: number;
}

export interface MockUpstreamOptions {
  readonly handler?: MockHandler;
  /** Answers a GET; no JSON-RPC is involved. */
  readonly get?: (path: string) => { readonly status: number; readonly body: unknown };
  /** Delay before each answer, in milliseconds. */
  readonly latencyMs?: number;
}

/** A server on loopback that answers JSON-RPC as it is told, and keeps book. */
export interface MockUpstream {
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  readonly url: string;
  readonly requests: readonly MockRequest[];
  /** Method calls over all requests. */
  readonly calls: number;
  handler: MockHandler;
  latencyMs: number;
  /** The fault of each request from now on, or one that is chosen by the number of the request (from 0 after this call). */
  fail(fault: MockFault | undefined | ((index: number) => MockFault | undefined)): void;
  /** Forgets the requests. */
  reset(): void;
  /** Breaks off what is open. */
  close(): Promise<void>;
}

interface WireCall {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** Starts a server on a free port of loopback. */
export async function openMockUpstream(options: MockUpstreamOptions = {}): Promise<MockUpstream> {
  const mock = new Mock(options);
  await mock.listen();
  return mock;
}

/** Sequential round trips in what servers saw: requests that ran at the same time count once. */
export function countRoundTrips(...mocks: readonly MockUpstream[]): number {
  const spans = mocks
    .flatMap(({ requests }) => requests)
    .map(({ startedAt, endedAt }) => ({ startedAt, endedAt: endedAt ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.endedAt - b.endedAt);
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const { startedAt, endedAt } of spans) {
    if (startedAt < last) continue;
    count++;
    last = endedAt;
  }
  return count;
}

class Mock implements MockUpstream {
  readonly requests: MockRequest[] = [];
  handler: MockHandler;
  latencyMs: number;
  private origins = '';
  private plan: (index: number) => MockFault | undefined = () => undefined;
  private index = 0;
  private readonly sockets = new Set<Socket>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly server: Server;
  private readonly get: MockUpstreamOptions['get'];

  constructor({ handler, get, latencyMs }: MockUpstreamOptions) {
    this.handler = handler ?? ((method, params) => ({ method, params }));
    this.get = get;
    this.latencyMs = latencyMs ?? 0;
    this.server = createServer((request, response) => void this.serve(request, response));
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  get origin(): string {
    return this.origins;
  }

  get url(): string {
    return this.origins;
  }

  get calls(): number {
    return this.requests.reduce((sum, { methods }) => sum + methods.length, 0);
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.origins = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  fail(fault: MockFault | undefined | ((index: number) => MockFault | undefined)): void {
    this.plan = typeof fault === 'function' ? fault : () => fault;
    this.index = 0;
  }

  reset(): void {
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readAll(request).catch(() => undefined);
    if (text === undefined) return;
    const json: unknown = request.method === 'POST' ? JSON.parse(text) : undefined;
    const calls = (Array.isArray(json) ? json : json === undefined ? [] : [json]) as WireCall[];
    const seen: MockRequest = {
      httpMethod: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      methods: calls.map(({ method }) => method),
      isBatch: Array.isArray(json),
      startedAt: performance.now(),
      endedAt: undefined,
      brokenOff: false,
      bytesSent: 0,
    };
    this.requests.push(seen);
    response.on('close', () => {
      seen.endedAt ??= performance.now();
      seen.brokenOff = !response.writableFinished;
    });
    const fault = this.plan(this.index++);
    await this.delay();
    if (response.destroyed) return;
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'reset' && fault.midway !== true) return void request.socket.resetAndDestroy();
    if (fault?.kind === 'huge') return sendHuge(response, seen, fault);
    const { status, headers, body } = await this.reply(request, seen, calls, fault);
    const bytes = new TextEncoder().encode(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    if (fault?.kind === 'stall' || fault?.kind === 'reset') {
      response.write(bytes.subarray(0, bytes.length >> 1));
      if (fault.kind === 'reset') setImmediate(() => request.socket.resetAndDestroy());
      return;
    }
    seen.bytesSent = bytes.length;
    // Taken before the last byte goes out: a client may have its next request here before `end` reports.
    seen.endedAt = performance.now();
    response.end(bytes);
  }

  private delay(): Promise<void> {
    if (this.latencyMs === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        resolve();
      }, this.latencyMs);
      this.timers.add(timer);
    });
  }

  private async reply(
    request: IncomingMessage,
    seen: MockRequest,
    calls: readonly WireCall[],
    fault: MockFault | undefined,
  ): Promise<{ status: number; headers: Readonly<Record<string, string>>; body: string }> {
    const plain = (status: number, body: string, headers: Readonly<Record<string, string>> = {}) => ({
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
    if (seen.httpMethod === 'GET') {
      const { status, body } = this.get?.(request.url ?? '') ?? { status: 404, body: { code: 404, message: 'none' } };
      return plain(status, JSON.stringify(body));
    }
    let members = await Promise.all(calls.map((call, i) => this.member(call, i, fault)));
    if (fault?.kind === 'out-of-order') members.reverse();
    if (fault?.kind === 'partial') members = members.slice(0, fault.count);
    const body = JSON.stringify(seen.isBatch ? members : members[0]);
    return plain(200, fault?.kind === 'truncated' ? body.slice(0, -3) : body);
  }

  private async member({ id: given, method, params }: WireCall, i: number, fault: MockFault | undefined) {
    const id = fault?.kind === 'string-ids' ? String(given) : given;
    const failed = (code: number, message: string, data?: unknown) => ({
      jsonrpc: '2.0',
      id,
      error: { code, message, ...(data !== undefined && { data }) },
    });
    if (fault?.kind === 'error') return failed(fault.code, fault.message, fault.data);
    if (fault?.kind === 'partly-limited' && i >= fault.count) return failed(-32005, 'request rate exceeded');
    try {
      return { jsonrpc: '2.0', id, result: (await this.handler(method, params ?? [])) ?? null };
    } catch (error) {
      if (error instanceof MockRpcError) return failed(error.code, error.message, error.data);
      return failed(-32603, `mock: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString('utf8');
}

/** A long JSON text in pieces, as fast as the client takes them. */
async function sendHuge(
  response: ServerResponse,
  seen: MockRequest,
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
