import { describe, expect, test } from 'vitest';
import { failureOf, turns, until, watch } from '../support/mock-upstream-scene.js';
import { echo, useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();

describe('limits of an endpoint', () => {
  test('requests under way: no more than the limit at a time', async () => {
    const mock = await scene.mock({ handler: echo, latencyMs: 20 });
    const group = scene.group([{ url: mock.url, batchLimit: 1, concurrency: 2 }]);
    const work = Promise.all([1, 2, 3, 4, 5].map((n) => group.request('m', [n])));
    await until(() => mock.requests.length === 2);
    expect(await work).toHaveLength(5);
    for (const { startedAt } of mock.requests) {
      const others = mock.requests.filter((r) => r.startedAt <= startedAt && r.endedAt! > startedAt);
      expect(others.length).toBeLessThanOrEqual(2);
    }
    expect(mock.requests).toHaveLength(5);
  });

  test('rate: a burst at once, then as many per second as are allowed, and those that wait gather', async () => {
    const mock = await scene.mock({ handler: echo });
    const group = scene.group([{ url: mock.url, ratePerSecond: 2, burst: 3, batchLimit: 2 }]);
    const work = watch(Promise.all([1, 2, 3, 4, 5, 6].map((n) => group.request('m', [n]))));
    await until(() => mock.calls === 2);
    await turns(5);
    // One token is left, the next two calls wait half a second for the other.
    expect(mock.calls).toBe(2);
    await scene.clock.advance(499);
    expect(mock.calls).toBe(2);
    await scene.clock.advance(1);
    await until(() => mock.calls === 4);
    await scene.clock.advance(1000);
    await until(() => mock.calls === 6);
    expect(await work.promise).toHaveLength(6);
    expect(mock.requests).toHaveLength(3);
  });

  test('time: an endpoint that is silent, or stalls, costs one time-out', async () => {
    for (const kind of ['silence', 'stall'] as const) {
      const mock = await scene.mock();
      mock.fail({ kind });
      const group = scene.group([{ url: mock.url, timeoutMs: 700 }], { retries: 0 });
      const failure = failureOf(group.request('m', []));
      await until(() => mock.requests.length === 1);
      await scene.clock.advance(700);
      expect(await failure).toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        details: { endpoints: [{ origin: mock.origin, kind: 'timed-out' }] },
      });
      await until(() => mock.requests[0]!.brokenOff);
    }
  });

  test('size: a body of 50 MB is cut off', async () => {
    for (const announced of [false, true]) {
      const mock = await scene.mock();
      mock.fail({ kind: 'huge', bytes: 50_000_000, announced });
      const group = scene.group([{ url: mock.url, maxResponseBytes: 1_000_000 }], { retries: 0 });
      const failure = await failureOf(group.request('m', []));
      expect(failure).toMatchObject({
        code: 'UPSTREAM_MALFORMED',
        details: { endpoints: [{ reason: 'answer above 1000000 bytes' }] },
      });
      await until(() => mock.requests[0]!.brokenOff);
      expect(mock.requests[0]!.bytesSent).toBeLessThan(25_000_000);
      const { bytesReceived } = scene.exchanges.at(-1)!;
      if (announced) expect(bytesReceived).toBe(0);
      else expect(bytesReceived).toBeLessThan(2_000_000);
    }
  });

  test('size: the preset limit cuts 50 MB off too', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'huge', bytes: 50_000_000 });
    const failure = await failureOf(scene.group([mock.url], { retries: 0 }).request('m', []));
    expect(failure).toMatchObject({ code: 'UPSTREAM_MALFORMED' });
  });
});

describe('giving up', () => {
  test('aborts the HTTP request if no other caller waits for it', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'silence' });
    const group = scene.group([mock.url]);
    const controller = new AbortController();
    const failure = failureOf(group.request('m', [], { signal: controller.signal }));
    await until(() => mock.requests.length === 1);
    controller.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    await until(() => mock.requests[0]!.brokenOff);
    expect(scene.exchanges.map(({ fault }) => fault)).toEqual(['aborted']);
    expect(scene.events).toEqual([]);
  });

  test('does not affect callers that share the call or the batch', async () => {
    const mock = await scene.mock({ handler: echo, latencyMs: 30 });
    const group = scene.group([mock.url]);
    const controller = new AbortController();
    const { signal } = controller;
    const mine = failureOf(group.request('m', [1], { signal }));
    const another = failureOf(group.request('m', [3], { signal }));
    const others = Promise.all([group.request('m', [1]), group.request('m', [2])]);
    await until(() => mock.requests.length === 1);
    controller.abort();
    for (const failure of [mine, another]) expect(await failure).toMatchObject({ code: 'ABORTED' });
    expect(await others).toEqual(['m:[1]', 'm:[2]']);
    expect(mock.requests).toHaveLength(1);
  });

  test('before a request is sent sends nothing', async () => {
    const mock = await scene.mock();
    const group = scene.group([mock.url]);
    const controller = new AbortController();
    const failure = failureOf(group.request('m', [], { signal: controller.signal }));
    controller.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    const late = group.request('m', [], { signal: controller.signal });
    expect(await failureOf(late)).toMatchObject({ code: 'ABORTED' });
    await turns(5);
    expect(mock.requests).toEqual([]);
  });

  test('while waiting for the rate limit leaves nothing behind', async () => {
    const mock = await scene.mock({ handler: echo });
    const group = scene.group([{ url: mock.url, ratePerSecond: 0.01, burst: 1 }]);
    await group.request('m', [0]);
    const controller = new AbortController();
    const failures = [1, 2].map((n) => failureOf(group.request('m', [n], { signal: controller.signal })));
    await turns(5);
    expect(scene.clock.open).toBeGreaterThan(0);
    controller.abort();
    for (const failure of failures) expect(await failure).toMatchObject({ code: 'ABORTED' });
    expect(mock.calls).toBe(1);
    expect(scene.clock.open).toBe(0);
  });

  test('closing ends every request, and refuses later ones', async () => {
    const mock = await scene.mock();
    mock.fail({ kind: 'silence' });
    const group = scene.group([mock.url]);
    const failure = failureOf(group.request('m', []));
    await until(() => mock.requests.length === 1);
    group.close();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    expect(await failureOf(group.request('m', []))).toMatchObject({ code: 'ABORTED' });
    await turns(3);
  });
});
