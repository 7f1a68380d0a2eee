import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hex } from '../../src/primitives/hex.js';
import type { Eip1193Provider } from '../../src/upstream/json-rpc.js';

/** One call that came to a mock endpoint. */
export interface SeenCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface MockOptions {
  /** Time before each HTTP request is answered. */
  readonly latencyMs?: number;
  /** Methods it does not have. */
  readonly missing?: readonly string[];
  /** What it says in place of the true result, or a promise of that. */
  tamper?(call: SeenCall, result: unknown): unknown;
  /** What it answers, or throws, without the provider; undefined leaves the call to the provider. */
  answers?(call: SeenCall): unknown;
  /** Answers a whole HTTP request in its own way; false leaves it to the mock. */
  intercept?(response: ServerResponse, body: unknown, replies: readonly object[]): boolean;
}

/** An endpoint on loopback that can be counted, slowed down and made to lie. */
export interface MockEndpoint {
  readonly url: string;
  /** HTTP requests since it was opened or `seen` was cleared. */
  readonly seen: SeenCall[][];
  /** May be changed while it runs. */
  readonly options: { -readonly [K in keyof MockOptions]: MockOptions[K] };
  close(): Promise<void>;
}

/** A proof of `eth_getProof`, as far as tests change it. */
export interface AccountProofJson {
  balance: Hex;
  nonce: Hex;
  codeHash: Hex;
  accountProof: Hex[];
  storageProof: { value: Hex; proof: Hex[] }[];
}

/** Changes the proofs of one account. */
export const inProofOf =
  (address: Hex, change: (proof: AccountProofJson) => void) =>
  ({ method, params }: SeenCall, result: unknown): unknown => {
    if (method === 'eth_getProof' && params[0] === address) change(result as AccountProofJson);
    return result;
  };

interface RpcRequest extends SeenCall {
  readonly id: unknown;
}

/** Serves a provider, such as a devnet's or its layer 1, as an endpoint that is not trusted. */
export async function serveMock(provider: Eip1193Provider, options: MockOptions = {}): Promise<MockEndpoint> {
  const own: MockEndpoint['options'] = { ...options };
  const seen: SeenCall[][] = [];

  async function answer({ id, method, params }: RpcRequest): Promise<object> {
    if (own.missing?.includes(method))
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
    try {
      const result = own.answers?.({ method, params }) ?? (await provider.request({ method, params: params ?? [] }));
      const said = own.tamper === undefined ? result : await own.tamper({ method, params }, structuredClone(result));
      return { jsonrpc: '2.0', id, result: said };
    } catch (error) {
      const { code, message, data } = error as { code?: number; message: string; data?: unknown };
      return { jsonrpc: '2.0', id, error: { code: code ?? -32603, message, ...(data !== undefined && { data }) } };
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Pages of any origin may ask, as they may ask public endpoints.
    response.setHeader('access-control-allow-origin', '*');
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '*');
      return void response.end();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | RpcRequest[];
    const calls = Array.isArray(body) ? body : [body];
    seen.push(calls.map(({ method, params }) => ({ method, params })));
    const slow = new Promise<void>((resolve) => setTimeout(resolve, own.latencyMs ?? 0));
    const replies = await Promise.all(calls.map(answer));
    if (own.latencyMs !== undefined) await slow;
    if (own.intercept?.(response, body, replies) === true) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(body) ? replies : replies[0]));
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/0123456789abcdef0123456789abcdef`,
    seen,
    options: own,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
