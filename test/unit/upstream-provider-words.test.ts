import { describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { parseEndpointAddress } from '../../src/upstream/address.js';
import {
  allFailed,
  blockOf,
  classifyError,
  isBatchTooLong,
  refusedBatchLimit,
  rejection,
  requestFailureOf,
  saying,
  tooFew,
  upstreamError,
} from '../../src/upstream/failure.js';
import { jsonRpcTransport } from '../../src/upstream/json-rpc.js';
import { readRestReply } from '../../src/upstream/rest.js';
import { failureOf } from '../support/mock-upstream-scene.js';
import { echo, useScene } from '../support/upstream-scene-hooks.js';

/*
 * What providers and nodes say when they refuse, each as its operator writes it, without a node around: test/light/providers.long.test.ts
 * asks a light node over endpoints that say the same.
 */

const scene = useScene();
const at = { id: 'a.example', origin: 'a.example' };

describe('what an endpoint says', () => {
  test.each([
    ['QuickNode', -32007, '50/second request limit reached - reduce calls per second or upgrade your account'],
    ['a plan', -32012, 'You have exceeded the requests limit of your plan'],
    ['Base', -32016, 'over rate limit'],
    ['dRPC', 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'],
    ['a rate in words', 30, 'throttled'],
    ['a proxy', -32000, 'Request failed with status code 429: Too Many Requests'],
  ])('%s limits the rate', (_, code, message) => {
    expect(classifyError({ code, message })).toMatchObject({ kind: 'fault', fault: { kind: 'rate-limited' } });
  });

  test.each([
    ['Besu, of a transaction', -32007, 'Gas price below configured minimum gas price'],
    ['a contract', 3, 'execution reverted: too many requests'],
    ['a contract, under another code', -32000, 'execution reverted: Too Many Requests'],
    ['geth', -32015, 'too many requests in the queue'],
  ])('%s does not', (_, code, message) => {
    expect(classifyError({ code, message })).toEqual({ kind: 'error', error: { code, message } });
  });

  test('its data counts as a rate only if it is an object', () => {
    const message = 'block range exceeded';
    expect(classifyError({ code: -32005, message, data: { rate: 'slow' } }).kind).toBe('error');
    expect(classifyError({ code: -32005, message, data: { rate: {} } }).kind).toBe('fault');
  });

  test.each([
    ['dRPC', 31, 'Batch of more than 3 requests are not allowed on free tier', 10, 3],
    ['1RPC', 31, 'not allowed on this plan', 10, 5],
    ['a gateway', -32600, 'You cannot send more than 12 requests at once', 40, 12],
    ['calls in place of requests', -32000, 'more than 12 calls', 40, 12],
    ['a maximum', -32000, 'batch size too large, maximum is 100', 400, 100],
    ['max', -32000, 'batch too large (max 20)', 400, 20],
    ['limit', -32000, 'batch limit 1 exceeded', 400, 1],
    ['limited', -32000, 'batches are limited to 1000', 4000, 1000],
    ['as many as were sent', -32000, 'batch limit of 10 exceeded', 10, 5],
    ['none', -32000, 'batch limit of 0 exceeded', 10, 5],
    ['no size', -32000, 'batch requests are not supported', 10, 1],
    ['geth', -32600, 'batch too large', 10, 5],
  ])('%s names how many calls a batch may have', (_, code, message, size, most) => {
    expect(refusedBatchLimit({ code, message }, size)).toBe(most);
  });

  test('the answers to a batch are too long for geth', () => {
    expect(isBatchTooLong({ code: -32003, message: 'response too large' })).toBe(true);
    expect(isBatchTooLong({ code: -32003, message: 'Response is too large' })).toBe(true);
    expect(isBatchTooLong({ code: -32003, message: 'response of this transaction is too large' })).toBe(false);
    expect(isBatchTooLong({ code: -32003, message: 'transaction rejected' })).toBe(false);
    expect(isBatchTooLong({ code: 32003, message: 'response too large' })).toBe(false);
    expect(isBatchTooLong(undefined)).toBe(false);
  });

  test.each([
    ['geth', -32000, 'missing trie node 1f2e3d (path ) state 0x1f2e3d is not available'],
    ['reth', -32602, 'distance to target block exceeds maximum proof window'],
    ['Nethermind', -32002, 'No state available for block 0x5'],
  ])('%s does not hold the state, and the sentence adds it', (_, code, message) => {
    const call = { method: 'eth_getProof', params: ['0x00', [], '0x5'] };
    expect(upstreamError(at, call, { code, message }).message).toBe(
      `a.example answered eth_getProof of block 0x5 with error ${code}, it says "${message}"; it does not hold the state of this block, or no proof of it`,
    );
    // A contract may use the same words.
    expect(upstreamError(at, call, { code: 3, message }).message).toBe(
      `a.example answered eth_getProof of block 0x5 with error 3, it says "${message}"`,
    );
  });

  test('its words are quoted in one line, and cut', () => {
    expect(saying('')).toBe('it gives no reason');
    expect(saying('no')).toBe('it says "no"');
    expect(saying('a\nb\u202ec')).toBe('it says "a\\u{a}b\\u{202e}c"');
    expect(saying('x'.repeat(200))).toBe(`it says "${'x'.repeat(200)}"`);
    expect(saying('x'.repeat(201))).toBe(`it says "${'x'.repeat(200)}…"`);
  });
});

test.each([
  ['eth_getBalance', ['0x00', '0x1'], '0x1'],
  ['eth_getStorageAt', ['0x00', '0x2', '0x1'], '0x1'],
  ['linea_getProof', ['0x00', [], 'latest'], 'latest'],
  ['eth_call', [{}, { blockHash: '0xaa', requireCanonical: true }], '0xaa'],
  ['eth_call', [{}, { blockNumber: '0x7' }], '0x7'],
  ['eth_getBlockByHash', ['0xaa', true], '0xaa'],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }], '0x1 to 0x2'],
  ['eth_getLogs', [{ blockHash: '0xaa' }], '0xaa'],
  ['debug_eth_getBlock', ['0xaa'], undefined],
  ['eth_chainId', [], undefined],
  ['eth_getTransactionReceipt', ['0xaa'], undefined],
])('%s %j asks about block %s', (method, params, block) => {
  expect(blockOf({ method, params })).toBe(block);
});

describe('errors of several endpoints', () => {
  const gone = (origin: string, kind: 'unavailable' | 'rate-limited' = 'unavailable') =>
    new PlumblineError('UPSTREAM_UNAVAILABLE', 'none', { endpoints: [{ origin, kind, reason: `${origin} is gone` }] });

  test('are one with the reasons of all, unless one of them answered', () => {
    expect(allFailed([gone('a'), gone('b')])).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'no endpoint could be reached (a: a is gone; b: b is gone)',
    });
    const said = new PlumblineError('ANSWER_REFUSED', 'refused', {} as never);
    expect(allFailed([said, gone('b')])).toBe(said);
    const other = new Error('not of this package');
    expect(allFailed([other, gone('b')])).toBe(other);
  });

  test('what this version does not know comes before what was not reached, and names the methods', () => {
    const error = new PlumblineError('HEADER_UNSUPPORTED', 'members', {} as never);
    const calls = ['eth_getBlockByHash', 'eth_getProof', 'eth_getProof'].map((method) => ({ method, params: [] }));
    const unreached = { fault: { kind: 'unavailable', reason: 'gone' }, isFinal: false } as const;
    const failures = [[{ id: 'b', origin: 'b' }, unreached] as const, [at, rejection(error, at, true)] as const];
    expect(requestFailureOf(calls, failures)).toMatchObject({
      code: 'HEADER_UNSUPPORTED',
      message: 'a.example: members',
      details: { origin: 'a.example', method: 'eth_getBlockByHash, eth_getProof' },
    });
  });

  test('name each origin that answered once', () => {
    expect(tooFew([gone('c')], ['a', 'b', 'a'], 3)).toMatchObject({
      message: expect.stringMatching(/^3 endpoints must agree, but only a, b answered \(c: c is gone\); /),
    });
  });

  test('what this version does not know is held against nobody', () => {
    const error = new PlumblineError('HEADER_UNSUPPORTED', 'unknown', {} as never);
    expect(rejection(error, at, true)).toEqual({
      fault: { kind: 'unavailable', reason: 'its header has members that this version does not know' },
      isFinal: true,
      error,
    });
  });
});

describe('what a server answers to a batch', () => {
  const address = parseEndpointAddress('https://host.example/');
  async function replyOf(status: number, body: unknown, count = 4) {
    const given: typeof fetch = async () => new Response(JSON.stringify(body), { status });
    const rpc = jsonRpcTransport(address, 100, { fetch: given, maxResponseBytes: 2_000 });
    const calls = Array.from({ length: count }, (_, i) => ({ method: `m${i}`, params: [] }));
    return (await rpc.exchange(calls, new AbortController().signal)).reply;
  }
  const error = (code: number, message: string, id: unknown = null) => ({
    jsonrpc: '2.0',
    id,
    error: { code, message },
  });

  test('500 with words about the batch makes it smaller; other words are a fault', async () => {
    expect(await replyOf(500, error(31, 'Batch of more than 3 requests are not allowed'))).toEqual({ batchLimit: 3 });
    expect(await replyOf(500, error(-32600, 'not more than 12 at once'))).toEqual({ batchLimit: 1 });
    expect(await replyOf(503, error(-32600, 'Invalid'))).toMatchObject(Array(4).fill({ kind: 'fault' }));
    expect(await replyOf(500, error(-32029, 'batch of too many requests'))).toMatchObject(
      Array(4).fill({ kind: 'fault', fault: { kind: 'unavailable' } }),
    );
    expect(await replyOf(500, error(-32000, 'batch too large'), 1)).toMatchObject([
      { kind: 'fault', fault: { kind: 'unavailable' } },
    ]);
    expect(await replyOf(500, 'batch')).toMatchObject(Array(4).fill({ kind: 'fault' }));
  });

  test('one error with the id of the first call is of the batch if it says so', async () => {
    expect(await replyOf(200, [error(-32600, 'batch too large', 1)])).toEqual({ batchLimit: 2 });
    // For a single call it is the answer.
    expect(await replyOf(200, [error(-32600, 'batch too large', 1)], 1)).toMatchObject([{ kind: 'error' }]);
    expect(await replyOf(200, [error(-32600, 'no', 1)], 2)).toMatchObject([{ kind: 'error' }, { kind: 'fault' }]);
  });

  test('answers that became too long make it half as long', async () => {
    const answers = [
      { jsonrpc: '2.0', id: 1, result: 1 },
      ...[2, 3, 4].map((id) => error(-32003, 'response too large', id)),
    ];
    expect(await replyOf(200, answers)).toEqual({ batchLimit: 2 });
    expect(await replyOf(200, error(-32003, 'response too large', 1), 1)).toMatchObject([{ kind: 'error' }]);
  });

  test('403 may be of one method, 401 is of the key', async () => {
    expect(await replyOf(403, 'forbidden')).toMatchObject({ byMethod: Array(4).fill({ kind: 'fault' }) });
    expect(await replyOf(403, 'forbidden', 1)).toMatchObject([{ kind: 'fault' }]);
    expect(await replyOf(401, 'forbidden')).toMatchObject(Array(4).fill({ kind: 'fault' }));
  });
});

test('an API without the part that is asked for may have it later', () => {
  const address = parseEndpointAddress('https://host.example/');
  expect(readRestReply(address, { status: 501, body: '', bytesReceived: 0 })).toEqual({
    kind: 'fault',
    fault: {
      kind: 'configuration',
      reason: 'status 501: it does not have this part of the API',
      status: 501,
      mayPass: true,
    },
  });
});

describe('a plan without one method', () => {
  const forbidden = { kind: 'status', status: 403, body: 'forbidden' } as const;
  const ask = (methods: readonly string[]) => methods.map((method) => ({ method, params: [] }));

  test('is refused that one, and answered the others in the same question', async () => {
    const mock = await scene.mock({ handler: echo });
    mock.fail((index) => (mock.requests[index]!.methods.includes('paid') ? forbidden : undefined));
    const group = scene.group([mock.url]);
    const { answers } = await group.requestMany(ask(['free', 'paid', 'free']), { deduplicate: false });
    expect(answers).toEqual([
      { kind: 'result', result: 'free:[]' },
      { kind: 'error', error: { code: -32601, message: 'status 403; check its API key, plan and allowed origins' } },
      { kind: 'result', result: 'free:[]' },
    ]);
    const sentFor = async (methods: readonly string[]) => {
      const before = mock.requests.length;
      await group.requestMany(ask(methods), { deduplicate: false });
      return mock.requests.slice(before).map((request) => request.methods);
    };
    // Those that were answered by themselves go together again; the refused one stays alone.
    expect(await sentFor(['free', 'other'])).toEqual([['free', 'other']]);
    expect(await sentFor(['free', 'other', 'paid'])).toEqual([['free', 'other'], ['paid']]);
  });

  test('alone, it is what the endpoint refuses', async () => {
    const mock = await scene.mock({ handler: echo });
    mock.fail(forbidden);
    expect(await failureOf(scene.group([mock.url]).request('paid', []))).toMatchObject({
      code: 'UPSTREAM_CONFIGURATION',
    });
  });
});

describe('endpoints that do not agree', () => {
  test('are told with the block that was asked about, and how many agree', async () => {
    const answer = (text: string) => scene.mock({ handler: () => text });
    const [a, b, c] = [await answer('x'), await answer('x'), await answer('y'.repeat(150))];
    const group = scene.group([a.url, b.url, c.url]);
    const options = { needed: 3, accept: (value: unknown) => value, key: String };
    const about = async (method: string, params: readonly unknown[]) =>
      (await failureOf(group.requestAll(method, params, options))) as PlumblineError;
    const { message } = await about('eth_getBlockByNumber', ['0x5', false]);
    expect(message).toContain('about eth_getBlockByNumber of block 0x5, 2 endpoints agree, but 3 must (');
    expect(message).toContain(`says ${'y'.repeat(100)}`);
    expect(message).not.toContain('y'.repeat(101));
    expect((await about('eth_chainId', [])).message).toContain('about eth_chainId, 2 endpoints agree, but 3 must (');
  });
});

test('a header with unknown members is false only where another one has the hash', async () => {
  const unknown = await scene.mock({ handler: () => 'unknown' });
  const known = await scene.mock({ handler: () => 'known' });
  const accept = (result: unknown) => {
    if (result === 'unknown') throw new PlumblineError('HEADER_UNSUPPORTED', 'members', {} as never);
    return result;
  };
  const rejected = () => scene.events.filter(({ kind }) => kind === 'rejected');
  const ask = (method: string, block: string) =>
    scene.group([unknown.url, known.url]).request(method, [block, false], { accept });
  expect(await ask('eth_getBlockByNumber', 'latest')).toBe('known');
  expect(rejected()).toEqual([]);
  expect(await ask('eth_getBlockByHash', '0xaa')).toBe('known');
  expect(rejected()).toMatchObject([{ endpoint: unknown.origin, reason: 'its header is not that of the hash' }]);
});
