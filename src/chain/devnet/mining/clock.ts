import { invalidParameter } from '../../../errors.js';

/** State of a clock, for a snapshot. Times in seconds. */
export interface ClockSnapshot {
  readonly offset: number;
  readonly exact: number | undefined;
  readonly step: number | undefined;
}

/** Chooses the time of the next block: the wall clock's, as adjusted by developers. Times in seconds. */
export class BlockClock {
  private offset = 0;
  private exact: number | undefined;
  private step: number | undefined;

  constructor(private readonly wall: () => number) {}

  /** Time of the next block; always after `parent`, the time of its parent. */
  next(parent: number): number {
    const wanted = this.exact ?? (this.step === undefined ? this.wall() + this.offset : parent + this.step);
    return Math.max(wanted, parent + 1);
  }

  /** The time set for the next block; undefined if none is set. */
  get planned(): number | undefined {
    return this.exact;
  }

  /** Called after a block was made. A time that was set applies once; the clock continues from it. */
  passed(timestamp: number): void {
    if (this.exact === undefined) return;
    this.exact = undefined;
    this.offset = timestamp - this.wall();
  }

  /**
   * Advances the clock from now or from the newest block, whichever is later.
   *
   * @param parent - time of the newest block
   * @returns seconds that the clock is now ahead of the wall clock
   */
  increase(seconds: number, parent: number): number {
    const from = Math.max(this.wall() + this.offset, parent);
    this.offset = from + seconds - this.wall();
    return this.offset;
  }

  /** Sets the time of the next block. @throws PlumblineError `INVALID_PARAMETER` unless it is after `parent` */
  setNext(timestamp: number, parent: number): void {
    if (timestamp <= parent) {
      throw invalidParameter('timestamp', `${timestamp} must be after ${parent}, the time of the newest block`);
    }
    this.exact = timestamp;
  }

  /** Sets the time between each block and the next; undefined returns to the clock. */
  setStep(seconds: number | undefined): void {
    this.step = seconds;
  }

  snapshot(): ClockSnapshot {
    return { offset: this.offset, exact: this.exact, step: this.step };
  }

  restore({ offset, exact, step }: ClockSnapshot): void {
    this.offset = offset;
    this.exact = exact;
    this.step = step;
  }
}
