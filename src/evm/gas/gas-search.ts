import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { GasSearch } from '../../networks/gas-searches.js';
import { callFailureOf } from '../calls/revert-reason.js';
import type { ModuleCounts } from '../interpreter/counters.js';
import { TRANSACTION_GAS } from '../transactions/gas-schedule.js';
import type { TransactionOutcome } from '../transactions/transaction-message.js';

/** A gas limit with which the transaction succeeds, and the outcome of that run. */
export interface GasEstimate {
  readonly gasLimit: bigint;
  /** Number of gas limits tried. */
  readonly runs: number;
  /** Number of executions. Fewer than `runs` if the success of some was proved without one. */
  readonly executed: number;
  /** Charged with this limit. */
  readonly gasUsed: bigint;
  readonly gasUsedBeforeRefund: bigint;
  readonly search: GasSearch;
  /** Every limit that was tried, in order, with its result. */
  readonly probes: readonly GasProbe[];
  /** Module lines of the run with this limit, if counted. */
  readonly counts?: ModuleCounts | undefined;
  /** Logs of that run. */
  readonly logs: TransactionOutcome['logs'];
}

/** One gas limit that a search tried. */
export interface GasProbe {
  readonly gasLimit: bigint;
  readonly succeeded: boolean;
}

/** Runs the transaction once with this gas limit, always on the same state. */
export type RunWithGas = (gasLimit: bigint) => Promise<TransactionOutcome>;

/** Bounds of a gas search. */
export interface SearchInput {
  /** Largest limit to try. */
  readonly ceiling: bigint;
  /** Whether to try 21 000 first. Besu and geth have different rules for it. */
  readonly plain: boolean;
}

/** The search ends when the interval is smaller than this share of the limit. */
const TOLERANCE = 0.015;
/** Free gas in a call with value. The searches allow for it. */
const CALL_STIPEND = 2_300n;
/** A call keeps one 64th of the gas (EIP-150). */
const CALL_RESERVE = 64 / 63;

/**
 * Besu's search.
 *
 * @throws PlumblineError `EXECUTION_REVERTED`, `EXECUTION_FAILED` when the run at the ceiling fails
 * @source docs/spec/fees.md 5.2
 */
export async function besuSearch(run: RunWithGas, { ceiling, plain }: SearchInput): Promise<GasEstimate> {
  const probe = new Probe(run, 'besu');
  if (plain && (await probe.succeeds(TRANSACTION_GAS))) return probe.result();
  const first = await probe.runAtCeiling(ceiling);
  let low = first.gasUsedBeforeRefund - 1n;
  let high = ceiling;
  const optimistic = BigInt(Math.trunc(Number(first.gasUsedBeforeRefund + CALL_STIPEND) * CALL_RESERVE));
  if (await probe.succeeds(optimistic)) high = optimistic;
  else low = optimistic;
  while (low + 1n < high && !isClose(low, high)) {
    const middle = (low + high) / 2n;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.result();
}

/**
 * geth's search.
 *
 * @throws PlumblineError `GAS_ALLOWANCE_EXCEEDED` when the run at the ceiling is out of gas, `EXECUTION_REVERTED`,
 *   `EXECUTION_FAILED`
 * @source docs/spec/fees.md 5.3
 */
export function gethSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  return narrowingSearch(new Probe(run, 'geth'), input, isClose);
}

/**
 * The smallest limit that succeeds, as far as bisection can find it: a run proves that one gas less fails. Code that
 * continues after an inner call ran out of gas may succeed with less than all its work needs.
 *
 * @throws PlumblineError `EXECUTION_REVERTED`, `EXECUTION_FAILED`
 */
export async function exactSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  const probe = new Probe(run, 'exact');
  let { gasLimit: high } = await narrowingSearch(probe, input, () => false);
  // Limits below the gas used by the first run have not been tried yet. Code that reads the gas left may succeed with
  // less.
  if (high === TRANSACTION_GAS || probe.hasFailed(high - 1n) || !(await probe.succeeds(high - 1n)))
    return probe.result();
  let low = TRANSACTION_GAS - 1n;
  high -= 1n;
  while (low + 1n < high) {
    const middle = (low + high) / 2n;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.result();
}

async function narrowingSearch(
  probe: Probe,
  { ceiling, plain }: SearchInput,
  isCloseEnough: (low: bigint, high: bigint) => boolean,
): Promise<GasEstimate> {
  if (plain && (await probe.succeeds(TRANSACTION_GAS))) return probe.result();
  const first = await probe.runAtCeiling(ceiling);
  let low = first.gasUsed - 1n;
  let high = ceiling;
  const optimistic = ((first.gasUsedBeforeRefund + CALL_STIPEND) * 64n) / 63n;
  if (optimistic < high) {
    if (await probe.succeeds(optimistic)) high = optimistic;
    else low = optimistic;
  }
  while (low + 1n < high && !isCloseEnough(low, high)) {
    let middle = low + (high - low) / 2n;
    // Most transactions need little more than they use, so limits far above are not tried.
    if (middle > 2n * low) middle = 2n * low;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.result();
}

function isClose(low: bigint, high: bigint): boolean {
  return Number(high - low) / Number(high) < TOLERANCE;
}

/** Runs the transaction and keeps the last limit that succeeded, which is the result of every search. */
class Probe {
  private readonly probes: GasProbe[] = [];
  private best: { gasLimit: bigint; outcome: TransactionOutcome } | undefined;

  constructor(
    private readonly run: RunWithGas,
    private readonly search: GasSearch,
  ) {}

  /** Whether a run with this limit failed. */
  hasFailed(gasLimit: bigint): boolean {
    return this.probes.some((probe) => !probe.succeeded && probe.gasLimit === gasLimit);
  }

  /** A limit with which the transaction is not even admitted counts as a failure. */
  async succeeds(gasLimit: bigint): Promise<boolean> {
    try {
      return (await this.attempt(gasLimit)).succeeded;
    } catch (error) {
      if (isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS'))
        return false;
      throw error;
    }
  }

  /** The first run, which must succeed. */
  async runAtCeiling(ceiling: bigint): Promise<TransactionOutcome> {
    let outcome: TransactionOutcome;
    try {
      outcome = await this.attempt(ceiling);
    } catch (error) {
      const tooLow = isPlumblineError(error, 'TRANSACTION_REJECTED') && error.details.rule === 'intrinsic-gas';
      throw tooLow && this.search === 'geth' ? allowanceExceeded(ceiling) : error;
    }
    if (outcome.succeeded) return outcome;
    throw this.search === 'geth' && outcome.exception === 'out of gas'
      ? allowanceExceeded(ceiling)
      : callFailureOf(outcome);
  }

  result(): GasEstimate {
    const { gasLimit, outcome } = this.best!;
    const { gasUsed, gasUsedBeforeRefund, counts, logs } = outcome;
    const { search, probes } = this;
    return {
      gasLimit,
      runs: probes.length,
      executed: probes.length,
      gasUsed,
      gasUsedBeforeRefund,
      search,
      probes,
      counts,
      logs,
    };
  }

  private async attempt(gasLimit: bigint): Promise<TransactionOutcome> {
    let succeeded = false;
    try {
      const outcome = await this.run(gasLimit);
      succeeded = outcome.succeeded;
      if (succeeded) this.best = { gasLimit, outcome };
      return outcome;
    } finally {
      this.probes.push({ gasLimit, succeeded });
    }
  }
}

function allowanceExceeded(allowance: bigint): PlumblineError<'GAS_ALLOWANCE_EXCEEDED'> {
  const text = `gas required exceeds allowance (${allowance})`;
  return new PlumblineError('GAS_ALLOWANCE_EXCEEDED', text, { allowance });
}
