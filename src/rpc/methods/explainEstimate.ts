import { PlumblineError } from '../../errors.js';
import type { EstimateEvidence } from '../../estimate/estimate-request.js';
import { GAS_SEARCHES } from '../../networks/gas-searches.js';
import { isLayerOne } from '../../networks/network.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { Method } from '../method.js';
import { needsRollup } from '../method-info.js';
import { optional, requireObject } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import type { ExplainedEstimate, ExplainOptions } from '../schema/answers.js';
import type { RpcContext } from './context.js';
import { formatEstimate, readEstimateRequest } from './linea_estimateGas.js';

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
      executionGas: toQuantity(gas.executionGas),
      stateGas: toQuantity(gas.stateGas),
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

function parseOptions(value: unknown): ExplainOptions {
  const gasSearch = optional(value, (present) => requireObject(present, 'options', 'params').gasSearch);
  if (gasSearch === undefined || gasSearch === null) return {};
  const known = GAS_SEARCHES.find((name) => name === gasSearch);
  if (known === undefined) throw invalidParams('options.gasSearch', `must be one of ${GAS_SEARCHES.join(', ')}`);
  return { gasSearch: known };
}

/** `node.explainEstimate`: the parameters of `linea_estimateGas`, then the options. */
export const explainEstimate: Method<RpcContext>['handle'] = async (
  context,
  params,
  call,
): Promise<ExplainedEstimate> => {
  const { network } = context.chain;
  if (isLayerOne(network)) {
    const method = 'explainEstimate';
    const reason = needsRollup(method, network.name);
    throw new PlumblineError('METHOD_NOT_ENABLED', reason, { method, reason });
  }
  const { gasSearch: search } = parseOptions(params[OPTIONS_AT]);
  const request = await readEstimateRequest(context, params, call);
  const estimate = await context.estimator.fees({ ...request, search });
  return { ...formatEstimate(estimate), evidence: formatEvidence(estimate.evidence!) };
};
