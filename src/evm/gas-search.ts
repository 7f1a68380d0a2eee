import { isPlumblineError, PlumblineError } from '../errors.js';
import { TRANSACTION_GAS } from './gas-schedule.js';
import { failureOf } from './revert-reason.js';
import type { TransactionOutcome } from './transaction-message.js';

/** Which search: the one of Besu, the one of geth, or the smallest limit that succeeds. */
export type GasSearch = 'besu' | 'geth' | 'exact';

/** A gas limit with which the transaction succeeded, and how that run came out. */
export interface GasEstimate {
  readonly gasLimit: bigint;
  /** Executions it took. */
  readonly runs: number;
  /** Charged, with this limit. */
  readonly gasUsed: bigint;
  readonly gasUsedBeforeRefund: bigint;
  readonly search: GasSearch;
}

/** Runs the transaction once, with this gas limit, on a state that is the same each time. */
export type RunWithGas = (gasLimit: bigint) => Promise<TransactionOutcome>;

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
 * @source spec/fees.md 5.2
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
 * @source spec/fees.md 5.3
 */
export function gethSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  return narrowingSearch(new Probe(run, 'geth'), input, isClose);
}

/**
 * The smallest limit that succeeds, provided that every larger one does too.
 *
 * @throws PlumblineError `EXECUTION_REVERTED`, `EXECUTION_FAILED`
 */
export function exactSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  return narrowingSearch(new Probe(run, 'exact'), input, () => false);
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
  private runs = 0;
  private best: { gasLimit: bigint; outcome: TransactionOutcome } | undefined;

  constructor(
    private readonly run: RunWithGas,
    private readonly search: GasSearch,
  ) {}

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
      : failureOf(outcome);
  }

  answer(): GasEstimate {
    const { gasLimit, outcome } = this.best!;
    const { gasUsed, gasUsedBeforeRefund } = outcome;
    return { gasLimit, runs: this.runs, gasUsed, gasUsedBeforeRefund, search: this.search };
  }

  private async attempt(gasLimit: bigint): Promise<TransactionOutcome> {
    this.runs++;
    const outcome = await this.run(gasLimit);
    if (outcome.succeeded) this.best = { gasLimit, outcome };
    return outcome;
  }
}

function allowanceExceeded(allowance: bigint): PlumblineError<'GAS_ALLOWANCE_EXCEEDED'> {
  const text = `gas required exceeds allowance (${allowance})`;
  return new PlumblineError('GAS_ALLOWANCE_EXCEEDED', text, { allowance });
}
