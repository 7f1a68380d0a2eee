import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { NodeStatus } from '../../src/index.js';
import { devNode } from '../support/dev-node.js';
import { KEY, MISTAKES, type Mistake, mistakenEndpoints } from '../support/endpoint-mistakes.js';
import { lightScene } from '../support/light-node.js';

afterEach(() => void vi.unstubAllGlobals());

/** The code of `status()`, what it says after the origin, and the error of a request, `ORIGIN` in place of the origin. */
const SAID: Readonly<Record<string, readonly [code: string, reason: string, error: string]>> = {
  down: [
    'UPSTREAM_UNAVAILABLE',
    'no connection (ECONNREFUSED); check host and port, and that it runs',
    'no endpoint could be reached (ORIGIN: no connection (ECONNREFUSED); check host and port, and that it runs)',
  ],
  'down, or without CORS headers for this page (browser)': [
    'UPSTREAM_UNAVAILABLE',
    // status() asks again, without CORS, and the given fetch refuses that too. test/page/endpoint-errors.spec.ts has both in a browser.
    'no connection: down, or blocked by the browser; check host and port, and that it runs',
    'no endpoint could be reached (ORIGIN: no connection: down, or no CORS headers for this page, which a browser does not tell apart; check both)',
  ],
  hanging: [
    'UPSTREAM_UNAVAILABLE',
    'no answer in 100 ms; it hangs: raise timeoutMs, or give another endpoint',
    'no endpoint could be reached (ORIGIN: no answer in 100 ms; it hangs: raise timeoutMs, or give another endpoint)',
  ],
  'HTML instead of JSON': [
    'UPSTREAM_CONFIGURATION',
    'status 200: HTML instead of JSON; check the path of its URL',
    'no endpoint serves this node; check URLs and API keys (ORIGIN: status 200: HTML instead of JSON; check the path of its URL)',
  ],
  'other text instead of JSON': [
    'UPSTREAM_CONFIGURATION',
    'status 200: not JSON; check the path of its URL',
    'no endpoint serves this node; check URLs and API keys (ORIGIN: status 200: not JSON; check the path of its URL)',
  ],
  'JSON that is no JSON-RPC': [
    'UPSTREAM_MALFORMED',
    'not a JSON-RPC answer',
    'no endpoint gave a well-formed answer (ORIGIN: not a JSON-RPC answer)',
  ],
  'key missing or wrong (401)': [
    'UPSTREAM_CONFIGURATION',
    'status 401, it says "invalid project id [redacted]"; check its API key, plan and allowed origins',
    'no endpoint serves this node; check URLs and API keys (ORIGIN: status 401, it says "invalid project id [redacted]"; check its API key, plan and allowed origins)',
  ],
  'key or origin refused (403)': [
    'UPSTREAM_CONFIGURATION',
    'status 403; check its API key, plan and allowed origins',
    'no endpoint serves this node; check URLs and API keys (ORIGIN: status 403; check its API key, plan and allowed origins)',
  ],
  'no such path (404)': [
    'UPSTREAM_CONFIGURATION',
    'status 404; check the path of its URL',
    'no endpoint serves this node; check URLs and API keys (ORIGIN: status 404; check the path of its URL)',
  ],
  redirect: [
    'UPSTREAM_CONFIGURATION',
    'status 302: redirects to another address, which is not followed; give that address',
    'no endpoint serves this node; check URLs and API keys (ORIGIN: status 302: redirects to another address, which is not followed; give that address)',
  ],
  'rate limit': [
    'UPSTREAM_RATE_LIMITED',
    'status 429',
    'the endpoints limit the rate; wait, or give more endpoints (ORIGIN: status 429)',
  ],
  'server error': ['UPSTREAM_UNAVAILABLE', 'status 503', 'no endpoint could be reached (ORIGIN: status 503)'],
  'another chain': [
    'UPSTREAM_WRONG_CHAIN',
    'ORIGIN serves chain 1, not 59139 (devnet); give the URL of that network',
    'ORIGIN serves chain 1, not 59139 (devnet); give the URL of that network',
  ],
  'a newest block that is false': [
    'ANSWER_REFUSED',
    '',
    'the answer of ORIGIN to eth_chainId, eth_getBlockByNumber about header was refused: HASH_MISMATCH',
  ],
  'a method it does not have': [
    'UPSTREAM_ERROR',
    'ORIGIN answered eth_getBlockByNumber of block latest with error -32601, it says "Method not found"',
    'ORIGIN answered eth_getBlockByNumber of block latest with error -32601, it says "Method not found"',
  ],
};

async function opened(mistake: Mistake) {
  const dev = await devNode();
  const { options, origins, close } = await mistakenEndpoints(dev, [mistake]);
  onTestFinished(() => void close());
  const node = await createInlineNode(options);
  onTestFinished(() => node.close());
  if (mistake.fetch !== undefined) vi.stubGlobal('importScripts', () => {});
  const named = (text: string) => text.replaceAll(origins[0]!, 'ORIGIN');
  return { node, named, options };
}

const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each(MISTAKES)('an endpoint: $name', (mistake) => {
  const [code, reason, message] = SAID[mistake.name]!;

  test('status() says which it is and why', async () => {
    const { node, named } = await opened(mistake);
    const status = await node.status();
    expect(JSON.stringify(status)).not.toContain(KEY);
    expect(status).toMatchObject({ ready: false, endpoints: [{ role: 'l2', answers: false, problem: { code } }] });
    const [{ endpoint, problem, chainId }] = status.endpoints as [NodeStatus['endpoints'][number]];
    expect(named(endpoint)).toBe('ORIGIN');
    expect(chainId).toBe(mistake.name === 'another chain' ? 1 : undefined);
    if (reason !== '') expect(named(problem!.reason)).toBe(reason);
  });

  test('a request has the same error inline and over HTTP, and it is not an internal one', async () => {
    const { node, named } = await opened(mistake);
    const error = (await thrownBy(node.request({ method: 'eth_blockNumber' }))) as { code: number; message: string };
    const wanted = mistake.name === 'rate limit' ? -32005 : -32000;
    expect([error.code, named(error.message)]).toEqual([wanted, message]);
    expect(error.message).not.toContain(KEY);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
    const response = await node.handle(new Request('http://localhost/', { method: 'POST', body }));
    expect(await response.json()).toMatchObject({ error: { code: wanted, message: error.message } });
  });

  test('a node with `openCheck: wait` does not open', async () => {
    const { options, named } = await opened(mistake);
    const error = (await thrownBy(createInlineNode({ ...options, openCheck: 'wait' }))) as Error;
    const typed = ['UPSTREAM_CONFIGURATION', 'UPSTREAM_WRONG_CHAIN'].includes(code) ? code : 'UPSTREAM_UNAVAILABLE';
    expect(error).toMatchObject({ name: 'PlumblineError', code: typed });
    expect(error.message).not.toContain(KEY);
    expect(named(error.message)).toContain(`no endpoint of the network answers rightly (ORIGIN: ${reason}`);
  });
});

test('a host without CORS headers is told from one that is down by the fetch that was given, and by no other', async () => {
  const given = async (_: unknown, init?: RequestInit) => {
    if (init?.mode === 'no-cors') return new Response();
    throw new TypeError('Failed to fetch');
  };
  const { node } = await opened({ name: 'own fetch', fetch: given });
  vi.stubGlobal('fetch', () => expect.unreachable());
  const { endpoints } = await node.status();
  expect(endpoints[0]!.problem!.reason).toMatch(/^up, but without CORS headers for this page;/);
});

describe('a node that opens', () => {
  test('status() and the event say what each endpoint answers, of each role', async () => {
    const scene = await lightScene({
      endpoints: [{}, { tamper: ({ method }, all) => (method === 'eth_chainId' ? '0x2a' : all) }],
    });
    await scene.dev.transfer(0, { nonce: 0 });
    const events: NodeStatus[] = [];
    scene.light.on('status', (status) => events.push(status));
    const status = await scene.light.status();
    const head = Number(await scene.dev.ask('eth_blockNumber'));
    const [first, second] = scene.endpoints.map(({ url }) => new URL(url).origin);
    expect(status.ready).toBe(true);
    expect(status.dictionary).toEqual({ ...scene.light.info.dictionary, name: 'general', networkOwn: false });
    expect(status.endpoints).toMatchObject([
      { role: 'l2', endpoint: first, answers: true, chainId: 59_139, head },
      { role: 'l2', endpoint: second, answers: false, chainId: 42, problem: { code: 'UPSTREAM_WRONG_CHAIN' } },
      { role: 'l1', endpoint: new URL(scene.layerOne.url).origin, answers: true },
    ]);
    await expect.poll(() => events.length).toBe(2);
    expect(events.map(({ endpoints }) => endpoints)).toEqual([status.endpoints, status.endpoints]);
  });

  test('no request is sent before it is asked, and with `wait` it opens when one endpoint answers', async () => {
    const scene = await lightScene({ endpoints: [{ tamper: () => null }, {}] });
    expect(scene.endpoints.flatMap(({ seen }) => seen)).toEqual([]);
    const waited = await scene.open({}, { openCheck: 'wait' });
    expect(scene.endpoints.map(({ seen }) => seen.length)).toEqual([1, 1]);
    expect(await waited.status()).toMatchObject({
      ready: true,
      endpoints: [{ answers: false }, { answers: true }, {}],
    });
  });

  test('a devnet has no endpoints and is ready', async () => {
    const { node } = await devNode();
    expect(await node.status()).toMatchObject({ ready: true, endpoints: [], dictionary: { name: 'general' } });
  });

  test('a dictionary that cannot be had is in info, in the status and in its event', async () => {
    const { node } = await devNode({ dictionary: { kind: 'url', url: 'http://127.0.0.1:1/v3/SECRET' } });
    const reason = 'the dictionary cannot be loaded from http://127.0.0.1:1: no answer';
    expect(node.info.dictionary).toMatchObject({ name: 'general', networkOwn: false, reason });
    const told = await new Promise<NodeStatus>((resolve) => node.on('status', resolve));
    expect(told.dictionary).toEqual(node.info.dictionary);
  });
});
