import { describe, expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import type { EndpointGroup } from '../../src/upstream/group.js';
import type { GroupOptions } from '../../src/upstream/options.js';
import { failureOf, turns } from '../support/mock-upstream-scene.js';
import { useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();

/** What a provider does at its nth call. An object that is thrown is a JSON-RPC error, if it has a code and a message. */
type Step = (method: string, parameter: unknown, n: number) => unknown;
const broken: Step = () => {
  throw new Error('broken');
};
const silent: Step = () => new Promise(() => {});
const failing =
  (code: number, message: string, data?: unknown): Step =>
  () => {
    throw { code, message, data };
  };
const limited = (seconds: number) => failing(429, 'slowly', { rate: { backoff_seconds: seconds } });
/** The first step for the first call and so on; the last one for the rest. */
const steps =
  (...each: Step[]): Step =>
  (method, parameter, n) =>
    (each[n] ?? each.at(-1)!)(method, parameter, n);
const says = (value: unknown) => () => value;

/** A group of providers `a`, `b` and so on, and what each was asked. */
function open(each: readonly Step[], options: Partial<GroupOptions> = {}) {
  const asked: unknown[][] = each.map(() => []);
  const endpoints = each.map((step, i) => ({
    name: 'abc'[i]!,
    provider: {
      request: async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
        step(method, params[0], asked[i]!.push(params[0] ?? method) - 1),
    },
  }));
  return { asked, group: scene.group(endpoints, options) };
}
const numbers = (...all: number[]) => all.map((n) => ({ method: 'm', params: [n] }));
const resultsOf = ({ answers }: Awaited<ReturnType<EndpointGroup['requestMany']>>) =>
  answers.map((answer) => (answer.kind === 'result' ? answer.result : answer.error.code));
const now = { waits: false };

describe('the error of a request that no endpoint answers', () => {
  test('names the endpoint whose answer was refused, before JSON-RPC errors and faults', async () => {
    const { group } = open([failing(3, 'reverted'), says('b'), broken]);
    const refused = new PlumblineError('ANSWER_REFUSED', 'late', { what: 'block', check: 'MISSING', at: 'x' });
    const accept = () => {
      throw refused;
    };
    const error = await failureOf(group.request('m', [], { accept, ...now }));
    expect(error).toMatchObject({ code: 'ANSWER_REFUSED', message: 'b: late', cause: refused });
    expect((error as PlumblineError).details).toEqual({
      what: 'block',
      check: 'MISSING',
      at: 'x',
      origin: 'b',
      method: 'm',
    });
  });

  test('is a JSON-RPC error only if all have given one', async () => {
    const error = await failureOf(open([failing(3, 'reverted'), broken]).group.request('m', [], now));
    expect(error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'no endpoint could be reached (a: it says "reverted"; b: the provider failed)',
      details: {
        endpoints: [
          { origin: 'a', kind: 'unavailable', reason: 'it says "reverted"' },
          { origin: 'b', kind: 'unavailable', reason: 'the provider failed' },
        ],
      },
    });
    const both = open([failing(3, 'reverted'), failing(4, 'no')]).group;
    expect(await failureOf(both.request('m', [], now))).toMatchObject({
      message: expect.stringMatching(/^a answered m with error 3, it says "reverted"$/),
      details: { origin: 'a', code: 3 },
    });
  });

  test('lists nothing if no endpoint was left to ask', async () => {
    const error = (await failureOf(open([broken]).group.request('m', [], { exclude: ['a'] }))) as PlumblineError;
    expect([error.message, error.details]).toStrictEqual(['no endpoint could be reached', { endpoints: [] }]);
  });

  test('says how long the shortest rate limit lasts, if there is one and nothing else', async () => {
    const detailsOf = async (...each: Step[]) => {
      const error = (await failureOf(open(each).group.request('m', [], now))) as PlumblineError;
      const { endpoints, ...rest } = error.details as { endpoints: unknown };
      return [error.code, rest];
    };
    const code = 'UPSTREAM_RATE_LIMITED';
    expect(await detailsOf(limited(200), limited(100))).toStrictEqual([code, { retryAfterMs: 100_000 }]);
    expect(await detailsOf(limited(0), limited(100))).toStrictEqual([code, { retryAfterMs: 100_000 }]);
    expect(await detailsOf(limited(0))).toStrictEqual([code, {}]);
    expect(await detailsOf(limited(100), broken)).toStrictEqual(['UPSTREAM_UNAVAILABLE', {}]);
  });

  test('has a cause at the end of the time only if an endpoint has failed or hangs', async () => {
    const accept = () => new Promise<never>(() => {});
    const deciding = failureOf(open([says(1)], { totalTimeoutMs: 50 }).group.request('m', [], { accept }));
    const hanging = failureOf(open([silent], { totalTimeoutMs: 50 }).group.request('m', []));
    await turns(2);
    await scene.clock.advance(50);
    const { code, cause } = (await deciding) as PlumblineError;
    expect([code, cause]).toEqual(['REQUEST_TIMED_OUT', undefined]);
    expect(await hanging).toMatchObject({
      code: 'REQUEST_TIMED_OUT',
      cause: { details: { endpoints: [{ origin: 'a', kind: 'timed-out' }] } },
    });
  });

  test('at the end of a time that is shorter than that of one exchange comes last, if it had most of it', async () => {
    const slow: Step = steps(silent, silent, says('a'));
    const { group, asked } = open([slow, says('b')]);
    const first = failureOf(group.request('m', [1], { endpoint: 'a', timeoutMs: 8_000 }));
    await turns(2);
    await scene.clock.advance(8_000);
    expect(await first).toMatchObject({ code: 'REQUEST_TIMED_OUT' });
    expect(group.endpoints.map(({ readiness }) => readiness)).toEqual(['last', 'healthy']);
    expect(scene.events).toMatchObject([{ type: 'degraded', origin: 'a', kind: 'timed-out' }]);
    expect(await group.request('m', [2])).toBe('b');
    expect(asked).toEqual([[1], [2]]);
  });

  test('at the end of a time of which another had most says nothing against it', async () => {
    const late: Step = () => new Promise((resolve) => scene.clock.setTimer(() => resolve('late'), 5_000));
    const { group } = open([late, silent]);
    const accept = (answer: unknown) => {
      if (answer === 'late') throw new PlumblineError('ANSWER_REFUSED', 'false', { what: 'x', check: 'y', at: '' });
    };
    const failed = failureOf(group.request('m', [1], { timeoutMs: 8_000, accept }));
    await turns(2);
    await scene.clock.advance(5_000);
    await scene.clock.advance(3_000);
    expect(await failed).toMatchObject({ code: 'REQUEST_TIMED_OUT' });
    expect(group.endpoints.map(({ readiness }) => readiness)).toEqual(['healthy', 'healthy']);
  });

  test('while it waits in a queue of its own rate says nothing against it', async () => {
    const { group } = open([silent]);
    const slow = scene.group([
      { name: 'a', provider: { request: async () => 1 }, ratePerSecond: 0.1, burst: 1 } as never,
    ]);
    expect(await slow.request('m', [1])).toBe(1);
    await scene.clock.advance(500);
    const failed = failureOf(slow.request('m', [2], { timeoutMs: 4_000 }));
    await turns(2);
    await scene.clock.advance(4_000);
    expect(await failed).toMatchObject({ code: 'REQUEST_TIMED_OUT' });
    expect(slow.endpoints[0]!.readiness).toBe('healthy');
    group.close();
  });

  test('is the time-out of what checks the answer, if that has one', async () => {
    const own = new PlumblineError('REQUEST_TIMED_OUT', 'no answer in 5 ms', { timeoutMs: 5 });
    const { group } = open([says(1)]);
    expect(await failureOf(group.request('m', [], { accept: () => Promise.reject(own) }))).toBe(own);
    expect(await failureOf(group.request('m', [], { accept: () => Promise.reject('no error'), ...now }))).toBe(
      'no error',
    );
  });
});

describe('an endpoint is asked again', () => {
  test('unless its failure is final', async () => {
    const { group, asked } = open([failing(3, 'reverted'), steps(broken, broken, says('b'))]);
    const answer = group.request('m', []);
    for (const ms of [125, 250]) {
      await turns(2);
      expect(scene.clock.delays[0]).toBe(ms);
      await scene.clock.advance(ms);
    }
    expect(await answer).toBe('b');
    expect(asked.map((each) => each.length)).toEqual([1, 3]);
  });

  test('after a JSON-RPC error that may pass', async () => {
    const { group, asked } = open([steps(failing(5, 'soon'), failing(6, 'soon'))]);
    const isTransient = (error: unknown) => (error as PlumblineError<'UPSTREAM_ERROR'>).details.code === 5;
    const failure = failureOf(group.request('m', [], { isTransient }));
    await turns(2);
    expect(scene.clock.delays[0]).toBe(125);
    await scene.clock.advance(125);
    expect(await failure).toMatchObject({ details: { code: 6 } });
    expect(asked[0]).toHaveLength(2);
  });

  test('no more often than the group says, while another one is waited for', async () => {
    const { group, asked } = open([broken, steps(limited(1), says('b'))], { retries: 0 });
    const answer = group.request('m', []);
    await turns(2);
    expect(group.endpoints.map(({ readiness }) => readiness)).toEqual(['last', 'healthy']);
    await scene.clock.advance(1_000);
    expect(await answer).toBe('b');
    expect(asked.map((each) => each.length)).toEqual([1, 2]);
  });

  test('if that can be before the end of the time', async () => {
    const timesAsked = async (totalTimeoutMs: number) => {
      const { group, asked } = open([broken], { totalTimeoutMs });
      const failure = failureOf(group.request('m', []));
      await turns(2);
      await scene.clock.advance(totalTimeoutMs);
      expect(await failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      return asked[0]!.length;
    };
    expect([await timesAsked(125), await timesAsked(126)]).toEqual([1, 2]);
  });

  test('after 100 ms if it limits its rate and asks for no pause', async () => {
    const { group } = open([steps(limited(0), says('a'))]);
    const answer = group.request('m', []);
    await turns(2);
    expect(scene.clock.delays[0]).toBe(100);
    await scene.clock.advance(100);
    expect(await answer).toBe('a');
  });
});

describe('a batch that is answered in part', () => {
  const second =
    (step: Step): Step =>
    (method, n, count) =>
      n === 2 ? step(method, n, count) : n;

  test('is filled up twice, then it has failed', async () => {
    const { group, asked } = open([second(broken), says('b')]);
    expect(resultsOf(await group.requestMany(numbers(1, 2), now))).toEqual(['b', 'b']);
    expect(asked).toEqual([
      [1, 2, 2, 2],
      [1, 2],
    ]);
  });

  test('is not filled up if no call was answered', async () => {
    const { group, asked } = open([broken, says('b')]);
    expect(resultsOf(await group.requestMany(numbers(1, 2)))).toEqual(['b', 'b']);
    expect(asked[0]).toEqual([1, 2]);
  });

  test('waits two seconds for the rest, and not longer', async () => {
    const { group } = open([second(steps(says(1), limited(2), says('two'))), says('b')]);
    const answer = group.requestMany(numbers(1, 2));
    await turns(2);
    expect(scene.clock.delays[0]).toBe(2_000);
    await scene.clock.advance(2_000);
    expect(resultsOf(await answer)).toEqual([1, 'two']);
    const other = open([second(limited(2.001)), says('b')]);
    expect(resultsOf(await other.group.requestMany(numbers(1, 2)))).toEqual(['b', 'b']);
    expect(other.asked[0]).toEqual([1, 2]);
  });

  test('does not wait at all if the request is not to', async () => {
    const { group, asked } = open([second(limited(0.001)), says('b')]);
    expect(resultsOf(await group.requestMany(numbers(1, 2), now))).toEqual(['b', 'b']);
    expect(asked[0]).toEqual([1, 2]);
  });

  test('leaves the endpoint healthy, and later requests to it wait for its pause', async () => {
    const { group } = open([second(steps(says(1), limited(5), says('two')))]);
    const waiting = { kind: 'rate-limited', reason: 'waiting as the endpoint asked' };
    await failureOf(group.requestMany(numbers(1, 2), now));
    const error = await failureOf(group.request('m', [1], now));
    expect(error).toMatchObject({ code: 'UPSTREAM_RATE_LIMITED', details: { endpoints: [waiting] } });
    group.reportFalse('a', 'of another reason');
    expect(await failureOf(group.request('m', [1], now))).toMatchObject({ details: { endpoints: [waiting] } });
    const answer = group.request('m', [1]);
    await turns(2);
    expect(scene.clock.delays[0]).toBe(5_000);
    await scene.clock.advance(5_000);
    expect(await answer).toBe(1);
  });

  test('is asked for although one of its methods is missing; a single call of that is not', async () => {
    const { group, asked } = open([(method) => (method === 'x' ? failing(-32601, 'none')('', 0, 0) : method)]);
    const batch = ['x', 'y'].map((method) => ({ method, params: [] }));
    expect(resultsOf(await group.requestMany(batch))).toEqual([-32601, 'y']);
    expect(resultsOf(await group.requestMany(batch))).toEqual([-32601, 'y']);
    expect(await failureOf(group.request('x', []))).toMatchObject({ details: { code: -32601 } });
    expect(asked[0]).toEqual(['x', 'y', 'x', 'y']);
  });
});

describe('who is told', () => {
  test('each endpoint that is asked, and each fault', async () => {
    const { group } = open([broken, failing(3, 'reverted'), says('c')]);
    const told: unknown[] = [];
    const onAsk = ({ id }: { id: string }) => void told.push(id);
    const onFault = ({ reason }: { reason: string }) => void told.push(reason);
    expect(await group.request('m', [], { onAsk, onFault })).toBe('c');
    expect(told).toEqual(['a', 'the provider failed', 'b', 'it says "reverted"', 'c']);
    told.length = 0;
    const signal = AbortSignal.abort('enough');
    expect(await failureOf(group.request('m', [], { onAsk, onFault, signal }))).toMatchObject({ cause: 'enough' });
    expect(told).toEqual([]);
  });

  test('only the first request after a break is a probe', async () => {
    const { group } = open([steps(silent, broken), says('b')]);
    void group.request('m', [1]).catch(() => {});
    await turns(1);
    expect(await group.request('m', [2])).toBe('b');
    await scene.clock.advance(1_000);
    expect(group.endpoints[0]!.readiness).toBe('probe');
    group.close();
    await turns(1);
  });
});
