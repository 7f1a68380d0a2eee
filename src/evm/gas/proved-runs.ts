import type { TransactionOutcome } from '../transactions/transaction-message.js';
import type { RunWithGas } from './gas-search.js';

/**
 * Runs a transaction for a search, but skips runs whose success is proved. `spareGas` tells down to which limit a
 * successful run would have gone the same way; runs between the two limits have the same outcome. Everything else is
 * executed, failures always.
 */
export class ProvedRuns {
  /** Number of runs that were executed. */
  executed = 0;
  private proof: { readonly from: bigint; readonly to: bigint; readonly outcome: TransactionOutcome } | undefined;

  /** @param mayProve - whether `spareGas` holds for the transaction */
  constructor(
    private readonly execute: RunWithGas,
    private mayProve: boolean,
  ) {}

  readonly run: RunWithGas = async (gasLimit) => {
    const { proof } = this;
    if (proof !== undefined && proof.from <= gasLimit && gasLimit <= proof.to) return proof.outcome;
    this.executed++;
    const outcome = await this.execute(gasLimit);
    if (this.mayProve && outcome.succeeded) this.proveBelow(gasLimit, outcome);
    return outcome;
  };

  /** Only the first successful run is used: it has the largest limit of the search. */
  private proveBelow(gasLimit: bigint, outcome: TransactionOutcome): void {
    this.mayProve = false;
    const { spareGas } = outcome;
    if (spareGas === undefined) return;
    // The limit must also cover the data floor of EIP-7623.
    const floor = outcome.gasUsedBeforeRefund;
    const least = gasLimit - spareGas;
    this.proof = { from: least > floor ? least : floor, to: gasLimit, outcome };
  }
}
