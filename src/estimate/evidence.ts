import type { TrustLevel } from '../chain/trust-level.js';
import type { GasEstimate } from '../evm/gas.js';
import type { Prices } from '../fees/prices.js';
import type { Network } from '../networks/network.js';
import type { LineCount } from './line-counts.js';

/** The evidence for an estimate. Amounts in wei. */
export interface EstimateEvidence {
  /** The gas search: its name, every limit it tried, gas used with the answer, before and after refunds. */
  readonly gas: GasEstimate;
  /** Number of the block on whose state the call was executed. */
  readonly block: number;
  /** Trust level of the state and the header of that block. */
  readonly trust: TrustLevel;
  /** Which bytes of the transaction were compressed (docs/spec/compression.md 3, 8); `transactionBytes`: their number. */
  readonly sizing: Network['sizing'];
  readonly transactionBytes: number;
  readonly compressedTxSize: number;
  /** `networkOwn` is false when another dictionary was used; `reason` says why. The size is then an approximation. */
  readonly dictionary: { readonly name: string; readonly networkOwn: boolean; readonly reason?: string };
  readonly pricingModel: 'extra-data' | 'verification-cost';
  readonly prices: Prices;
  /** Block whose header set the prices; undefined while the profile's defaults hold. */
  readonly pricesFromBlock: number | undefined;
  /** Factor over cost. */
  readonly margin: number;
  /** Whether the base fee is that of the network profile. If not, it follows from the header. */
  readonly baseFeeIsConstant: boolean;
  /** Base fee plus priority fee, without a reserve on top (docs/spec/fees.md 1). */
  readonly maxFeePerGas: bigint;
  /** Largest fee of the transaction: gas limit times `maxFeePerGas`. Its value is not included. */
  readonly totalFee: bigint;
  /** Limits of the prover. */
  readonly limits: {
    /** Those that were checked. The transaction keeps all of them; otherwise there is no estimate. */
    readonly checked: readonly LineCount[];
    /** Those that cannot be checked here. */
    readonly unchecked: readonly string[];
  };
}
