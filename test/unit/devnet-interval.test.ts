import { expect, test, vi } from 'vitest';
import { Interval } from '../../src/chain/devnet/mining/interval.js';

/** Timers that would keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('work comes again and again, after failures too, until it is stopped', async () => {
  let turns = 0;
  const interval = new Interval(async () => {
    turns++;
    if (turns === 2) throw new Error('one turn fails');
  });
  interval.start(0.001);
  expect(interval.seconds).toBe(0.001);
  await vi.waitFor(() => expect(turns).toBeGreaterThan(3));
  interval.stop();
  expect(interval.seconds).toBeUndefined();
  const stopped = turns;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(turns).toBe(stopped);
});

test('runs do not overlap, and a stop during a run is final', async () => {
  let [running, most] = [0, 0];
  const interval = new Interval(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    interval.stop();
  });
  interval.start(0.001);
  await vi.waitFor(() => expect(most).toBe(1));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([running, most]).toEqual([0, 1]);
});

test('the timer keeps no process alive', () => {
  const before = timers();
  const interval = new Interval(async () => {});
  interval.start(1000);
  expect(timers()).toBe(before);
  interval.stop();
});
