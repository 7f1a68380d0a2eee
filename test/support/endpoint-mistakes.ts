import type { ServerResponse } from 'node:http';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import type { UrlEndpoint } from '../../src/upstream/options.js';
import type { DevNode } from './dev-node.js';
import { type MockOptions, serveMock } from './mock-chain.js';

/** In path and query of each endpoint: it must not be in any message. */
export const KEY = '0123456789abcdef0123456789abcdef';

/** What is wrong with an endpoint. */
export interface Mistake {
  readonly name: string;
  readonly options?: MockOptions;
  readonly endpoint?: Partial<UrlEndpoint>;
  /** Nothing listens at its address. */
  readonly down?: true;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
}

const said = (status: number, body = '', headers: Record<string, string> = {}): MockOptions => ({
  intercept(response: ServerResponse) {
    response.writeHead(status, headers).end(body);
    return true;
  },
});
const error = (code: number, message: string) => JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });

export const MISTAKES: readonly Mistake[] = [
  { name: 'down', down: true },
  {
    name: 'down, or without CORS headers for this page (browser)',
    fetch: () => Promise.reject(new TypeError(`Failed to fetch https://host/${KEY}`)),
  },
  { name: 'hanging', options: { intercept: () => true }, endpoint: { timeoutMs: 100 } },
  { name: 'HTML instead of JSON', options: said(200, '<!DOCTYPE html><title>Welcome</title>') },
  { name: 'other text instead of JSON', options: said(200, 'It works!') },
  { name: 'JSON that is no JSON-RPC', options: said(200, '{"ok":true}') },
  { name: 'key missing or wrong (401)', options: said(401, error(-32000, `invalid project id ${KEY}`)) },
  { name: 'key or origin refused (403)', options: said(403) },
  { name: 'no such path (404)', options: said(404, '<html>not found</html>') },
  { name: 'redirect', options: said(302, '', { location: `https://elsewhere.example/${KEY}` }) },
  { name: 'rate limit', options: said(429, '', { 'retry-after': '3600' }) },
  { name: 'server error', options: said(503, '<html>down for maintenance</html>') },
  {
    name: 'another chain',
    options: { tamper: ({ method }, result) => (method === 'eth_chainId' ? '0x1' : result) },
  },
  {
    name: 'a newest block that is false',
    options: {
      tamper: ({ method }, result) =>
        method === 'eth_getBlockByNumber' ? { ...(result as object), gasUsed: '0x1' } : result,
    },
  },
  { name: 'a method it does not have', options: { missing: ['eth_getBlockByNumber'] } },
];

/** Options of a light node with one such endpoint for each of `mistakes`, and their origins; `close` ends the endpoints. */
export async function mistakenEndpoints(dev: DevNode, mistakes: readonly Mistake[]) {
  const mocks = await Promise.all(mistakes.map(({ options = {} }) => serveMock(dev.node, options)));
  const origins = mocks.map(({ url }) => new URL(url).origin);
  await Promise.all(mocks.filter((_, i) => mistakes[i]!.down).map((mock) => mock.close()));
  const endpoints = origins.map((origin, i) => ({ url: `${origin}/v3/${KEY}?key=${KEY}`, ...mistakes[i]!.endpoint }));
  const given = mistakes.find(({ fetch }) => fetch !== undefined)?.fetch;
  return {
    origins,
    options: {
      chain: { kind: 'light', network: devnet(), endpoints, level: 'plain' },
      ...(given !== undefined && { fetch: given }),
    } satisfies InlineOptions,
    close: () => Promise.all(mocks.filter((_, i) => !mistakes[i]!.down).map((mock) => mock.close())),
  };
}
