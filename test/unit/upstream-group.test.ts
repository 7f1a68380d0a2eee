import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { failureOf, until } from '../support/mock-upstream-scene.js';
import { openPair, useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();
const pair = () => openPair(scene);

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

  test('two of one origin have different ids', async () => {
    const mock = await scene.mock();
    const group = scene.group([`${mock.url}/one`, `${mock.url}/two`]);
    expect(group.endpoints.map(({ id }) => id)).toEqual([mock.origin, `${mock.origin}#2`]);
    await group.request('m', [], { endpoint: `${mock.origin}#2` });
    expect(mock.requests[0]!.path).toBe('/two');
  });
});

describe('one signal of many requests', () => {
  test('is listened to once, and no longer when they have ended', async () => {
    const { group } = await pair();
    const { signal } = new AbortController();
    const requests = Array.from({ length: 30 }, (_, n) => group.request('m', [n], { signal }));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await Promise.all(requests);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends all of them with its reason, and those that come after', async () => {
    const { group } = await pair();
    const controller = new AbortController();
    const { signal } = controller;
    const requests = [1, 2, 3].map((n) => failureOf(group.request('m', [n], { signal })));
    const other = group.request('m', [1]);
    controller.abort('enough');
    requests.push(failureOf(group.request('m', [4], { signal })));
    for (const error of await Promise.all(requests)) expect(error).toMatchObject({ code: 'ABORTED', cause: 'enough' });
    expect(await other).toBe('a');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('what may come later', () => {
  const late = new PlumblineError('ANSWER_REFUSED', 'late', { what: 'block', check: 'MISSING', at: '' });
  const isTransient = (error: unknown) => error === late;

  /** Lets the waits between the rounds pass. */
  async function settled<T>(request: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    request.then(over, over);
    while (!isOver) {
      await until(() => isOver || scene.clock.delays.some((delay) => delay < 8_000));
      if (!isOver) await scene.clock.advance(500);
    }
    return request;
  }

  test('is requested again if no endpoint has it, and the endpoint that has it then is not reported', async () => {
    const { a, b, group } = await pair();
    let times = 0;
    const accept = (result: unknown) => {
      if (++times < 3) throw late;
      return result;
    };
    expect(await settled(group.request('m', [], { accept, isTransient }))).toBe('a');
    expect([a.calls, b.calls]).toEqual([2, 1]);
    const [first] = group.endpoints;
    expect(first!.readiness).toBe('healthy');
  });

  test('is given up after the repetitions of the group; what may not come is not repeated', async () => {
    const { a, b, group } = await pair();
    const refuse = () => Promise.reject(late);
    expect(await settled(failureOf(group.request('m', [], { accept: refuse, isTransient })))).toMatchObject({
      cause: late,
    });
    expect([a.calls, b.calls]).toEqual([3, 3]);
    expect(await failureOf(group.requestMany([{ method: 'm', params: [] }], { accept: refuse }))).toMatchObject({
      cause: late,
    });
    expect([a.calls, b.calls]).toEqual([4, 4]);
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

  test('if all are refused, the error is thrown unchanged, and no endpoint is reported', async () => {
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
