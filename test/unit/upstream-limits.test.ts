import { describe, expect, test } from 'vitest';
import { createBackOff, TokenBucket } from '../../src/upstream/endpoint.js';
import { classifyError, refusedBatchLimit } from '../../src/upstream/failure.js';
import { limitsOf } from '../../src/upstream/options.js';
import { createManualClock } from '../support/mock-upstream-clock.js';
import { failureOf } from '../support/mock-upstream-scene.js';
import { seededRandom } from '../support/random.js';

describe('createBackOff', () => {
  test('doubles up to its limit, and starts again', () => {
    const backOff = createBackOff({ initialMs: 100, maxMs: 1000 });
    expect(Array.from({ length: 6 }, () => backOff.next())).toEqual([100, 200, 400, 800, 1000, 1000]);
    backOff.reset();
    expect(backOff.next()).toBe(100);
  });

  test('full jitter: anything from zero to below the bound', () => {
    const waits = (random: () => number) => {
      const backOff = createBackOff({ initialMs: 100, maxMs: 400, random });
      return Array.from({ length: 4 }, () => backOff.next());
    };
    expect(waits(() => 0)).toEqual([0, 0, 0, 0]);
    expect(waits(() => 0.999999)).toEqual([99, 199, 399, 399]);
    expect(waits(() => 0.25)).toEqual([25, 50, 100, 100]);
  });
});

describe('TokenBucket', () => {
  test('never lets more through in any time than burst and rate allow', async () => {
    const random = seededRandom(7);
    const clock = createManualClock();
    const bucket = new TokenBucket(5, 8, clock);
    const sent: { at: number; count: number }[] = [];
    for (let i = 0; i < 200; i++) {
      const count = 1 + random(8);
      const waitMs = bucket.waitMs(count);
      await clock.advance(waitMs);
      expect(bucket.waitMs(count)).toBe(0);
      bucket.take(count);
      sent.push({ at: clock.now(), count });
      if (random(4) === 0) await clock.advance(random(3000));
    }
    let most = Number.NEGATIVE_INFINITY;
    for (const [i, { at: from }] of sent.entries()) {
      let total = 0;
      for (const { at, count } of sent.slice(i)) {
        total += count;
        most = Math.max(most, total - (8 + (5 * (at - from)) / 1000));
      }
    }
    expect(most).toBeLessThanOrEqual(1e-6);
  });

  test('more than a full bucket goes when it is full, and is paid for after', async () => {
    const clock = createManualClock();
    const bucket = new TokenBucket(10, 5, clock);
    expect(bucket.waitMs(20)).toBe(0);
    bucket.take(20);
    expect(bucket.waitMs(1)).toBe(1600);
  });

  test('without a rate there is no wait', () => {
    const bucket = new TokenBucket(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, createManualClock());
    bucket.take(1e9);
    expect(bucket.waitMs(1e9)).toBe(0);
  });
});

/** Messages as docs/spec/json-rpc.md 4.1 and 4.3 list them. */
describe('classifyError', () => {
  const kindOf = (code: number, message: string, data?: unknown) => {
    const outcome = classifyError({ code, message, data });
    return outcome.kind === 'fault' ? outcome.fault.kind : outcome.kind;
  };

  test.each([
    [-32005, 'daily request count exceeded, request rate limited', 'rate-limited'],
    [-32005, 'project ID request rate exceeded', 'rate-limited'],
    [-32005, 'limit exceeded', 'rate-limited'],
    [-33200, 'too many requests', 'rate-limited'],
    [-33300, 'too many requests', 'rate-limited'],
    [-33400, 'too many requests', 'rate-limited'],
    [-32002, 'rejected due to project ID settings', 'configuration'],
    [-33000, 'payment required', 'configuration'],
    [402, 'payment required', 'configuration'],
    [-33100, 'forbidden', 'configuration'],
    [-40100, 'Unauthorized', 'configuration'],
    [-32005, 'Requested range exceeds maximum RPC range limit', 'error'],
    [-32005, 'Number of requests exceeds max batch size', 'error'],
    [-32005, 'Transaction gas limit exceeds block gas limit', 'error'],
    [-32002, 'Invalid signature', 'error'],
    [-32000, 'nonce too low', 'error'],
    [3, 'Execution reverted', 'error'],
    [-32601, 'Method not found', 'error'],
  ])('%i %s: %s', (code, message, kind) => {
    expect(kindOf(code, message)).toBe(kind);
  });

  test('rate data decides over the message', () => {
    expect(kindOf(-32005, 'range', { rate: { backoff_seconds: 30 } })).toBe('rate-limited');
  });

  test('refused batches', () => {
    const limit = (code: number, message: string, size: number) => refusedBatchLimit({ code, message }, size);
    expect(limit(-32005, 'Number of requests exceeds max batch size', 10)).toBe(5);
    expect(limit(-32600, 'Invalid Request', 10)).toBe(1);
    expect(limit(-32000, 'batch requests are not supported', 10)).toBe(1);
    expect(limit(-32000, 'Block not found', 10)).toBeUndefined();
    expect(limit(-32600, 'Invalid Request', 1)).toBeUndefined();
  });
});

describe('limits of an endpoint', () => {
  test('are checked', async () => {
    for (const bad of [{ timeoutMs: 0 }, { ratePerSecond: -1 }, { concurrency: Number.NaN }]) {
      const failure = await failureOf(Promise.resolve().then(() => limitsOf({ url: 'http://x', ...bad })));
      expect(failure).toMatchObject({ code: 'INVALID_PARAMETER', details: { parameter: Object.keys(bad)[0] } });
    }
    expect(limitsOf({ url: 'http://x', ratePerSecond: 2.5 })).toMatchObject({ ratePerSecond: 2.5, burst: 3 });
  });
});
