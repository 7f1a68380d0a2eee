import { isHead, isPending } from '../../chain/block.js';
import type { EstimateRequest, FeeEstimate } from '../../estimate/estimate-request.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { COMPUTES } from '../method-rows.js';
import { estimateRequestOf, parseCallOn } from '../parse-call.js';
import { parseStateOverrides } from '../parse-overrides.js';
import { parseBlockReference, requireBlock } from '../resolve-block.js';
import { invalidParams } from '../rpc-errors.js';
import type { LineaBlockJson, LineaCallJson, LineaFeesJson, LineaOverrideJson } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';

/**
 * `[call]`, `[call, stateOverride]`, `[call, block]` or `[call, block, stateOverride]`: an object is an override, a
 * string is a block, null is neither.
 *
 * @source docs/decisions.md 5, docs/spec/fees.md 6
 */
export async function readEstimateRequest(
  context: RpcContext,
  [callParam, second, third]: readonly unknown[],
  options: MethodCallOptions,
): Promise<EstimateRequest> {
  const call = parseCallOn(context.chain.network, callParam, { lenient: true });
  const { txGasLimit } = context.chain.network;
  if (call.gas !== undefined && call.gas > txGasLimit) {
    throw invalidParams('gas', `is above the transaction gas limit of ${txGasLimit}`);
  }
  if (typeof second !== 'string') {
    const override = second === undefined || second === null ? third : second;
    return estimateRequestOf({ call, overrides: parseStateOverrides(override) }, options);
  }
  const reference = parseBlockReference(second);
  const overrides = parseStateOverrides(third);
  const block = isHead(reference) ? undefined : await requireBlock(context, reference, options);
  return estimateRequestOf({ call, overrides, block, ...(isPending(reference) && { pending: true }) }, options);
}

export function formatEstimate({ gasLimit, baseFeePerGas, priorityFeePerGas }: FeeEstimate) {
  return {
    gasLimit: toQuantity(gasLimit),
    baseFeePerGas: toQuantity(baseFeePerGas),
    priorityFeePerGas: toQuantity(priorityFeePerGas),
  };
}

/** Also answers to the network's prefix, and to `l2_estimateGas`. */
export const linea_estimateGas = defineMethod<
  | [call: LineaCallJson, block?: LineaBlockJson, override?: LineaOverrideJson]
  | [call: LineaCallJson, override: LineaOverrideJson],
  LineaFeesJson
>('linea_estimateGas', COMPUTES, async (context, params, options) => {
  const request = await readEstimateRequest(context, params, options);
  return formatEstimate(await context.estimator.fees(request));
});
