import type { Clock } from '../../src/scheduling/clock.js';

/** A clock that a test advances. It knows the timers that are open. */
export interface ManualClock extends Clock {
  /** Timers that are set and have not run. */
  readonly open: number;
  /** Delays of the open timers in milliseconds from now, soonest first. */
  readonly delays: readonly number[];
  /** Moves on and runs what is due, in order, with time for promises after each. */
  advance(ms: number): Promise<void>;
}

export function createManualClock(startMs = 1_800_000_000_000): ManualClock {
  let now = startMs;
  let next = 1;
  const timers = new Map<number, { at: number; action: () => void }>();
  return {
    now: () => now,
    setTimer(action, delayMs) {
      timers.set(next, { at: now + delayMs, action });
      return next++;
    },
    clearTimer(timer) {
      timers.delete(timer as number);
    },
    get open() {
      return timers.size;
    },
    get delays() {
      return [...timers.values()].map(({ at }) => at - now).sort((a, b) => a - b);
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
        if (due === undefined) break;
        const [id, { at, action }] = due;
        timers.delete(id);
        now = Math.max(now, at);
        action();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
