import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { MockFault } from './mock-upstream-fault.js';
import { type MockGet, type MockHandler, replyTo, sendHuge, type WireCall } from './mock-upstream-replies.js';

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
  readonly get?: MockGet;
  /** Delay before each answer, in milliseconds. */
  readonly latencyMs?: number;
}

/** A server on loopback that answers JSON-RPC as a test sets it, and records the requests. */
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
  private readonly get: MockGet | undefined;

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
    const { status, headers, body } = await replyTo({
      request: seen,
      calls,
      fault,
      handler: this.handler,
      get: this.get,
    });
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
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString('utf8');
}
