import { describe, expect, test } from 'vitest';
import { TokenBucket } from '../../src/upstream/endpoint.js';
import { Health, SignalRelay } from '../../src/upstream/group.js';
import { createManualClock } from '../support/mock-upstream-clock.js';
import { failureOf, turns } from '../support/mock-upstream-scene.js';
import { useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();
const START = 1_000_000;
const FIVE_MINUTES = 300_000;
const refusal = { kind: 'configuration', reason: 'no' } as const;
const failure = { fault: refusal, isFinal: true };

describe('the health of an endpoint', () => {
  test('is bad for one second, then two, up to a minute, and good again with an answer', () => {
    const health = new Health();
    let now = START;
    for (const ms of [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000)) {
      health.failed(now);
      // Of the same moment, and counted once.
      health.failed(now + ms - 1);
      expect([health.breakEndsAt, health.readiness(now + ms - 1)]).toEqual([now + ms, 'last']);
      now += ms;
      expect(health.readiness(now)).toBe('probe');
    }
    health.answered(['m']);
    expect(health.readiness(now)).toBe('healthy');
    health.failed(now);
    expect(health.breakEndsAt).toBe(now + 1_000);
  });

  test('lets one request probe at a time', () => {
    const health = new Health();
    health.failed(START);
    health.isProbed = true;
    expect(health.readiness(START + 1_000)).toBe('last');
    health.isProbed = false;
    expect(health.readiness(START + 1_000)).toBe('probe');
  });

  test('is told when it turns bad, and when good', () => {
    const health = new Health();
    expect(health.answered(['m'])).toBe(false);
    expect([health.failed(START), health.degrade(), health.failed(START)]).toEqual([true, false, false]);
    expect([health.answered(['m']), health.answered(['m'])]).toEqual([true, false]);
    expect([health.degrade(), health.refused(['m'], refusal, START)]).toEqual([true, false]);
    expect(health.readiness(START)).toBe('healthy');
  });

  test('is refused for five minutes if it never served, or until it answers', () => {
    const health = new Health();
    health.refused(['m'], refusal, START);
    expect(health.readiness(START + FIVE_MINUTES - 1)).toBe('refused');
    expect(health.readiness(START + FIVE_MINUTES)).toBe('healthy');
    health.answered([]);
    expect(health.readiness(START)).toBe('healthy');
  });

  test('is refused after four refusals of different moments, if it served before', () => {
    const health = new Health();
    health.answered(['m']);
    const moments = [0, 0, 0, 0, 1, 2, 2].map((ms) => START + ms);
    for (const now of moments) {
      health.refused(['n'], refusal, now);
      expect(health.readiness(now)).toBe('healthy');
    }
    health.refused(['n'], refusal, START + 3);
    expect(health.readiness(START + 3)).toBe('refused');
    health.answered(['m']);
    health.refused(['n'], refusal, START + 4);
    expect(health.readiness(START + 4)).toBe('healthy');
  });

  test('knows for five minutes which methods it lacks, but for those that it served', () => {
    const health = new Health();
    health.answered(['served']);
    health.refused(['served', 'refused'], refusal, START);
    const other = { ...failure, error: 'none' };
    health.lacks('missing', other, START);
    const known = (now: number) => ['served', 'refused', 'missing', 'never'].map((m) => health.missingMethod(m, now));
    expect(known(START + FIVE_MINUTES - 1)).toEqual([undefined, failure, other, undefined]);
    expect(known(START + FIVE_MINUTES)).toEqual(Array(4).fill(undefined));
    health.refused(['refused'], refusal, START + 1);
    health.forgetRefusals();
    expect(known(START + 2)).toEqual(Array(4).fill(undefined));
  });

  test('is not refused any more when refusals are forgotten', () => {
    const health = new Health();
    health.refused(['m'], refusal, START);
    health.forgetRefusals();
    expect(health.readiness(START)).toBe('healthy');
  });
});

describe('the endpoints of a group', () => {
  const asked: string[] = [];
  const group = (...broken: (() => boolean)[]) => {
    asked.length = 0;
    return scene.group(
      broken.map((isBroken, i) => ({
        name: 'abcd'[i]!,
        provider: {
          request: async () => {
            asked.push('abcd'[i]!);
            if (isBroken()) throw new Error('broken');
            return 'abcd'[i];
          },
        },
      })),
    );
  };
  const yes = () => true;
  const no = () => false;

  test('are asked in their order, those that failed last, and of these the one that failed first', async () => {
    let isBroken = false;
    const each = group(
      no,
      () => isBroken,
      no,
      () => isBroken,
    );
    const order = async () => {
      asked.length = 0;
      const accept = () => Promise.reject('none');
      await failureOf(each.request('m', [], { accept, waits: false }));
      return asked.join('');
    };
    expect(await order()).toBe('abcd');
    isBroken = true;
    await failureOf(each.request('m', [], { endpoint: 'd', waits: false }));
    await scene.clock.advance(1);
    await failureOf(each.request('m', [], { endpoint: 'b', waits: false }));
    isBroken = false;
    expect(await order()).toBe('acdb');
    await scene.clock.advance(999);
    expect(each.endpoints.map(({ readiness }) => readiness)).toEqual(['healthy', 'healthy', 'healthy', 'healthy']);
  });

  test('are left as they are by a batch without calls', async () => {
    const each = group(yes, no);
    await each.request('m', []);
    expect(await each.requestMany([], { endpoint: 'a' })).toMatchObject({ answers: [] });
    expect(each.endpoints.map(({ readiness }) => readiness)).toEqual(['last', 'healthy']);
    expect(scene.events.map(({ type }) => type)).toEqual(['degraded']);
  });
});

describe('a rate', () => {
  test('fills as the clock goes on, not beyond its burst, and not if the clock is set back', async () => {
    const clock = createManualClock();
    const bucket = new TokenBucket(10, 5, clock);
    bucket.take(5);
    expect(bucket.waitMs(1)).toBe(100);
    await clock.advance(250);
    expect([bucket.waitMs(2), bucket.waitMs(3)]).toEqual([0, 50]);
    await clock.advance(-10_000);
    expect(bucket.waitMs(3)).toBe(50);
    await clock.advance(60_000);
    expect(bucket.waitMs(5)).toBe(0);
    bucket.take(5);
    expect(bucket.waitMs(1)).toBe(100);
  });
});

describe('a signal of several controllers', () => {
  test('aborts those that it was passed to and that were not taken back', () => {
    const relay = new SignalRelay();
    const given = new AbortController();
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const leave = relay.pass(given.signal, first);
    relay.pass(given.signal, second);
    leave();
    leave();
    given.abort('enough');
    relay.pass(given.signal, third)();
    expect([first, second, third].map(({ signal }) => signal.reason)).toEqual([undefined, 'enough', 'enough']);
  });

  test('does so again for a controller that comes after all others have left', async () => {
    const relay = new SignalRelay();
    const given = new AbortController();
    relay.pass(given.signal, new AbortController())();
    const late = new AbortController();
    relay.pass(given.signal, late);
    given.abort('enough');
    await turns(1);
    expect(late.signal.reason).toBe('enough');
  });
});
