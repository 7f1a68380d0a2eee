import { GasPath } from '../interpreter/gas-path.js';
import type { TransactionOutcome } from '../transactions/transaction-message.js';
import type { RunWithGas } from './gas-search.js';

/** Runs the transaction with this gas limit, and reports to the path if there is one. */
export type ReportingRun = (gasLimit: bigint, path: GasPath | undefined) => Promise<TransactionOutcome>;

/**
 * Runs a transaction for a search, but skips runs whose success is proved. `GasPath` shows down to which limit a
 * successful run would have gone the same way; runs between the two limits have the same outcome. Everything else is
 * executed, failures always.
 */
export class ProvedRuns {
  /** Number of runs that were executed. */
  executed = 0;
  private proof: { readonly from: bigint; readonly to: bigint; readonly outcome: TransactionOutcome } | undefined;

  /** @param mayWatch - whether a `GasPath` may watch a run */
  constructor(
    private readonly execute: ReportingRun,
    private mayWatch: boolean,
  ) {}

  readonly run: RunWithGas = async (gasLimit) => {
    const { proof } = this;
    if (proof !== undefined && proof.from <= gasLimit && gasLimit <= proof.to) return proof.outcome;
    const path = this.mayWatch ? new GasPath() : undefined;
    this.executed++;
    const outcome = await this.execute(gasLimit, path);
    if (path !== undefined && outcome.succeeded) this.proveBelow(gasLimit, path, outcome);
    return outcome;
  };

  /** Only the first successful run is used: it has the largest limit of the search. */
  private proveBelow(gasLimit: bigint, { spareGas }: GasPath, outcome: TransactionOutcome): void {
    this.mayWatch = false;
    if (spareGas === undefined) return;
    // The limit must also cover the data floor of EIP-7623.
    const floor = outcome.gasUsedBeforeRefund;
    const least = gasLimit - spareGas;
    this.proof = { from: least > floor ? least : floor, to: gasLimit, outcome };
  }
}
