import { PlumblineError } from '../../errors.js';

/** What bounds the executions of one request. */
export interface StepLimits {
  /**
   * Steps all runs of the request may take together; no limit when left out. A step is a jump destination that is passed,
   * or a call: no loop goes round without one of them.
   */
  readonly stepBudget?: number | undefined;
  /** Ends the request; looked at every thousand steps. */
  readonly signal?: AbortSignal | undefined;
}

/** Steps between two looks at the clock and the signal. */
const STEPS_PER_LOOK = 1024;
/** After this time in one go the thread is lent to others: other requests, the deadline, an abort. */
const SLICE_MS = 20;

/** Counts the steps of one request, ends it where it has to, and lets others work in between. */
export class StepBudget {
  private taken = 0;
  /** The step at which there is something to look at. */
  private next: number;
  private sliceBegan = Date.now();

  constructor(private readonly limits: StepLimits = {}) {
    this.next = this.nextLook();
  }

  /**
   * Counts one step.
   *
   * @returns what to wait for before going on, if anything
   * @throws PlumblineError `STEP_BUDGET_EXCEEDED`, `ABORTED`
   */
  step(): Promise<void> | undefined {
    return ++this.taken < this.next ? undefined : this.look();
  }

  /** @throws PlumblineError `ABORTED` */
  throwIfAborted(): void {
    const { signal } = this.limits;
    if (signal?.aborted) throw new PlumblineError('ABORTED', 'aborted', {}, { cause: signal.reason });
  }

  private nextLook(): number {
    return Math.min(this.taken + STEPS_PER_LOOK, (this.limits.stepBudget ?? Number.POSITIVE_INFINITY) + 1);
  }

  private look(): Promise<void> | undefined {
    const { stepBudget: budget } = this.limits;
    if (budget !== undefined && this.taken > budget) {
      throw new PlumblineError('STEP_BUDGET_EXCEEDED', `more than ${budget} steps`, { budget });
    }
    this.next = this.nextLook();
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
