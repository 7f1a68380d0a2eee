import { isPlumblineError, PlumblineError } from '../../errors.js';
import { callFailureOf } from '../calls/revert-reason.js';
import type { ModuleCounts } from '../interpreter/counters.js';
import { TRANSACTION_GAS } from '../transactions/gas-schedule.js';
import type { TransactionOutcome } from '../transactions/transaction-message.js';

/** Which search: the one of Besu, the one of geth, or the smallest limit that succeeds. */
export type GasSearch = 'besu' | 'geth' | 'exact';

/** A gas limit with which the transaction succeeded, and how that run came out. */
export interface GasEstimate {
  readonly gasLimit: bigint;
  /** Gas limits it tried. */
  readonly runs: number;
  /** Executions it took: fewer where the success of some was proved without one. */
  readonly executed: number;
  /** Charged, with this limit. */
  readonly gasUsed: bigint;
  readonly gasUsedBeforeRefund: bigint;
  readonly search: GasSearch;
  /** Every limit that was tried, in order, and whether the transaction succeeded with it. */
  readonly probes: readonly GasProbe[];
  /** What the prover counts of the run with this limit, where runs count. */
  readonly counts?: ModuleCounts;
  /** Events of that run. */
  readonly logs: TransactionOutcome['logs'];
}

/** One gas limit of a search. */
export interface GasProbe {
  readonly gasLimit: bigint;
  readonly succeeded: boolean;
}

/** Runs the transaction once, with this gas limit, on a state that is the same each time. */
export type RunWithGas = (gasLimit: bigint) => Promise<TransactionOutcome>;

/** What bounds a search for a gas limit. */
export interface SearchInput {
  /** Largest limit to try. */
  readonly ceiling: bigint;
  /** Whether 21 000 may be tried first: the two nodes have different rules for it. */
  readonly plain: boolean;
}

/** The limit is good enough when the interval is smaller than this part of it. */
const TOLERANCE = 0.015;
/** What a call with value hands on for free; the searches allow for it. */
const CALL_STIPEND = 2_300n;
/** A call keeps one 64th of the gas to itself (EIP-150). */
const CALL_RESERVE = 64 / 63;

/**
 * The search of Besu.
 *
 * @throws PlumblineError `EXECUTION_REVERTED`, `EXECUTION_FAILED` when the run at the ceiling does not succeed
 * @source docs/spec/fees.md 5.2
 */
export async function besuSearch(run: RunWithGas, { ceiling, plain }: SearchInput): Promise<GasEstimate> {
  const probe = new Probe(run, 'besu');
  if (plain && (await probe.succeeds(TRANSACTION_GAS))) return probe.answer();
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
  return probe.answer();
}

/**
 * The search of geth.
 *
 * @throws PlumblineError `GAS_ALLOWANCE_EXCEEDED` when the gas does not last at the ceiling, `EXECUTION_REVERTED`,
 *   `EXECUTION_FAILED`
 * @source docs/spec/fees.md 5.3
 */
export function gethSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  return narrowingSearch(new Probe(run, 'geth'), input, isClose);
}

/**
 * The smallest limit that succeeds, as far as halving an interval can find it: with one gas less the transaction fails,
 * which is proved by a run. Code that goes on when a call it makes runs out of gas succeeds with less than its whole
 * work takes.
 *
 * @throws PlumblineError `EXECUTION_REVERTED`, `EXECUTION_FAILED`
 */
export async function exactSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  const probe = new Probe(run, 'exact');
  let { gasLimit: high } = await narrowingSearch(probe, input, () => false);
  // So far nothing below the gas that the first run used was tried: who looks at the gas left may succeed with less.
  if (high === TRANSACTION_GAS || probe.hasFailed(high - 1n) || !(await probe.succeeds(high - 1n)))
    return probe.answer();
  let low = TRANSACTION_GAS - 1n;
  high -= 1n;
  while (low + 1n < high) {
    const middle = (low + high) / 2n;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.answer();
}

async function narrowingSearch(
  probe: Probe,
  { ceiling, plain }: SearchInput,
  closeEnough: (low: bigint, high: bigint) => boolean,
): Promise<GasEstimate> {
  if (plain && (await probe.succeeds(TRANSACTION_GAS))) return probe.answer();
  const first = await probe.runAtCeiling(ceiling);
  let low = first.gasUsed - 1n;
  let high = ceiling;
  const optimistic = ((first.gasUsedBeforeRefund + CALL_STIPEND) * 64n) / 63n;
  if (optimistic < high) {
    if (await probe.succeeds(optimistic)) high = optimistic;
    else low = optimistic;
  }
  while (low + 1n < high && !closeEnough(low, high)) {
    let middle = low + (high - low) / 2n;
    // Most transactions need little more than they use: do not look far above.
    if (middle > 2n * low) middle = 2n * low;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.answer();
}

function isClose(low: bigint, high: bigint): boolean {
  return Number(high - low) / Number(high) < TOLERANCE;
}

/** Runs the transaction and remembers the last limit that succeeded, which is what every search answers. */
class Probe {
  private readonly probes: GasProbe[] = [];
  private best: { gasLimit: bigint; outcome: TransactionOutcome } | undefined;

  constructor(
    private readonly run: RunWithGas,
    private readonly search: GasSearch,
  ) {}

  /** Whether a run with this limit did not succeed. */
  hasFailed(gasLimit: bigint): boolean {
    return this.probes.some((probe) => !probe.succeeded && probe.gasLimit === gasLimit);
  }

  /** A limit that the transaction may not even run with is one that does not succeed. */
  async succeeds(gasLimit: bigint): Promise<boolean> {
    try {
      return (await this.attempt(gasLimit)).succeeded;
    } catch (error) {
      if (isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS'))
        return false;
      throw error;
    }
  }

  /** The run that has to succeed for the search to go on. */
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

  answer(): GasEstimate {
    const { gasLimit, outcome } = this.best!;
    const { gasUsed, gasUsedBeforeRefund, counts, logs } = outcome;
    const { search, probes } = this;
    const found = {
      gasLimit,
      runs: probes.length,
      executed: probes.length,
      gasUsed,
      gasUsedBeforeRefund,
      search,
      probes,
      logs,
    };
    return counts === undefined ? found : { ...found, counts };
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
