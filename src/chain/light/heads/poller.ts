import type { Activity } from '../../../scheduling/activity.js';
import type { Clock } from '../../../scheduling/clock.js';

/** Longest wait while nothing changes, and while reads fail, milliseconds. */
const MAX_IDLE_MS = 30_000;
const MAX_FAILING_MS = 60_000;
/** Each poll that finds nothing new multiplies the wait by this factor. */
const SLOWER = 1.5;

/**
 * Polls repeatedly: at the pace of the chain while there is something new, less often while there is not or polls fail, and
 * not at all while the page is inactive.
 */
export class Poller {
  private timer: unknown;
  private running = false;
  private polling = false;
  private waitMs: number;
  private stopListening: (() => void) | undefined;

  /**
   * @param poll - returns whether it found something new
   * @param paceMs - wait after a poll that found something new
   */
  constructor(
    private readonly poll: () => Promise<boolean>,
    private readonly paceMs: number,
    private readonly activity: Activity,
    private readonly clock: Clock,
  ) {
    this.waitMs = paceMs;
  }

  start(): void {
    if (this.running) return;
    this.running = true;
    this.stopListening = this.activity.onChange(() => this.changed());
    this.wait(this.paceMs);
  }

  stop(): void {
    this.running = false;
    this.stopListening?.();
    this.clock.clearTimer(this.timer);
    this.timer = undefined;
  }

  private changed(): void {
    this.clock.clearTimer(this.timer);
    this.timer = undefined;
    this.waitMs = this.paceMs;
    if (this.activity.isActive) void this.turn();
  }

  private wait(delayMs: number): void {
    if (!this.running || !this.activity.isActive) return;
    this.clock.clearTimer(this.timer);
    this.timer = this.clock.setTimer(() => void this.turn(), delayMs);
  }

  private async turn(): Promise<void> {
    if (this.polling || !this.running) return;
    this.polling = true;
    try {
      this.waitMs = (await this.poll()) ? this.paceMs : Math.min(MAX_IDLE_MS, this.waitMs * SLOWER);
    } catch {
      // The next caller of `poll` gets the error. Here it only makes the wait longer.
      this.waitMs = Math.min(MAX_FAILING_MS, this.waitMs * 2);
    }
    this.polling = false;
    this.wait(this.waitMs);
  }
}
