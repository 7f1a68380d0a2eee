import type { TrustLevel } from '../chain/chain.js';
import type { GasEstimate } from '../evm/gas/gas-search.js';
import type { Prices } from '../fees/prices.js';
import type { Network } from '../networks/network.js';
import type { LineCount } from './line-counts.js';

/** How an estimate came about. Amounts in wei. */
export interface EstimateEvidence {
  /** The search: its name, every limit it tried, gas used with the answer, before and after refunds. */
  readonly gas: GasEstimate;
  /** Number of the block after which it was executed. */
  readonly block: number;
  /** How far the state and the header of that block can be trusted. */
  readonly trust: TrustLevel;
  /** Which bytes of the transaction were sized (docs/spec/compression.md 3, 8), and how many they are. */
  readonly sizing: Network['sizing'];
  readonly transactionBytes: number;
  readonly compressedTxSize: number;
  /** `networkOwn` is false where another had to stand in; `reason` says why. The size is an approximation then. */
  readonly dictionary: { readonly name: string; readonly networkOwn: boolean; readonly reason?: string };
  readonly pricingModel: 'extra-data' | 'verification-cost';
  readonly prices: Prices;
  /** Block whose header set the prices; undefined while the profile's defaults hold. */
  readonly pricesFromBlock: number | undefined;
  /** Factor over cost. */
  readonly margin: number;
  /** Whether the base fee is the one the network profile names. When not, it follows from the header. */
  readonly baseFeeIsConstant: boolean;
  /** What a wallet offers: base fee plus priority fee, no head room on top (docs/spec/fees.md 1). */
  readonly maxFeePerGas: bigint;
  /** What the transaction costs at most, its value apart: gas limit times `maxFeePerGas`. */
  readonly totalFee: bigint;
  /** Limits of the prover. */
  readonly limits: {
    /** Those that were checked: all of them hold, or there is no estimate. */
    readonly checked: readonly LineCount[];
    /** Those that cannot be checked here: whether they hold is not known. */
    readonly unchecked: readonly string[];
  };
}
