import type { EstimateEvidence } from '../estimate/estimator.js';
import type { Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { RpcContext } from './context.js';
import { createMethodTable, type Method, type MethodTable } from './method.js';
import { formatEstimate, readEstimateRequest } from './methods/linea_estimateGas.js';

/** An estimate with the way it came about; amounts are quantities in wei, gas in units of gas. */
export interface ExplainedEstimate {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
  readonly evidence: {
    readonly gas: {
      readonly search: 'besu' | 'geth' | 'exact';
      /** Executions the search took. */
      readonly runs: number;
      readonly gasUsed: Hex;
      readonly gasUsedBeforeRefund: Hex;
    };
    readonly transactionBytes: number;
    readonly compressedTxSize: number;
    readonly dictionary: { readonly name: string; readonly networkOwn: boolean };
    readonly pricingModel: 'extra-data' | 'verification-cost';
    readonly prices: { readonly fixedCostWei: Hex; readonly variableCostWei: Hex; readonly minGasPriceWei: Hex };
    /** Null while the profile's defaults hold. */
    readonly pricesFromBlock: number | null;
    readonly margin: number;
  };
}

function formatEvidence({ gas, prices, pricesFromBlock, ...rest }: EstimateEvidence): ExplainedEstimate['evidence'] {
  return {
    ...rest,
    gas: {
      search: gas.search,
      runs: gas.runs,
      gasUsed: toQuantity(gas.gasUsed),
      gasUsedBeforeRefund: toQuantity(gas.gasUsedBeforeRefund),
    },
    prices: {
      fixedCostWei: toQuantity(prices.fixedCostWei),
      variableCostWei: toQuantity(prices.variableCostWei),
      minGasPriceWei: toQuantity(prices.minGasPriceWei),
    },
    pricesFromBlock: pricesFromBlock ?? null,
  };
}

const explainEstimate: Method<RpcContext> = {
  name: 'explainEstimate',
  async handle(context, params, options): Promise<ExplainedEstimate> {
    const estimate = await context.estimator.fees(await readEstimateRequest(context, params, options));
    return { ...formatEstimate(estimate), evidence: formatEvidence(estimate.evidence) };
  },
};

/** What the library offers beside JSON-RPC: never reachable over HTTP. */
export function inspectTable(): MethodTable<RpcContext> {
  return createMethodTable([explainEstimate]);
}
