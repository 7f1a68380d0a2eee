import { describe, expect, test } from 'vitest';
import type { Eip1193Provider } from '../../src/upstream/json-rpc.js';
import { RestGroup } from '../../src/upstream/rest-group.js';
import { countRoundTrips, type MockUpstream } from '../support/mock-upstream.js';
import { failureOf, until } from '../support/mock-upstream-scene.js';
import { useScene } from '../support/upstream-scene-hooks.js';
import { createStatistics } from '../support/upstream-statistics.js';

const scene = useScene();
const accept = (result: unknown) => String(result);
const key = (value: string) => value;

/** A server for each answer. */
async function servers(...answers: readonly string[]): Promise<MockUpstream[]> {
  return Promise.all(answers.map((answer) => scene.mock({ handler: () => answer })));
}

describe('requestAll', () => {
  test('settles when enough agree, without those that are slow, and breaks them off', async () => {
    const [a, b, c] = (await servers('x', 'x', 'x')) as [MockUpstream, MockUpstream, MockUpstream];
    b.fail({ kind: 'silence' });
    const group = scene.group([a.url, b.url, c.url]);
    const answer = await group.requestAll('m', [], { needed: 2, accept, key });
    expect(answer).toMatchObject({ value: 'x', key: 'x' });
    expect(answer.agreed.map(({ origin }) => origin).sort()).toEqual([a.origin, c.origin].sort());
    await until(() => b.requests.length === 0 || b.requests[0]!.brokenOff);
  });

  test('asks side by side: one round trip', async () => {
    const mocks = await Promise.all([1, 2, 3].map(() => scene.mock({ handler: () => 'x', latencyMs: 60 })));
    const group = scene.group(mocks.map(({ url }) => url));
    await group.requestAll('m', [], { needed: 3, accept, key });
    expect(countRoundTrips(...mocks)).toBe(1);
  });

  test('one that differs, fails, or is refused does not change what the others agree on', async () => {
    const mocks = await servers('lie', 'x', 'x', 'y');
    mocks[3]!.fail({ kind: 'status', status: 401 });
    const group = scene.group(mocks.map(({ url }) => url));
    const answer = await group.requestAll('m', [], { needed: 2, accept, key, wait: 'all' });
    expect(answer.value).toBe('x');
    expect(answer.votes).toHaveLength(4);
    expect(answer.votes.filter((vote) => 'error' in vote)).toHaveLength(1);
  });

  test('too few that agree is an error of its own', async () => {
    const mocks = await servers('x', 'y', 'z');
    const group = scene.group(mocks.map(({ url }) => url));
    expect(await failureOf(group.requestAll('m', [], { needed: 2, accept, key }))).toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
      details: { needed: 2, agreed: 1, answers: 3 },
    });
  });

  test('too few answers is the error of those that gave none, and says how many must agree', async () => {
    const mocks = await servers('x', 'x', 'x');
    for (const mock of mocks.slice(1)) mock.fail({ kind: 'status', status: 403 });
    const group = scene.group(mocks.map(({ url }) => url));
    const failure = await failureOf(group.requestAll('m', [], { needed: 2, accept, key }));
    expect(failure).toMatchObject({ code: 'UPSTREAM_CONFIGURATION' });
    const { message } = failure as Error;
    expect(message).toMatch(/^2 endpoints must agree, but only http\S+ answered \(/);
    for (const { origin } of mocks.slice(1)) expect(message).toContain(`${origin}: status 403`);
  });

  test('endpoints of one origin count once', async () => {
    const [a, b] = (await servers('x', 'y')) as [MockUpstream, MockUpstream];
    const group = scene.group([`${a.url}/1`, `${a.url}/2`, b.url]);
    expect(await failureOf(group.requestAll('m', [], { needed: 2, accept, key }))).toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
    });
    expect(await failureOf(group.requestAll('m', [], { needed: 3, accept, key }))).toMatchObject({
      code: 'INVALID_PARAMETER',
    });
  });

  test('aborting ends all requests', async () => {
    const mocks = await servers('x', 'x');
    for (const mock of mocks) mock.fail({ kind: 'silence' });
    const group = scene.group(mocks.map(({ url }) => url));
    const controller = new AbortController();
    const failure = failureOf(group.requestAll('m', [], { needed: 1, accept, key, signal: controller.signal }));
    await until(() => mocks.every(({ requests }) => requests.length === 1));
    controller.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    await until(() => mocks.every(({ requests }) => requests[0]!.brokenOff));
  });
});

describe('a provider in place of a URL', () => {
  const provider = (request: (method: string, params: unknown) => unknown): Eip1193Provider => ({
    request: async ({ method, params }) => request(method, params),
  });

  test('is asked call by call', async () => {
    const group = scene.group([{ provider: provider((method, params) => [method, params]), name: 'light client' }]);
    const calls = [1, 2].map((n) => ({ method: 'm', params: [n] }));
    expect((await group.requestMany(calls)).answers).toEqual([
      { kind: 'result', result: ['m', [1]] },
      { kind: 'result', result: ['m', [2]] },
    ]);
    expect(scene.exchanges.map(({ origin, methods }) => [origin, methods])).toEqual([
      ['light client', ['m']],
      ['light client', ['m']],
    ]);
  });

  test('its errors are classified like those of endpoints', async () => {
    const thrown = (error: object) =>
      provider(() => {
        throw error;
      });
    for (const [error, code] of [
      [{ code: 3, message: 'execution reverted', data: '0x' }, 'UPSTREAM_ERROR'],
      [{ code: 4100, message: 'unauthorized' }, 'UPSTREAM_CONFIGURATION'],
      [{ code: 4900, message: 'disconnected' }, 'UPSTREAM_UNAVAILABLE'],
      [new Error('broken https://host.example/v3/secret'), 'UPSTREAM_UNAVAILABLE'],
    ] as const) {
      const group = scene.group([{ provider: thrown(error) }], { retries: 0 });
      const failure = await failureOf(group.request('m', []));
      expect(failure).toMatchObject({ code });
      expect(JSON.stringify([failure, String(failure)])).not.toContain('secret');
    }
  });

  test('stands in for an endpoint that fails, and is left when it hangs', async () => {
    const mock = await scene.mock({ handler: () => 'endpoint' });
    const hanging: Eip1193Provider = { request: () => new Promise(() => {}) };
    const group = scene.group([{ provider: hanging, timeoutMs: 400 }, mock.url]);
    const answer = group.request('m', []);
    await until(() => scene.clock.delays.includes(400));
    await scene.clock.advance(400);
    expect(await answer).toBe('endpoint');
  });
});

describe('RestGroup', () => {
  const open = (...urls: readonly string[]) =>
    new RestGroup({ role: 'maru', endpoints: urls, clock: scene.clock, random: () => 0.5, retries: 0 });

  test('gets JSON below the URL, with failover', async () => {
    const a = await scene.mock({ get: (path) => ({ status: 200, body: { path } }) });
    const b = await scene.mock({ get: () => ({ status: 200, body: 'b' }) });
    const rest = open(`${a.url}/maru/`, b.url);
    expect(await rest.get('/eth/v2/beacon/blocks/head')).toEqual({ path: '/maru/eth/v2/beacon/blocks/head' });
    expect(a.requests[0]).toMatchObject({ httpMethod: 'GET' });
    a.fail({ kind: 'status', status: 500 });
    expect(await rest.get('/x', { accept: (result) => `checked ${result}` })).toBe('checked b');
    rest.close();
    expect(await failureOf(rest.get('/x'))).toMatchObject({ code: 'ABORTED' });
  });

  test('errors of the API are passed on, 404 after the others were asked', async () => {
    const a = await scene.mock({ get: () => ({ status: 400, body: { code: 400, message: 'Invalid block ID' } }) });
    const b = await scene.mock({ get: () => ({ status: 404, body: { code: 404, message: 'Block not found' } }) });
    expect(await failureOf(open(a.url, b.url).get('/x'))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      details: { code: 400, message: 'Invalid block ID' },
    });
    expect(b.requests).toHaveLength(0);
    const c = await scene.mock({ get: () => ({ status: 404, body: { code: 404, message: 'None here either' } }) });
    expect(await failureOf(open(b.url, c.url).get('/x'))).toMatchObject({
      details: { code: 404, message: 'Block not found' },
    });
    expect(c.requests).toHaveLength(1);
  });

  test('faults have the codes of the others', async () => {
    const mock = await scene.mock();
    for (const [fault, code] of [
      [{ kind: 'html' }, 'UPSTREAM_CONFIGURATION'],
      [{ kind: 'status', status: 401 }, 'UPSTREAM_CONFIGURATION'],
      [{ kind: 'status', status: 429, headers: { 'retry-after': '99' } }, 'UPSTREAM_RATE_LIMITED'],
      [{ kind: 'huge', bytes: 50_000_000 }, 'UPSTREAM_MALFORMED'],
      [{ kind: 'reset' }, 'UPSTREAM_UNAVAILABLE'],
    ] as const) {
      mock.fail(fault);
      expect(await failureOf(open(mock.url).get('/x'))).toMatchObject({ code });
    }
  });
});

describe('statistics', () => {
  test('count requests, calls, bytes and round trips by origin', async () => {
    const statistics = createStatistics();
    const [a, b] = (await servers('x', 'y')) as [MockUpstream, MockUpstream];
    const clock = { now: () => performance.now(), setTimer: scene.clock.setTimer, clearTimer: scene.clock.clearTimer };
    const group = scene.group([a.url, b.url], { observer: statistics, clock });
    a.latencyMs = b.latencyMs = 40;
    await group.requestAll('m', [], { needed: 2, accept, key: () => 'same' });
    await Promise.all([group.request('m', [1]), group.request('m', [2])]);
    const sent = JSON.stringify([1, 2].map((n) => ({ jsonrpc: '2.0', id: n, method: 'm', params: [n] }))).length;
    expect(statistics.totals).toMatchObject({ requests: 3, calls: 4, faults: 0 });
    expect(statistics.roundTrips).toBe(2);
    expect(statistics.byOrigin.get(a.origin)).toMatchObject({
      requests: 2,
      calls: 3,
      bytesReceived: a.requests.reduce((sum, { bytesSent }) => sum + bytesSent, 0),
    });
    expect(statistics.byOrigin.get(a.origin)!.bytesSent).toBeGreaterThan(sent);
    expect(countRoundTrips(a, b)).toBe(2);
    statistics.reset();
    expect(statistics.totals.requests + statistics.roundTrips + statistics.byOrigin.size).toBe(0);
  });

  test('an observer that throws does no harm', async () => {
    const [a] = (await servers('x')) as [MockUpstream];
    const observer = {
      exchange() {
        throw new Error('mine');
      },
      event() {
        throw new Error('mine');
      },
    };
    a.fail((index) => (index === 0 ? { kind: 'rate-limit', retryAfter: '1' } : undefined));
    const group = scene.group([a.url], { observer });
    const answer = group.request('m', []);
    await until(() => scene.clock.delays[0] === 1000);
    await scene.clock.advance(1000);
    expect(await answer).toBe('x');
  });
});

describe('without injected parts', () => {
  test('the real clock and the global fetch are used', async () => {
    const mock = await scene.mock({ handler: () => 'x' });
    const { EndpointGroup } = await import('../../src/upstream/group.js');
    const group = new EndpointGroup({ role: 'l2', endpoints: [mock.url, mock.url] });
    mock.fail((index) => (index < 2 ? { kind: 'status', status: 500 } : undefined));
    expect(await group.request('m', [])).toBe('x');
    group.close();
  });
});
