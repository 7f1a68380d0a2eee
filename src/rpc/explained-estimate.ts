import type { TrustLevel } from '../chain/chain.js';
import type { Hex } from '../primitives/hex.js';

/** What an explained estimate is asked for beside the parameters of `linea_estimateGas`. */
export interface ExplainOptions {
  /** Search for this estimate, instead of the node's. */
  readonly gasSearch?: 'besu' | 'geth' | 'exact';
}

/** An estimate with the way it came about; amounts are quantities in wei, gas in units of gas. */
export interface ExplainedEstimate {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
  readonly evidence: {
    readonly gas: {
      readonly search: 'besu' | 'geth' | 'exact';
      /** Limits the search tried. */
      readonly runs: number;
      /** Executions that took: of some limits the outcome is proved by a run with another. */
      readonly executed: number;
      /** Every limit that was tried, in order. */
      readonly probes: readonly { readonly gasLimit: Hex; readonly succeeded: boolean }[];
      /** Charged with the answer as limit. */
      readonly gasUsed: Hex;
      readonly gasUsedBeforeRefund: Hex;
    };
    /** Number of the block after which it was executed. */
    readonly block: number;
    /** `held`: executed on a chain of one's own; else what a light node could make sure of. */
    readonly trust: TrustLevel;
    /** Which bytes were sized: of the transaction to be signed, or in the older form of the signed one. */
    readonly sizing: 'current' | 'signed';
    readonly transactionBytes: number;
    readonly compressedTxSize: number;
    /** When it is not the network's own the size is an approximation, and `reason` says why another stood in. */
    readonly dictionary: { readonly name: string; readonly networkOwn: boolean; readonly reason?: string };
    readonly pricingModel: 'extra-data' | 'verification-cost';
    readonly prices: { readonly fixedCostWei: Hex; readonly variableCostWei: Hex; readonly minGasPriceWei: Hex };
    /** Null while the profile's defaults hold. */
    readonly pricesFromBlock: number | null;
    readonly margin: number;
    /** False when the base fee is not the one the network profile names. */
    readonly baseFeeIsConstant: boolean;
    /** What a wallet offers: base fee plus priority fee, no head room on top (docs/spec/fees.md 1). */
    readonly maxFeePerGas: Hex;
    /** What the transaction costs at most, its value apart: gas limit times `maxFeePerGas`. */
    readonly totalFee: Hex;
    /** Limits of the prover: those that were counted and hold, and those that cannot be counted here. */
    readonly limits: {
      readonly checked: readonly { readonly module: string; readonly count: number; readonly limit: number }[];
      readonly unchecked: readonly string[];
    };
  };
}

/** The parameters of `explainEstimate` with options behind them. */
export function explainParams(params: readonly unknown[], options: ExplainOptions): readonly unknown[] {
  if (options.gasSearch === undefined) return params;
  const [call, second = null, third = null] = params;
  return [call, second, third, { gasSearch: options.gasSearch }];
}
