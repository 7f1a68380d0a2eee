import type { Clock } from '../../src/scheduling/clock.js';

/** Not that of a test that has fake timers: a clock of another file may still be turning. */
const { setTimeout: later } = globalThis;

interface Timer {
  readonly at: number;
  readonly action: () => void;
}

/**
 * A clock that goes on with the turns of the event loop: a busy machine slows it down as it slows down what is waited for.
 * It stands still while no timer is open, and knows how many are.
 */
export class TurnClock implements Clock {
  private readonly timers = new Map<number, Timer>();
  private next = 1;
  private time = Date.now();
  private turning = false;

  /** @param msPerTurn - a request and its answer on loopback take some twenty turns */
  constructor(private readonly msPerTurn = 10) {}

  get open(): number {
    return this.timers.size;
  }

  now(): number {
    return this.time;
  }

  advance(ms: number): void {
    this.time += ms;
  }

  setTimer(action: () => void, delayMs: number): unknown {
    this.timers.set(this.next, { at: this.time + delayMs, action });
    this.turnLater();
    return this.next++;
  }

  clearTimer(timer: unknown): void {
    this.timers.delete(timer as number);
  }

  private turnLater(): void {
    if (this.turning) return;
    this.turning = true;
    later(() => {
      this.turning = false;
      this.turn();
      if (this.timers.size > 0) this.turnLater();
    });
  }

  private turn(): void {
    this.time += this.msPerTurn;
    const due = [...this.timers].filter(([, { at }]) => at <= this.time).sort(([, a], [, b]) => a.at - b.at);
    for (const [id, { action }] of due) if (this.timers.delete(id)) action();
  }
}
