import type { EstimateEvidence } from '../estimate/evidence.js';
import type { Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { RpcContext } from './context.js';
import { createMethodTable, type Method, type MethodTable } from './method.js';
import { formatEstimate, readEstimateRequest } from './methods/linea_estimateGas.js';
import { optional, requireObject } from './parse-params.js';
import { invalidParams } from './rpc-errors.js';

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
    readonly trust: EstimateEvidence['trust'];
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
    /** What a wallet offers: base fee and priority fee. */
    readonly maxFeePerGas: Hex;
    /** What the transaction costs at most, its value apart. */
    readonly totalFee: Hex;
    /** Limits of the prover: those that were counted and hold, and those that cannot be counted here. */
    readonly limits: {
      readonly checked: readonly { readonly module: string; readonly count: number; readonly limit: number }[];
      readonly unchecked: readonly string[];
    };
  };
}

function formatEvidence(evidence: EstimateEvidence): ExplainedEstimate['evidence'] {
  const { gas, prices, pricesFromBlock, maxFeePerGas, totalFee, ...rest } = evidence;
  return {
    ...rest,
    gas: {
      search: gas.search,
      runs: gas.runs,
      executed: gas.executed,
      probes: gas.probes.map(({ gasLimit, succeeded }) => ({ gasLimit: toQuantity(gasLimit), succeeded })),
      gasUsed: toQuantity(gas.gasUsed),
      gasUsedBeforeRefund: toQuantity(gas.gasUsedBeforeRefund),
    },
    prices: {
      fixedCostWei: toQuantity(prices.fixedCostWei),
      variableCostWei: toQuantity(prices.variableCostWei),
      minGasPriceWei: toQuantity(prices.minGasPriceWei),
    },
    pricesFromBlock: pricesFromBlock ?? null,
    maxFeePerGas: toQuantity(maxFeePerGas),
    totalFee: toQuantity(totalFee),
  };
}

/** Position of the options, after the parameters of `linea_estimateGas`. */
const OPTIONS_AT = 3;
const SEARCHES: readonly unknown[] = ['besu', 'geth', 'exact'];

function parseOptions(value: unknown): ExplainOptions {
  const gasSearch = optional(value, (present) => requireObject(present, 'options', 'params').gasSearch);
  if (gasSearch === undefined || gasSearch === null) return {};
  if (!SEARCHES.includes(gasSearch)) throw invalidParams('options.gasSearch', 'is none of besu, geth, exact');
  return { gasSearch: gasSearch as NonNullable<ExplainOptions['gasSearch']> };
}

const explainEstimate: Method<RpcContext> = {
  name: 'explainEstimate',
  async handle(context, params, options): Promise<ExplainedEstimate> {
    const { gasSearch: search } = parseOptions(params[OPTIONS_AT]);
    const request = await readEstimateRequest(context, params, options);
    const estimate = await context.estimator.fees({ ...request, search });
    return { ...formatEstimate(estimate), evidence: formatEvidence(estimate.evidence) };
  },
};

/** What the library offers beside JSON-RPC: never reachable over HTTP. */
export function inspectTable(): MethodTable<RpcContext> {
  return createMethodTable([explainEstimate]);
}

/** The parameters of `explainEstimate` with options behind them. */
export function explainParams(params: readonly unknown[], options: ExplainOptions): readonly unknown[] {
  if (options.gasSearch === undefined) return params;
  const [call, second = null, third = null] = params;
  return [call, second, third, { gasSearch: options.gasSearch }];
}
