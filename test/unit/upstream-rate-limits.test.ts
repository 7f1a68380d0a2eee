import { describe, expect, test } from 'vitest';
import type { MockFault } from '../support/mock-upstream-fault.js';
import { failureOf, turns, until, watch } from '../support/mock-upstream-scene.js';
import { openPair, useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();
const pair = () => openPair(scene);

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
  ] as const)('one endpoint: the request waits as long as asked: %s', async (_, fault, ms) => {
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

  test.each(['86400', '999999999', 'Fri, 31 Dec 2199 23:59:59 GMT'])('a pause of %s is an hour', async (retryAfter) => {
    const { a, group } = await pair();
    a.fail((index) => (index === 0 ? { kind: 'rate-limit', retryAfter } : undefined));
    expect(await group.request('m', [])).toBe('b');
    expect(group.endpoints[0]!.pausedForMs).toBe(3_600_000);
    await scene.clock.advance(3_600_000);
    expect(await group.request('m', [])).toBe('a');
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
