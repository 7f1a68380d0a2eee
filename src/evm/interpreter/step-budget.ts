import { PlumblineError } from '../../errors.js';

/** Limits of all executions of one request. */
export interface StepLimits {
  /**
   * Maximum number of steps of all runs of the request; unlimited if left out. A step is a jump destination or a call:
   * every loop contains one of them.
   */
  readonly stepBudget?: number | undefined;
  /** Aborts the request; checked every thousand steps. */
  readonly signal?: AbortSignal | undefined;
}

/** Steps between two checks of clock and signal. */
const STEPS_PER_CHECK = 1024;
/** After this time without a pause the thread is yielded: to other requests, the deadline, an abort. */
const SLICE_MS = 20;

/** Counts the steps of one request, enforces its limits, and yields the thread. */
export class StepBudget {
  private taken = 0;
  /** The step of the next check. */
  private nextCheck: number;
  private sliceBegan = Date.now();

  constructor(private readonly limits: StepLimits = {}) {
    this.nextCheck = this.nextCheckAfter();
  }

  /**
   * Counts one step.
   *
   * @returns a promise to await before going on, if any
   * @throws PlumblineError `STEP_BUDGET_EXCEEDED`, `ABORTED`
   */
  step(): Promise<void> | undefined {
    return ++this.taken < this.nextCheck ? undefined : this.check();
  }

  /** @throws PlumblineError `ABORTED` */
  throwIfAborted(): void {
    const { signal } = this.limits;
    if (signal?.aborted) throw new PlumblineError('ABORTED', 'aborted', {}, { cause: signal.reason });
  }

  private nextCheckAfter(): number {
    return Math.min(this.taken + STEPS_PER_CHECK, (this.limits.stepBudget ?? Number.POSITIVE_INFINITY) + 1);
  }

  private check(): Promise<void> | undefined {
    const { stepBudget: budget } = this.limits;
    if (budget !== undefined && this.taken > budget) {
      throw new PlumblineError(
        'STEP_BUDGET_EXCEEDED',
        `more than ${budget} steps; allow more with stepBudget, or ask for less`,
        { budget },
      );
    }
    this.nextCheck = this.nextCheckAfter();
    this.throwIfAborted();
    if (Date.now() - this.sliceBegan < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setTimeout(() => {
        this.sliceBegan = Date.now();
        resolve();
      }, 0);
    });
  }
}
