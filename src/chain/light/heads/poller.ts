import type { Activity } from '../../../scheduling/activity.js';
import type { Clock } from '../../../scheduling/clock.js';

/** Longest wait while nothing changes, and while nothing answers, milliseconds. */
const MAX_IDLE_MS = 30_000;
const MAX_FAILING_MS = 60_000;
/** Each look that finds nothing new makes the next one later by this factor. */
const SLOWER = 1.5;

/**
 * Looks again and again: at the pace of the chain while it moves, more slowly while it stands still or nobody answers,
 * never while nobody is there.
 */
export class Poller {
  private timer: unknown;
  private running = false;
  private looking = false;
  private waitMs: number;
  private stopListening: (() => void) | undefined;

  /**
   * @param look - returns whether it found something new
   * @param paceMs - between looks that do
   */
  constructor(
    private readonly look: () => Promise<boolean>,
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
    if (this.looking || !this.running) return;
    this.looking = true;
    try {
      this.waitMs = (await this.look()) ? this.paceMs : Math.min(MAX_IDLE_MS, this.waitMs * SLOWER);
    } catch {
      // Whoever asks next gets the error; here it is only a reason to wait.
      this.waitMs = Math.min(MAX_FAILING_MS, this.waitMs * 2);
    }
    this.looking = false;
    this.wait(this.waitMs);
  }
}
