import { describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { type EndpointSource, limitsOf, openHttp, openJsonRpc } from '../../src/upstream/options.js';
import { failureOf, turns } from '../support/mock-upstream-scene.js';
import { useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();
const call = (method: string) => ({ method, params: [] });
/** Providers `a`, `b` and so on, which answer by their names, but for methods that have an answer of their own. */
function open(count: number, own: Record<string, () => unknown> = {}) {
  const asked: string[] = [];
  const endpoints = Array.from({ length: count }, (_, i) => ({
    name: 'abc'[i]!,
    provider: {
      request: async ({ method }: { method: string }) => {
        asked.push(`${'abc'[i]} ${method}`);
        return method in own ? own[method]!() : 'abc'[i];
      },
    },
  }));
  return { asked, group: scene.group(endpoints) };
}
const invalid = (parameter: string, reason: string) =>
  expect.objectContaining({ code: 'INVALID_PARAMETER', details: { parameter, reason } });
const NONE = -32601;
const missing = () => {
  throw { code: NONE, message: 'none' };
};

describe('a group', () => {
  test('has at least one endpoint, and knows only its own', async () => {
    expect(() => scene.group([])).toThrow(invalid('endpoints', 'must name at least one endpoint'));
    const { group } = open(2);
    const unknown = invalid('endpoint', 'must be one of this group');
    expect(() => group.reportFalse('c', 'false')).toThrow(unknown);
    expect(await failureOf(group.request('m', [], { endpoint: 'c' }))).toEqual(unknown);
    group.reportFalse('b', 'false');
    expect(group.endpoints).toEqual([
      { id: 'a', origin: 'a', readiness: 'healthy', pausedForMs: 0 },
      { id: 'b', origin: 'b', readiness: 'last', pausedForMs: 0 },
    ]);
    expect(group.role).toBe('l2');
    expect(scene.events).toEqual([
      { type: 'degraded', role: 'l2', endpoint: 'b', origin: 'b', kind: 'rejected', reason: 'false' },
    ]);
  });

  test('that is closed ends what runs, and refuses what comes', async () => {
    const { group, asked } = open(1, { silent: () => new Promise(() => {}) });
    const running = failureOf(group.request('silent', []));
    await turns(1);
    group.close();
    for (const failure of [running, failureOf(group.request('m', []))])
      expect(await failure).toMatchObject({
        code: 'ABORTED',
        message: 'the endpoints were closed; open a new node to go on',
      });
    expect(asked).toEqual(['a silent']);
  });

  test('forgets a request when it has ended, and stops listening to its signal', async () => {
    const { group } = open(1);
    await group.request('m', []);
    let aborts = 0;
    const { abort } = AbortController.prototype;
    AbortController.prototype.abort = function (this: AbortController, reason?: unknown) {
      aborts++;
      abort.call(this, reason);
    };
    group.close();
    AbortController.prototype.abort = abort;
    expect(aborts).toBe(0);
  });

  test('asks without an observer all the same', async () => {
    const provider = { request: async () => 'x' };
    const group = new EndpointGroup({ role: 'l2', endpoints: [{ provider }], clock: scene.clock });
    group.reportFalse('provider', 'false');
    expect(await group.request('m', [])).toBe('x');
    group.close();
  });
});

describe('a batch', () => {
  test('is remembered for the methods that it lacks, and for no other error', async () => {
    const own = {
      missing,
      failing: () => {
        throw { code: 3, message: 'reverted' };
      },
    };
    const { group } = open(1, own);
    expect(await group.requestMany(['m', 'missing', 'failing'].map(call))).toEqual({
      from: { id: 'a', origin: 'a' },
      answers: [
        { kind: 'result', result: 'a' },
        { kind: 'error', error: { code: NONE, message: 'none' } },
        { kind: 'error', error: { code: 3, message: 'reverted' } },
      ],
    });
    expect(['m', 'missing', 'failing'].map((method) => group.originsWith(method))).toEqual([['a'], [], ['a']]);
    const { details } = (await failureOf(group.request('missing', []))) as PlumblineError;
    expect(details).toStrictEqual({ origin: 'a', method: 'missing', code: NONE, message: 'none' });
  });

  test('is lacking in a group only if all its endpoints lack it', async () => {
    const { group, asked } = open(2, { missing });
    const fault: unknown[] = [];
    await failureOf(group.request('missing', [], { endpoint: 'a', onFault: (given) => void fault.push(given) }));
    expect(fault).toEqual([{ kind: 'unavailable', reason: 'it says "none"' }]);
    expect(group.originsWith('missing')).toEqual(['b']);
    await failureOf(group.request('missing', []));
    expect([group.originsWith('missing'), asked]).toEqual([[], ['a missing', 'b missing']]);
  });

  test('is checked by what the caller gives, and asked again if the refusal may pass', async () => {
    const { group, asked } = open(1);
    const early = new PlumblineError('ABORTED', 'early', {});
    let times = 0;
    const accept = () => {
      if (times++ === 0) throw early;
      return 'later';
    };
    const answer = group.requestMany([call('m')], { accept, isTransient: (error) => error === early });
    await turns(2);
    await scene.clock.advance(125);
    expect([await answer, asked.length]).toEqual(['later', 2]);
  });
});

describe('a request to several endpoints', () => {
  const options = { needed: 2, accept: String, key: (value: string) => value };

  test('goes to those that are chosen, with the time of the request', async () => {
    const { group, asked } = open(3, { silent: () => new Promise(() => {}), same: () => 'x' });
    const chosen = await group.requestAll('same', [], { ...options, endpoints: ['b', 'c'] });
    expect([chosen.value, asked]).toEqual(['x', ['b same', 'c same']]);
    const failure = failureOf(group.requestAll('silent', [], { ...options, timeoutMs: 400 }));
    await turns(1);
    // One timer for both endpoints and the request as a whole.
    expect(scene.clock.delays[0]).toBe(400);
    expect(scene.clock.delays.slice(1)).not.toContain(400);
    await scene.clock.advance(400);
    expect(await failure).toMatchObject({ code: 'REQUEST_TIMED_OUT', details: { timeoutMs: 400 } });
  });

  test('has the time of the group if it names none', async () => {
    const { group } = open(2, { silent: () => new Promise(() => {}) });
    const failure = failureOf(group.requestAll('silent', [], options));
    await turns(1);
    // The time limits of the exchanges, and one timer for the requests.
    expect(scene.clock.delays).toEqual([10_000, 10_000, 30_000]);
    group.close();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
  });

  test('joins an identical one in flight, unless it is told not to', async () => {
    const { group, asked } = open(2, { same: () => turns(3).then(() => 'x') });
    await Promise.all([group.requestAll('same', [], options), group.requestAll('same', [], options)]);
    expect(asked).toHaveLength(2);
    const alone = { ...options, deduplicate: false };
    await Promise.all([group.requestAll('same', [], alone), group.requestAll('same', [], alone)]);
    expect(asked).toHaveLength(6);
  });
});

describe('an endpoint', () => {
  const url = 'https://h.example';
  const open1 = (source: EndpointSource) => openJsonRpc(source, undefined);

  test('has limits that are left out, or are above zero', () => {
    const preset = { timeoutMs: 10_000, ratePerSecond: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY };
    expect(limitsOf(url)).toEqual({ ...preset, concurrency: 6 });
    expect(limitsOf({ url, timeoutMs: 5, ratePerSecond: 0.2, burst: 0.5, concurrency: 0.5 })).toEqual({
      timeoutMs: 5,
      ratePerSecond: 0.2,
      burst: 1,
      concurrency: 1,
    });
    const { ratePerSecond, burst } = limitsOf({ url, ratePerSecond: Number.POSITIVE_INFINITY, burst: 9 });
    expect([ratePerSecond, burst]).toEqual([Number.POSITIVE_INFINITY, 9]);
    for (const name of ['timeoutMs', 'ratePerSecond', 'concurrency'])
      expect(() => limitsOf({ url, [name]: 0 })).toThrow(invalid(name, 'must be a number above zero'));
  });

  test('has batches of 100 calls and answers of 16 MiB, unless it says otherwise', () => {
    expect([open1(url).batchLimit, open1({ url, batchLimit: 2.9 }).batchLimit]).toEqual([100, 2]);
    expect(() => open1({ url, batchLimit: 0 })).toThrow(invalid('batchLimit', 'must be a number above zero'));
    expect(openHttp({ url }, undefined).http.maxResponseBytes).toBe(16_777_216);
    expect(openHttp({ url, maxResponseBytes: 7 }, undefined).http.maxResponseBytes).toBe(7);
    const parameter = 'maxResponseBytes';
    expect(() => open1({ url, [parameter]: -1 })).toThrow(invalid(parameter, 'must be a number above zero'));
  });

  test('has a key behind its path, and asks with what it is given, or with the global fetch', async () => {
    const urlOf = (source: { url: string; apiKey?: string }) => openHttp(source, undefined).address.url;
    expect(urlOf({ url: `${url}//`, apiKey: 'a/b' })).toBe('https://h.example/v3/a%2Fb');
    expect(urlOf({ url: `${url}/x` })).toBe('https://h.example/x');
    const given = async () => new Response('given');
    expect(openHttp({ url }, given).http.fetch).toBe(given);
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => new Response(`${String(input)} ${init?.method}`);
    try {
      const response = await openHttp({ url }, undefined).http.fetch(url, { method: 'PUT' });
      expect(await response.text()).toBe(`${url} PUT`);
    } finally {
      globalThis.fetch = fetch;
    }
  });

  test('may be a provider that throws no error, or is not connected', async () => {
    const reply = async (thrown: unknown) => {
      const provider = { request: () => Promise.reject(thrown) };
      return (await open1({ provider }).exchange([call('m')], new AbortController().signal)).reply;
    };
    const fault = (reason: string) => [{ kind: 'fault', fault: { kind: 'unavailable', reason } }];
    for (const thrown of [null, 'no error', { message: 'no code' }])
      expect(await reply(thrown)).toEqual(fault('the provider failed'));
    for (const code of [4900, 4901]) expect(await reply({ code, message: 'gone' })).toEqual(fault('it says "gone"'));
  });

  test('is named by its provider if it has one', () => {
    const provider = { request: async () => 1 };
    expect([open1({ provider }).origin, open1({ provider, name: 'wallet' }).origin]).toEqual(['provider', 'wallet']);
  });
});
