import { PlumblineError } from '../errors.js';
import type { CountedModule } from '../networks/module-limits.js';
import { monotonicMs } from '../scheduling/clock.js';
import { nextTurn } from '../scheduling/turns.js';

/** Gas that is counted against a budget. Plain data: what counts is loaded with the first execution. */
export interface GasCount {
  readonly budget: number;
  spent: number;
  /**
   * Of a connection, whose budget is for a minute: when the current one began, in milliseconds of `monotonicMs`. The next one
   * begins with the first gas after it.
   */
  minuteFrom?: number;
  /** Against which the gas counts too. */
  readonly within?: GasCount | undefined;
}

/** Limits of all executions of one request. */
export interface RunLimits {
  /** Gas of all runs of the request, a batch included; unlimited if left out. */
  readonly gas?: GasCount | undefined;
  /** Most bytes of return data and logs, as JSON, of a run or of all calls of a simulation; unlimited if left out. */
  readonly maxAnswerBytes?: number | undefined;
  /** Aborts the request; checked between two slices of a run. */
  readonly signal?: AbortSignal | undefined;
  /** As `signal.aborted`, where the signal itself is made when it is first read. */
  readonly stopped?: (() => boolean) | undefined;
}

/** Gas of the first slice. Short slices at first let engines replace their first, slow code early. */
const FIRST_SLICE = 50_000;
const LEAST_SLICE = 10_000;
const MOST_SLICE = 50_000_000;
/** A slice should take about this time: instructions that follow may take much longer for their gas. */
const SLICE_MS = 2;

/** Counts the gas of one request, enforces its limits, and yields the thread. */
export class RunBudget {
  private slice = FIRST_SLICE;

  constructor(private readonly limits: RunLimits = {}) {}

  /** Gas of the next slice. */
  get nextSlice(): number {
    let slice = this.slice;
    for (let gas = this.limits.gas; gas !== undefined; gas = gas.within) {
      slice = Math.min(slice, Math.max(0, gas.budget - currentSpent(gas)) + 1);
    }
    return slice;
  }

  /**
   * Counts gas.
   *
   * @throws PlumblineError `GAS_BUDGET_EXCEEDED`
   */
  spend(amount: number): void {
    let exceeded: GasCount | undefined;
    for (let gas = this.limits.gas; gas !== undefined; gas = gas.within) {
      gas.spent = currentSpent(gas) + amount;
      if (gas.spent > gas.budget) exceeded = gas;
    }
    if (exceeded !== undefined) throw budgetExceeded(exceeded);
  }

  /**
   * Checks the size of return data and logs before they are copied.
   *
   * @param bytes - as JSON
   * @throws PlumblineError `ANSWER_TOO_LARGE`
   */
  requireRoom(bytes: number): void {
    const { maxAnswerBytes: limit } = this.limits;
    if (limit === undefined || bytes <= limit) return;
    throw new PlumblineError(
      'ANSWER_TOO_LARGE',
      `more than ${limit} bytes of return data and logs; allow more with maxAnswerBytes, or ask for less`,
      { limit },
    );
  }

  /** Adapts the next slice. @param milliseconds - that a whole slice took */
  measured(milliseconds: number): void {
    if (milliseconds < SLICE_MS / 2) this.slice = Math.min(2 * this.slice, MOST_SLICE);
    else if (milliseconds > 2 * SLICE_MS) {
      this.slice = Math.max(Math.floor((this.slice * SLICE_MS) / milliseconds), LEAST_SLICE);
    }
  }

  /** @throws PlumblineError `ABORTED` */
  throwIfAborted(): void {
    const { limits } = this;
    if (!(limits.stopped === undefined ? limits.signal?.aborted : limits.stopped())) return;
    throw new PlumblineError('ABORTED', 'aborted', {}, { cause: limits.signal?.reason });
  }

  /**
   * To call between two pieces of work.
   *
   * @returns a promise to await before going on, if any; it rejects with `ABORTED`
   * @throws PlumblineError `ABORTED`
   */
  readonly pause = (): Promise<void> | undefined => {
    this.throwIfAborted();
    return nextTurn()?.then(() => this.throwIfAborted());
  };
}

const MINUTE_MS = 60_000;

/** Gas spent, in the current minute of a connection. */
function currentSpent(gas: GasCount): number {
  const now = monotonicMs();
  if (gas.minuteFrom !== undefined && now - gas.minuteFrom >= MINUTE_MS) {
    gas.minuteFrom = now;
    gas.spent = 0;
  }
  return gas.spent;
}

function budgetExceeded({ budget, minuteFrom }: GasCount): PlumblineError<'GAS_BUDGET_EXCEEDED'> {
  if (minuteFrom === undefined) {
    const text = `more than ${budget} gas in all runs of the request; allow more with gasBudget, or ask for less`;
    return new PlumblineError('GAS_BUDGET_EXCEEDED', text, { budget });
  }
  const retryAfterMs = Math.ceil(minuteFrom + MINUTE_MS - monotonicMs());
  const text =
    `more than ${budget} gas in a minute in all requests of the connection; try again in ${retryAfterMs} ms, or allow ` +
    'more with connectionGasBudget';
  return new PlumblineError('GAS_BUDGET_EXCEEDED', text, { budget, retryAfterMs });
}

/** Lines per module of one run. Modules without lines are left out. */
export type ModuleCounts = Readonly<Partial<Record<CountedModule, number>>>;

const KECCAK_BLOCK_BYTES = 136;

/** Number of 1088-bit blocks for this many bytes. */
export function keccakBlocks(bytes: number): number {
  return Math.ceil(bytes / KECCAK_BLOCK_BYTES);
}

/** Counts what one run does. Reverted work counts too: the prover must prove it. */
export class RunCounts {
  private readonly lines: Partial<Record<CountedModule, number>> = {};

  add(module: CountedModule, lines = 1): void {
    if (lines > 0) this.lines[module] = (this.lines[module] ?? 0) + lines;
  }

  /** What was counted until now. */
  read(): ModuleCounts {
    return this.lines;
  }
}
