import { GasPath } from '../interpreter/gas-path.js';
import type { TransactionOutcome } from '../transactions/transaction-message.js';
import type { RunWithGas } from './gas-search.js';

/** Runs the transaction with this gas limit, and has the path report where one is given. */
export type ReportingRun = (gasLimit: bigint, path: GasPath | undefined) => Promise<TransactionOutcome>;

/**
 * Runs for a search, without those whose success is proved: where one run went a way that no smaller limit down to a
 * known one changes, the runs between the two come out as it did. Whatever is not proved is executed, failures always.
 */
export class ProvedRuns {
  /** Runs that were executed. */
  executed = 0;
  private proof: { readonly from: bigint; readonly to: bigint; readonly outcome: TransactionOutcome } | undefined;

  /** @param watched - whether a path may be asked for */
  constructor(
    private readonly execute: ReportingRun,
    private watched: boolean,
  ) {}

  readonly run: RunWithGas = async (gasLimit) => {
    const { proof } = this;
    if (proof !== undefined && proof.from <= gasLimit && gasLimit <= proof.to) return proof.outcome;
    const path = this.watched ? new GasPath() : undefined;
    this.executed++;
    const outcome = await this.execute(gasLimit, path);
    if (path !== undefined && outcome.succeeded) this.settle(gasLimit, path, outcome);
    return outcome;
  };

  /** Only the first run that succeeds is asked: it has the largest limit of the searches that this is for. */
  private settle(gasLimit: bigint, { spare }: GasPath, outcome: TransactionOutcome): void {
    this.watched = false;
    if (spare === undefined) return;
    // The data floor of EIP-7623 has to be there too, and is part of this.
    const floor = outcome.gasUsedBeforeRefund;
    const least = gasLimit - spare;
    this.proof = { from: least > floor ? least : floor, to: gasLimit, outcome };
  }
}
