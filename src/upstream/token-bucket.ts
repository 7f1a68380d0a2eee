import type { Clock } from '../scheduling/clock.js';

/** Rounding error of doubles, in tokens. */
const ROUNDING = 1e-6;

/** A rate limit: calls per second on average, and calls that may be sent at once after a quiet time. */
export class TokenBucket {
  private tokens: number;
  private filledAt: number;

  /**
   * @param ratePerSecond - above zero; Infinity for no limit
   * @param burst - tokens of a full bucket, at least 1
   */
  constructor(
    private readonly ratePerSecond: number,
    private readonly burst: number,
    private readonly clock: Clock,
  ) {
    this.tokens = burst;
    this.filledAt = clock.now();
  }

  /**
   * Milliseconds until `count` calls may be sent. More calls than a full bucket has may be sent when it is full; it then goes
   * below zero.
   */
  waitMs(count: number): number {
    if (this.ratePerSecond === Number.POSITIVE_INFINITY) return 0;
    this.fill();
    const missing = Math.min(count, this.burst) - this.tokens;
    return missing <= ROUNDING ? 0 : Math.ceil((missing / this.ratePerSecond) * 1000);
  }

  /** Takes the tokens of `count` calls. */
  take(count: number): void {
    this.tokens -= count;
  }

  private fill(): void {
    const now = this.clock.now();
    // A clock that was set back neither adds nor removes tokens.
    const elapsed = Math.max(0, now - this.filledAt);
    this.tokens = Math.min(this.burst, this.tokens + (elapsed * this.ratePerSecond) / 1000);
    this.filledAt = now;
  }
}
