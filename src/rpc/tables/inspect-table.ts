import type { EstimateEvidence } from '../../estimate/evidence.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { ExplainedEstimate, ExplainOptions } from '../inspection/explained-estimate.js';
import type { SharingReport } from '../inspection/sharing-report.js';
import type { RpcContext } from '../methods/context.js';
import { formatEstimate, readEstimateRequest } from '../methods/linea_estimateGas.js';
import { STORAGE_METHODS } from '../methods/storage.js';
import { optional, requireObject } from '../parsing/parse-params.js';
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import { METHOD_INFO } from '../protocol/method-info.js';
import { invalidParams } from '../protocol/rpc-errors.js';

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
  if (!SEARCHES.includes(gasSearch)) throw invalidParams('options.gasSearch', 'must be besu, geth or exact');
  return { gasSearch: gasSearch as NonNullable<ExplainOptions['gasSearch']> };
}

const explainEstimate: Method<RpcContext> = {
  name: 'explainEstimate',
  info: METHOD_INFO.inspect.explainEstimate,
  async handle(context, params, options): Promise<ExplainedEstimate> {
    const { gasSearch: search } = parseOptions(params[OPTIONS_AT]);
    const request = await readEstimateRequest(context, params, options);
    const estimate = await context.estimator.fees({ ...request, search });
    return { ...formatEstimate(estimate), evidence: formatEvidence(estimate.evidence) };
  },
};

/** A node whose store is shared answers this itself (hosts/sharing). */
const sharing: Method<RpcContext> = {
  name: 'sharing',
  info: METHOD_INFO.inspect.sharing,
  handle: (): SharingReport => ({ role: 'alone' }),
};

/** What the library offers beside JSON-RPC. It is not reachable over HTTP. */
export function inspectTable(): MethodTable<RpcContext> {
  return createMethodTable([explainEstimate, sharing, ...STORAGE_METHODS]);
}
