import { describe, expect, test } from 'vitest';
import { Poller } from '../../src/chain/light/heads/head-follower.js';
import type { Clock } from '../../src/scheduling/clock.js';

/** Time that moves only when told. */
class ManualClock implements Clock {
  private time = 0;
  private next = 0;
  readonly timers = new Map<unknown, { at: number; action: () => void }>();

  now(): number {
    return this.time;
  }

  setTimer(action: () => void, delayMs: number): unknown {
    this.timers.set(++this.next, { at: this.time + delayMs, action });
    return this.next;
  }

  clearTimer(timer: unknown): void {
    this.timers.delete(timer);
  }

  async advance(ms: number): Promise<void> {
    const until = this.time + ms;
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers.delete(due[0]);
      this.time = due[1].at;
      due[1].action();
      for (let turn = 0; turn < 8; turn++) await undefined;
    }
    this.time = until;
  }
}

function poller(look: () => Promise<boolean>) {
  const clock = new ManualClock();
  const listeners = new Set<() => void>();
  const activity = {
    isActive: true,
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const set = async (isActive: boolean) => {
    activity.isActive = isActive;
    for (const listener of listeners) listener();
    await clock.advance(0);
  };
  const subject = new Poller(look, 1_000, activity, clock);
  return { clock, subject, set, listeners };
}

describe('a poller', () => {
  test('keeps the pace while polls find something new', async () => {
    let looks = 0;
    const { clock, subject } = poller(async () => ++looks > 0);
    subject.start();
    await clock.advance(10_000);
    expect(looks).toBe(10);
  });

  test('slows down to at most thirty seconds without news, and is back at its pace with the next', async () => {
    const at: number[] = [];
    let news = false;
    const { clock, subject } = poller(async () => {
      at.push(clock.now());
      return news;
    });
    subject.start();
    await clock.advance(600_000);
    const gaps = at.slice(1).map((time, i) => time - at[i]!);
    expect(gaps[0]).toBe(1_500);
    expect(Math.max(...gaps)).toBe(30_000);
    news = true;
    await clock.advance(30_000);
    at.length = 0;
    await clock.advance(5_000);
    expect(at).toHaveLength(5);
  });

  test('waits longer while polls fail, and goes on', async () => {
    let looks = 0;
    const { clock, subject } = poller(() => {
      looks++;
      return Promise.reject(new Error('offline'));
    });
    subject.start();
    await clock.advance(7_000);
    expect(looks).toBe(3);
    await clock.advance(600_000);
    expect(looks).toBeLessThan(20);
    expect(looks).toBeGreaterThan(10);
  });

  test('stops while inactive, and polls at once when active again', async () => {
    let looks = 0;
    const { clock, subject, set } = poller(async () => ++looks > 0);
    subject.start();
    await clock.advance(2_000);
    await set(false);
    await clock.advance(100_000);
    expect(looks).toBe(2);
    expect(clock.timers.size).toBe(0);
    await set(true);
    expect(looks).toBe(3);
  });

  test('does not go on if it became inactive during a poll', async () => {
    let looks = 0;
    const { clock, subject, set } = poller(async () => {
      if (++looks === 2) await set(false);
      return true;
    });
    subject.start();
    await clock.advance(60_000);
    expect(looks).toBe(2);
    expect(clock.timers.size).toBe(0);
  });

  test('leaves no timer or listener when it is stopped', async () => {
    const { clock, subject, listeners } = poller(async () => true);
    subject.start();
    await clock.advance(3_000);
    subject.stop();
    expect(clock.timers.size).toBe(0);
    expect(listeners.size).toBe(0);
  });
});
