import { invalidParameter } from '../../../errors.js';

/** Where a clock stands, to be put back. Times in seconds. */
export interface BlockClockMark {
  readonly offset: number;
  readonly exact: number | undefined;
  readonly step: number | undefined;
}

/** Which time the next block takes: the wall clock's, moved by developers. Times in seconds. */
export class BlockClock {
  private offset = 0;
  private exact: number | undefined;
  private step: number | undefined;

  constructor(private readonly wall: () => number) {}

  /** Time of the block after one of time `parent`; always later than that. */
  next(parent: number): number {
    const wanted = this.exact ?? (this.step === undefined ? this.wall() + this.offset : parent + this.step);
    return Math.max(wanted, parent + 1);
  }

  /** The time that was set for the next block; undefined when the clock decides. */
  get planned(): number | undefined {
    return this.exact;
  }

  /** A block of this time was made. A time that was set is used up, and the clock goes on from it. */
  passed(timestamp: number): void {
    if (this.exact === undefined) return;
    this.exact = undefined;
    this.offset = timestamp - this.wall();
  }

  /**
   * Moves the clock on, from now or from the newest block, whichever is later.
   *
   * @param parent - time of the newest block
   * @returns how far it is now ahead of the wall clock
   */
  increase(seconds: number, parent: number): number {
    const from = Math.max(this.wall() + this.offset, parent);
    this.offset = from + seconds - this.wall();
    return this.offset;
  }

  /** Sets the time of the next block. @throws PlumblineError `INVALID_PARAMETER` unless it is after `parent` */
  setNext(timestamp: number, parent: number): void {
    if (timestamp <= parent) {
      throw invalidParameter('timestamp', `${timestamp} is not after ${parent}, the time of the newest block`);
    }
    this.exact = timestamp;
  }

  /** From now on each block comes so many seconds after the one before; undefined gives the time back to the clock. */
  setStep(seconds: number | undefined): void {
    this.step = seconds;
  }

  mark(): BlockClockMark {
    return { offset: this.offset, exact: this.exact, step: this.step };
  }

  restore({ offset, exact, step }: BlockClockMark): void {
    this.offset = offset;
    this.exact = exact;
    this.step = step;
  }
}
