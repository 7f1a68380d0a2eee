import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import type { MockFault } from '../support/mock-upstream.js';
import { createScene, failureOf, turns, type UpstreamScene, until, watch } from '../support/mock-upstream-scene.js';

let scene: UpstreamScene;
const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);

beforeEach(() => {
  scene = createScene();
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});

afterEach(async () => {
  expect(scene.clock.open).toBe(0);
  expect(await scene.close()).toBe(0);
  await turns(3);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

/** Two endpoints that answer with their number. */
async function pair() {
  const a = await scene.mock({ handler: () => 'a' });
  const b = await scene.mock({ handler: () => 'b' });
  return { a, b, group: scene.group([a.url, b.url]) };
}

describe('faults of one endpoint: the next one answers', () => {
  const faults: readonly (readonly [string, MockFault, string])[] = [
    ['connection reset', { kind: 'reset' }, 'unavailable'],
    ['connection reset midway', { kind: 'reset', midway: true }, 'unavailable'],
    ['status 500', { kind: 'status', status: 500, body: 'oops' }, 'unavailable'],
    ['status 502 with HTML', { kind: 'status', status: 502, body: '<html>' }, 'unavailable'],
    ['status 503', { kind: 'status', status: 503 }, 'unavailable'],
    [
      'status 408',
      { kind: 'status', status: 408, body: '{"error":{"code":-32603,"message":"Timeout expired"}}' },
      'unavailable',
    ],
    ['HTML', { kind: 'html' }, 'configuration'],
    ['text', { kind: 'status', status: 200, body: 'Please wait' }, 'configuration'],
    ['truncated JSON', { kind: 'truncated' }, 'malformed'],
    ['empty body', { kind: 'status', status: 200 }, 'malformed'],
    ['JSON that is no answer', { kind: 'status', status: 200, body: '{"ok":true}' }, 'malformed'],
    ['an answer to another call', { kind: 'status', status: 200, body: '{"id":77,"result":1}' }, 'malformed'],
    ['status 401', { kind: 'status', status: 401, body: 'invalid project id\n' }, 'configuration'],
    [
      'status 402',
      { kind: 'status', status: 402, body: '{"error":{"code":402,"message":"payment required"}}' },
      'configuration',
    ],
    ['status 403', { kind: 'status', status: 403, body: '{"message":"Host not authorized."}' }, 'configuration'],
    ['status 404 with text', { kind: 'status', status: 404, body: 'not found' }, 'configuration'],
    [
      'project refused, status 200',
      { kind: 'error', code: -32002, message: 'rejected due to project ID settings' },
      'configuration',
    ],
    ['forbidden, status 200', { kind: 'error', code: -33100, message: 'forbidden' }, 'configuration'],
    ['429', { kind: 'rate-limit' }, 'rate-limited'],
    ['429 with Retry-After', { kind: 'rate-limit', retryAfter: '3' }, 'rate-limited'],
    [
      '-32005, status 200',
      { kind: 'error', code: -32005, message: 'daily request count exceeded, request rate limited' },
      'rate-limited',
    ],
    ['still syncing', { kind: 'error', code: -32008, message: 'Initial sync is still in progress' }, 'unavailable'],
  ];

  test.each(faults)('%s', async (_, fault, kind) => {
    const { a, b, group } = await pair();
    a.fail(fault);
    expect(await group.request('m', [])).toBe('b');
    expect([a.calls, b.calls]).toEqual([1, 1]);
    expect(scene.events).toEqual([expect.objectContaining({ type: 'degraded', role: 'l2', origin: a.origin, kind })]);
  });

  test('nobody listening', async () => {
    const { a, b, group } = await pair();
    await a.close();
    expect(await group.request('m', [])).toBe('b');
    expect(b.calls).toBe(1);
    expect(scene.events[0]!.reason).toBe('no connection (ECONNREFUSED)');
  });

  test('silence, for one time-out', async () => {
    const { a, group } = await pair();
    a.fail({ kind: 'silence' });
    const answer = group.request('m', []);
    await until(() => a.requests.length === 1);
    await scene.clock.advance(10_000);
    expect(await answer).toBe('b');
  });
});

describe('answers that are no faults', () => {
  test('a JSON-RPC error with status 400 is one', async () => {
    const { a, group } = await pair();
    const body =
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"BLOCK_MISSING_IN_CHAIN - block is missing"}}';
    a.fail({ kind: 'status', status: 400, body });
    const { id } = group.endpoints[0]!;
    expect(await failureOf(group.request('m', [], { endpoint: id }))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      details: { origin: a.origin, code: -32600, message: 'BLOCK_MISSING_IN_CHAIN - block is missing' },
    });
  });

  test.each([
    'Requested range exceeds maximum RPC range limit',
    'query returned more than 10000 results',
    'Transaction gas limit exceeds block gas limit',
  ])('-32005 of another meaning is an error, without a pause: %s', async (message) => {
    const { a, group } = await pair();
    a.fail({ kind: 'error', code: -32005, message });
    const { id } = group.endpoints[0]!;
    expect(await failureOf(group.request('m', [], { endpoint: id }))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      details: { code: -32005 },
    });
    expect(group.endpoints[0]!.pausedForMs).toBe(0);
  });

  test('an execution error of one endpoint decides nothing; where all give one it is thrown with its data', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'error', code: 3, message: 'execution reverted', data: '0x4e487b71' });
    expect(await group.request('m', [])).toBe('b');
    b.fail({ kind: 'error', code: -32000, message: 'another' });
    const error = await failureOf(group.request('m', []));
    expect(error).toMatchObject({ details: { code: 3, message: 'execution reverted', data: '0x4e487b71' } });
    expect(error).not.toHaveProperty('details.forwarded');
    const handedOn = await failureOf(group.request('m', [], { forwarded: true }));
    expect(handedOn).toMatchObject({ details: { code: 3, data: '0x4e487b71', forwarded: true } });
  });

  test('a state one endpoint has pruned is asked of the other', async () => {
    const { a, group } = await pair();
    a.fail({ kind: 'error', code: -32000, message: 'missing trie node 12ab' });
    expect(await group.request('m', [])).toBe('b');
    expect(scene.events).toEqual([]);
  });

  test('a method that one endpoint lacks is asked of the other, now and later; where all lack it, no one is asked again', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'error', code: -32601, message: 'Method not found' });
    expect(await group.request('m', [])).toBe('b');
    expect(await group.request('m', [])).toBe('b');
    expect([a.calls, b.calls]).toEqual([1, 2]);
    b.fail({ kind: 'error', code: -32601, message: 'Method not found' });
    expect(group.lacksMethod('m')).toBe(false);
    for (let i = 0; i < 2; i++)
      expect(await failureOf(group.request('m', []))).toMatchObject({
        code: 'UPSTREAM_ERROR',
        details: { code: -32601 },
      });
    expect([a.calls, b.calls]).toEqual([1, 3]);
    expect(group.lacksMethod('m')).toBe(true);
    a.fail(undefined);
    expect(await group.request('another', [])).toBe('a');
  });

  test('tryNext decides which errors go on', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'error', code: -32601, message: 'Method not found' });
    expect(await failureOf(group.request('m', [], { tryNext: () => false }))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    a.fail({ kind: 'error', code: 3, message: 'execution reverted' });
    expect(await group.request('n', [], { tryNext: () => true })).toBe('b');
    expect(b.calls).toBe(1);
  });
});

describe('configuration errors', () => {
  test('are not repeated, and the endpoint is left alone until it is told', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'status', status: 401, body: 'invalid project id\n' });
    const group = scene.group([mock.url]);
    for (let i = 0; i < 3; i++)
      expect(await failureOf(group.request('m', [i]))).toMatchObject({
        code: 'UPSTREAM_CONFIGURATION',
        details: { endpoints: [{ origin: mock.origin, kind: 'configuration', status: 401 }] },
      });
    expect(mock.calls).toBe(1);
    expect(group.endpoints[0]!.readiness).toBe('refused');
    mock.fail(undefined);
    group.forgetRefusals();
    await group.request('m', []);
    expect(scene.events.map(({ type }) => type)).toEqual(['degraded', 'recovered']);
  });

  test('about one method leave the others alone', async () => {
    const mock = await scene.mock({ handler: (method) => method });
    mock.fail((index) => (index === 1 ? { kind: 'status', status: 403, body: 'not in your plan' } : undefined));
    const group = scene.group([mock.url]);
    expect(await group.request('eth_getProof', [])).toBe('eth_getProof');
    for (let i = 0; i < 2; i++)
      expect(await failureOf(group.request('linea_getProof', []))).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    expect(await group.request('eth_call', [])).toBe('eth_call');
    expect(mock.calls).toBe(3);
  });
});

describe('a key that is withdrawn', () => {
  test('fails requests at once, and after some the endpoint is left alone', async () => {
    const mock = await scene.mock();
    const group = scene.group([mock.url]);
    await group.request('m', []);
    mock.fail({ kind: 'status', status: 401 });
    for (let i = 0; i < 8; i++) {
      await scene.clock.advance(10);
      expect(await failureOf(group.request('m', [i]))).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    }
    expect(mock.calls).toBe(1 + 4);
  });

  test('a batch that is refused for one method does not take the others with it', async () => {
    const mock = await scene.mock({ handler: (method) => method });
    const group = scene.group([mock.url]);
    await group.request('eth_call', []);
    mock.fail((index) => (index === 0 ? { kind: 'status', status: 403 } : undefined));
    await Promise.all(['eth_call', 'linea_getProof'].map((method) => failureOf(group.request(method, []))));
    expect(await group.request('eth_call', [])).toBe('eth_call');
    expect(await failureOf(group.request('linea_getProof', []))).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    expect(mock.requests).toHaveLength(3);
  });
});

describe('rate limits', () => {
  const seconds = (count: number) => count * 1000;

  test.each([
    ['Retry-After in seconds', { kind: 'rate-limit', retryAfter: '7' }, seconds(7)],
    ['backoff_seconds', { kind: 'rate-limit', backoffSeconds: 12 }, seconds(12)],
    ['the header before the body', { kind: 'rate-limit', retryAfter: '2', backoffSeconds: 12 }, seconds(2)],
    [
      'backoff_seconds of a member',
      { kind: 'error', code: -32005, message: 'exceeded', data: { rate: { backoff_seconds: 4.5 } } },
      seconds(4.5),
    ],
    ['503 with Retry-After', { kind: 'status', status: 503, headers: { 'retry-after': '5' } }, seconds(5)],
    [
      'Retry-After as a date',
      {
        kind: 'status',
        status: 429,
        headers: { date: 'Sat, 01 Aug 2026 10:00:00 GMT', 'retry-after': 'Sat, 01 Aug 2026 10:00:09 GMT' },
      },
      seconds(9),
    ],
    // Full jitter: one half of the first bound of 500 ms.
    ['no time named', { kind: 'rate-limit' }, 250],
  ] as const)('one endpoint waits as long as it is told: %s', async (_, fault, ms) => {
    const mock = await scene.mock({ handler: () => 'late' });
    mock.fail((index) => (index === 0 ? (fault as MockFault) : undefined));
    const group = scene.group([mock.url]);
    const answer = watch(group.request('m', []));
    await until(() => scene.clock.delays[0] === ms);
    await scene.clock.advance(ms - 1);
    await turns(3);
    expect(mock.calls).toBe(1);
    expect(answer.settled).toBe(false);
    await scene.clock.advance(1);
    expect(await answer.promise).toBe('late');
    expect(mock.calls).toBe(2);
    expect(scene.events.map(({ type }) => type)).toEqual(['degraded', 'recovered']);
  });

  test('waits double while it goes on, at random within their bound, and start small again after an answer', async () => {
    const mock = await scene.mock();
    mock.fail((index) => (index < 4 ? { kind: 'rate-limit' } : undefined));
    const group = scene.group([mock.url], { totalTimeoutMs: 60_000 });
    const answer = group.request('m', []);
    for (const ms of [250, 500, 1000, 2000]) {
      await until(() => scene.clock.delays[0] === ms);
      await scene.clock.advance(ms);
    }
    await answer;
    mock.fail((index) => (index < 1 ? { kind: 'rate-limit' } : undefined));
    const next = group.request('m', []);
    await until(() => scene.clock.delays[0] === 250);
    await scene.clock.advance(250);
    await next;
  });

  test('a wait beyond the time of the request fails at once', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'rate-limit', retryAfter: '3600' });
    const group = scene.group([mock.url]);
    for (let i = 0; i < 2; i++)
      expect(await failureOf(group.request('m', []))).toMatchObject({
        code: 'UPSTREAM_RATE_LIMITED',
        details: { retryAfterMs: 3_600_000, endpoints: [{ origin: mock.origin, status: 429 }] },
      });
    expect(mock.calls).toBe(1);
  });

  test('a paused endpoint is passed over, and asked again after its pause', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'rate-limit', retryAfter: '5' });
    expect(await group.request('m', [])).toBe('b');
    a.fail(undefined);
    expect(await group.request('m', [])).toBe('b');
    expect([a.calls, b.calls]).toEqual([1, 2]);
    await scene.clock.advance(5000);
    expect(await group.request('m', [])).toBe('a');
  });

  test('members of a batch that hit the limit are asked for again after the pause', async () => {
    const mock = await scene.mock({ handler: (_, [n]) => n });
    mock.fail((index) => (index === 0 ? { kind: 'partly-limited', count: 2 } : undefined));
    const group = scene.group([mock.url]);
    const work = group.requestMany([1, 2, 3].map((n) => ({ method: 'm', params: [n] })));
    await until(() => scene.clock.delays[0] === 250);
    await scene.clock.advance(250);
    expect((await work).answers.map((answer) => 'result' in answer && answer.result)).toEqual([1, 2, 3]);
    expect(mock.requests.map(({ methods }) => methods.length)).toEqual([3, 1]);
  });

  test('a pause is not longer than it was asked for, though the clock is set back', async () => {
    const { a, group } = await pair();
    a.fail((index) => (index === 0 ? { kind: 'rate-limit', retryAfter: '5' } : undefined));
    await group.request('m', []);
    await scene.clock.advance(-3_600_000);
    expect(group.endpoints[0]!.pausedForMs).toBe(5000);
    await scene.clock.advance(5000);
    expect(group.endpoints[0]!.pausedForMs).toBe(0);
  });

  test('giving up during a pause leaves no timer', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'rate-limit', retryAfter: '5' });
    const controller = new AbortController();
    const failure = failureOf(scene.group([mock.url]).request('m', [], { signal: controller.signal }));
    await until(() => scene.clock.delays[0] === 5000);
    controller.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    expect(scene.clock.open).toBe(0);
  });
});

describe('health', () => {
  test('an endpoint that failed comes last until its break is over, then one request tries it', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'status', status: 500 });
    await group.request('m', []);
    await group.request('m', []);
    expect([a.calls, b.calls]).toEqual([1, 2]);
    await scene.clock.advance(1000);
    a.fail(undefined);
    a.latencyMs = 50;
    const [first] = [group.request('m', [1])];
    await until(() => a.requests.length === 2);
    // While the probe is out, others do not wait for it.
    expect(await group.request('m', [2])).toBe('b');
    expect(await first).toBe('a');
    expect(await group.request('m', [3])).toBe('a');
    expect(scene.events.map(({ type }) => type)).toEqual(['degraded', 'recovered']);
  });

  test('breaks double while probes fail', async () => {
    const { a, group } = await pair();
    a.fail({ kind: 'status', status: 500 });
    await group.request('m', []);
    for (const [ms, asked] of [
      [999, 1],
      [1, 2],
      [1999, 2],
      [1, 3],
    ] as const) {
      await scene.clock.advance(ms);
      expect(await group.request('m', [])).toBe('b');
      expect(a.calls).toBe(asked);
    }
    expect(scene.events).toHaveLength(1);
    // After a good answer they begin anew.
    a.fail((index) => (index === 1 ? { kind: 'reset' } : undefined));
    await scene.clock.advance(4000);
    expect(await group.request('m', [])).toBe('a');
    expect(await group.request('m', [])).toBe('b');
    await scene.clock.advance(1000);
    expect(await group.request('m', [])).toBe('a');
  });

  test('it is asked nevertheless when nobody else answers', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'status', status: 500 });
    await group.request('m', []);
    a.fail(undefined);
    b.fail({ kind: 'status', status: 500 });
    expect(await group.request('m', [])).toBe('a');
  });

  test('requests that fail side by side count once', async () => {
    const { a, group } = await pair();
    a.fail({ kind: 'reset' });
    await Promise.all(Array.from({ length: 5 }, (_, n) => group.request('m', [n])));
    await scene.clock.advance(1000);
    expect(group.endpoints[0]!.readiness).toBe('probe');
  });
});

describe('when no endpoint answers', () => {
  test('all are gone through again, with growing random waits, and the reasons are listed', async () => {
    const { a, b, group } = await pair();
    a.fail({ kind: 'status', status: 500 });
    b.fail({ kind: 'truncated' });
    const failure = failureOf(group.request('m', []));
    for (const [i, ms] of [125, 250].entries()) {
      await until(() => scene.clock.delays[0] === ms);
      expect([a.calls, b.calls]).toEqual([i + 1, i + 1]);
      await scene.clock.advance(ms);
    }
    expect(await failure).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      details: {
        endpoints: [
          { origin: a.origin, kind: 'unavailable', reason: 'status 500', status: 500 },
          { origin: b.origin, kind: 'malformed', status: 200 },
        ],
      },
    });
    expect([a.calls, b.calls]).toEqual([3, 3]);
  });

  test('each way of failing at all endpoints has its own code', async () => {
    for (const [fault, code] of [
      [{ kind: 'truncated' }, 'UPSTREAM_MALFORMED'],
      [{ kind: 'html' }, 'UPSTREAM_CONFIGURATION'],
      [{ kind: 'status', status: 403 }, 'UPSTREAM_CONFIGURATION'],
      [{ kind: 'rate-limit', retryAfter: '100' }, 'UPSTREAM_RATE_LIMITED'],
      [{ kind: 'reset' }, 'UPSTREAM_UNAVAILABLE'],
    ] as const) {
      const { a, b } = await pair();
      a.fail(fault);
      b.fail(fault);
      const group = scene.group([a.url, b.url], { retries: 0 });
      expect(await failureOf(group.request('m', []))).toMatchObject({ code });
    }
  });

  test('the whole is bounded in time, whatever the endpoints do', async () => {
    const { a, b } = await pair();
    a.fail({ kind: 'status', status: 500 });
    b.fail({ kind: 'silence' });
    const group = scene.group([a.url, { url: b.url, timeoutMs: 60_000 }], { totalTimeoutMs: 5000 });
    const failure = failureOf(group.request('m', []));
    await until(() => b.requests.length === 1);
    await scene.clock.advance(5000);
    const error = await failure;
    expect(error).toMatchObject({ code: 'REQUEST_TIMED_OUT', details: { timeoutMs: 5000 } });
    expect((error as Error).cause).toMatchObject({ details: { endpoints: [{ origin: a.origin }] } });
    await until(() => b.requests[0]!.brokenOff);
  });

  test('so it is when the caller never comes to an end with an answer', async () => {
    const { a } = await pair();
    const group = scene.group([a.url], { totalTimeoutMs: 5000 });
    let given = false;
    const accept = () => {
      given = true;
      return new Promise<never>(() => {});
    };
    const failure = failureOf(group.request('m', [], { accept }));
    await until(() => given);
    await scene.clock.advance(5000);
    expect(await failure).toMatchObject({ code: 'REQUEST_TIMED_OUT' });
  });

  test('a request may have less time than its group', async () => {
    const { a, group } = await pair();
    a.fail({ kind: 'silence' });
    const failure = failureOf(group.request('m', [], { timeoutMs: 300 }));
    await until(() => a.requests.length === 1);
    await scene.clock.advance(300);
    expect(await failure).toMatchObject({ code: 'REQUEST_TIMED_OUT', details: { timeoutMs: 300 } });
  });
});

describe('a body that is not JSON', () => {
  test('is not asked for again; the next request asks, for the page in its way may be gone', async () => {
    const { a } = await pair();
    const group = scene.group([a.url]);
    a.fail((index) => (index === 0 ? { kind: 'html' } : undefined));
    expect(await failureOf(group.request('m', []))).toMatchObject({
      code: 'UPSTREAM_CONFIGURATION',
      details: { endpoints: [{ origin: a.origin, kind: 'configuration', reason: 'not JSON', status: 200 }] },
    });
    expect(a.calls).toBe(1);
    expect(await group.request('m', [])).toBe('a');
  });
});

describe('choice of endpoints', () => {
  test('one alone, or all but some', async () => {
    const { a, b, group } = await pair();
    expect(await group.request('m', [], { endpoint: b.origin })).toBe('b');
    expect(await group.request('m', [], { exclude: [a.origin] })).toBe('b');
    expect(await failureOf(group.request('m', [], { endpoint: 'http://x' }))).toMatchObject({
      code: 'INVALID_PARAMETER',
    });
    expect(await failureOf(group.request('m', [], { exclude: [a.origin, b.origin] }))).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });

  test('two of one origin are told apart', async () => {
    const mock = await scene.mock();
    const group = scene.group([`${mock.url}/one`, `${mock.url}/two`]);
    expect(group.endpoints.map(({ id }) => id)).toEqual([mock.origin, `${mock.origin}#2`]);
    await group.request('m', [], { endpoint: `${mock.origin}#2` });
    expect(mock.requests[0]!.path).toBe('/two');
  });
});

describe('accept', () => {
  const refuse = new PlumblineError('STATE_MISMATCH', 'false', { what: 'root', expected: '1', actual: '2' });

  test('an answer that is refused is asked of the next endpoint, and the first comes last for a while', async () => {
    const { a, b, group } = await pair();
    const accept = (result: unknown) => {
      if (result === 'a') throw refuse;
      return `checked ${result}`;
    };
    expect(await group.request('m', [], { accept })).toBe('checked b');
    expect(scene.events).toEqual([
      expect.objectContaining({
        type: 'degraded',
        origin: a.origin,
        kind: 'rejected',
        reason: 'its answer was refused: STATE_MISMATCH',
      }),
    ]);
    expect(await group.request('m', [], { accept })).toBe('checked b');
    expect([a.calls, b.calls]).toEqual([1, 2]);
  });

  test('where all are refused, the error is thrown as it is, and nobody is blamed', async () => {
    const { a, b, group } = await pair();
    const accept = () => {
      throw refuse;
    };
    expect(await failureOf(group.request('m', [], { accept }))).toBe(refuse);
    expect(await failureOf(group.requestMany([{ method: 'm', params: [] }], { accept }))).toBe(refuse);
    expect([a.calls, b.calls]).toEqual([2, 2]);
    expect(scene.events).toEqual([]);
  });

  test('a batch is judged as a whole, and taken from one endpoint', async () => {
    const { group } = await pair();
    const calls = [1, 2].map((n) => ({ method: 'm', params: [n] }));
    const value = await group.requestMany(calls, {
      accept: (answers, from) => {
        if (answers.some((answer) => 'result' in answer && answer.result === 'a')) throw refuse;
        return [answers, from.id];
      },
    });
    expect(value).toEqual([Array(2).fill({ kind: 'result', result: 'b' }), group.endpoints[1]!.id]);
  });

  test('an endpoint found false outside is put last', async () => {
    const { a, group } = await pair();
    expect(await group.request('m', [])).toBe('a');
    group.reportFalse(a.origin, 'its header does not link');
    expect(await group.request('m', [])).toBe('b');
    expect(scene.events[0]).toMatchObject({ kind: 'rejected', reason: 'its header does not link' });
  });
});
