import type { TrustLevel } from '../../chain/block.js';
import type { GasSearch } from '../../networks/gas-searches.js';
import type { Hex } from '../../primitives/hex.js';

/** Options of an explained estimate, beside the parameters of `linea_estimateGas`. */
export interface ExplainOptions {
  /** Search for this estimate, instead of the node's. */
  readonly gasSearch?: GasSearch;
}

/** An estimate and how it was computed; amounts are quantities in wei, gas in units of gas. */
export interface ExplainedEstimate {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
  readonly evidence: {
    readonly gas: {
      readonly search: GasSearch;
      /** Limits the search tried. */
      readonly runs: number;
      /** Executions that this needed: for some limits another run already proves the outcome. */
      readonly executed: number;
      /** Every limit that was tried, in order. */
      readonly probes: readonly { readonly gasLimit: Hex; readonly succeeded: boolean }[];
      /** Gas used with the answer as limit. */
      readonly gasUsed: Hex;
      readonly gasUsedBeforeRefund: Hex;
      /** The two kinds of gas that a block counts, from Amsterdam on (EIP-8037); before it all is execution gas. */
      readonly executionGas: Hex;
      /** Gas for new accounts, slots and code. */
      readonly stateGas: Hex;
    };
    /** Number of the block after which it was executed. */
    readonly block: number;
    /** `held`: executed on the node's own chain; otherwise the trust level of a light node. */
    readonly trust: TrustLevel;
    /** Which bytes were sized: those of the unsigned transaction, or, in the older form, of the signed one. */
    readonly sizing: 'current' | 'signed';
    readonly transactionBytes: number;
    readonly compressedTxSize: number;
    /** If it is not the network's own, the size is an approximation, and `reason` says why another one was used. */
    readonly dictionary: { readonly name: string; readonly networkOwn: boolean; readonly reason?: string };
    readonly pricingModel: 'extra-data' | 'verification-cost';
    readonly prices: { readonly fixedCostWei: Hex; readonly variableCostWei: Hex; readonly minGasPriceWei: Hex };
    /** Null while the defaults of the network profile apply. */
    readonly pricesFromBlock: number | null;
    readonly margin: number;
    /** False if the base fee is not that of the network profile. */
    readonly baseFeeIsConstant: boolean;
    /** Base fee plus priority fee, without a reserve for a higher base fee (docs/spec/fees.md 1). */
    readonly maxFeePerGas: Hex;
    /** Highest cost of the transaction without its value: gas limit times `maxFeePerGas`. */
    readonly totalFee: Hex;
    /** Limits of the prover: those that were counted and kept, and those that cannot be counted here. */
    readonly limits: {
      readonly checked: readonly { readonly module: string; readonly count: number; readonly limit: number }[];
      readonly unchecked: readonly string[];
    };
  };
}

/** The parameters of `explainEstimate`, followed by the options. */
export function explainParams(params: readonly unknown[], options: ExplainOptions): readonly unknown[] {
  if (options.gasSearch === undefined) return params;
  const [call, second = null, third = null] = params;
  return [call, second, third, { gasSearch: options.gasSearch }];
}
