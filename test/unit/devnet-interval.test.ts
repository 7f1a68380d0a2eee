import { afterEach, expect, test, vi } from 'vitest';
import { Interval } from '../../src/chain/devnet/mining/mining.js';

afterEach(() => {
  vi.useRealTimers();
});

/** Timers that would keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('work comes again and again, after failures too, until it is stopped', async () => {
  vi.useFakeTimers();
  let turns = 0;
  const interval = new Interval(async () => {
    turns++;
    if (turns === 2) throw new Error('one turn fails');
  });
  interval.start(7);
  expect(interval.seconds).toBe(7);
  await vi.advanceTimersByTimeAsync(6_999);
  expect(turns).toBe(0);
  await vi.advanceTimersByTimeAsync(28_000);
  expect(turns).toBe(4);
  interval.stop();
  expect(interval.seconds).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(turns).toBe(4);
});

test('runs do not overlap, and a stop during a run is final', async () => {
  vi.useFakeTimers();
  let [running, most] = [0, 0];
  const interval = new Interval(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    running--;
    interval.stop();
  });
  interval.start(7);
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect([running, most]).toEqual([0, 1]);
});

test('the timer keeps no process alive', () => {
  const before = timers();
  const interval = new Interval(async () => {});
  interval.start(1000);
  expect(timers()).toBe(before);
  interval.stop();
});
