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

  /**
   * Time of the next block; always after `parent`, the time of its parent.
   *
   * @throws PlumblineError `INVALID_PARAMETER` above 2^53 - 1: no block can be made any more
   */
  next(parent: number): number {
    const wanted = this.exact ?? (this.step === undefined ? this.wall() + this.offset : parent + this.step);
    return checkedTime('timestamp', Math.max(wanted, parent + 1));
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
   * @throws PlumblineError `INVALID_PARAMETER` for a time above 2^53 - 1
   */
  increase(seconds: number, parent: number): number {
    const from = Math.max(this.wall() + this.offset, parent);
    this.offset = checkedTime('seconds', from + seconds) - this.wall();
    return this.offset;
  }

  /**
   * Sets the clock, which runs on from there.
   *
   * @returns seconds by which the clock went forward; 0 if it did not
   * @throws PlumblineError `INVALID_PARAMETER` for a time above 2^53 - 1
   */
  reset(timestamp: number): number {
    const before = this.wall() + this.offset;
    this.offset = checkedTime('timestamp', timestamp) - this.wall();
    this.exact = undefined;
    return Math.max(0, timestamp - before);
  }

  /** Sets the time of the next block. @throws PlumblineError `INVALID_PARAMETER` unless it is after `parent`, at most 2^53 - 1 */
  setNext(timestamp: number, parent: number): void {
    if (timestamp <= parent) {
      throw invalidParameter('timestamp', `${timestamp} must be after ${parent}, the time of the newest block`);
    }
    this.exact = checkedTime('timestamp', timestamp);
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

/** @throws PlumblineError `INVALID_PARAMETER` for a time that a number does not hold exactly */
function checkedTime(parameter: string, time: number): number {
  if (time <= Number.MAX_SAFE_INTEGER) return time;
  throw invalidParameter(
    parameter,
    'the next block would be later than 2^53 - 1 seconds; revert to an earlier snapshot',
  );
}
