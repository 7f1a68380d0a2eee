import { describe, expect, test } from 'vitest';
import { failureOf, until } from '../support/mock-upstream-scene.js';
import { openPair, useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();
const pair = () => openPair(scene);

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

  test('it is asked nevertheless if no other endpoint answers', async () => {
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
    expect((error as Error).cause).toMatchObject({
      details: {
        endpoints: [
          { origin: a.origin, kind: 'unavailable', status: 500 },
          {
            origin: b.origin,
            kind: 'timed-out',
            reason: 'no answer in 5000 ms; it hangs: raise timeoutMs, or give another endpoint',
          },
        ],
      },
    });
    await until(() => b.requests[0]!.brokenOff);
  });

  test('the whole is bounded in time, too, when accept() never decides', async () => {
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
