import type { Clock } from '../../src/scheduling/clock.js';

/** Time of the system, and what was added to it. */
export class ShiftedClock implements Clock {
  private added = 0;

  now(): number {
    return Date.now() + this.added;
  }

  advance(ms: number): void {
    this.added += ms;
  }

  setTimer(action: () => void, delayMs: number): unknown {
    return setTimeout(action, delayMs);
  }

  clearTimer(timer: unknown): void {
    clearTimeout(timer as ReturnType<typeof setTimeout>);
  }
}
