import { isHead, isPending } from '../../chain/block.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseCallOn } from '../parsing/parse-call.js';
import { parseBlockOverrides, parseStateOverrides } from '../parsing/parse-overrides.js';
import { parseBlockReference, requireBlock } from '../parsing/resolve-block.js';
import { COMPUTES } from '../protocol/method-rows.js';
import type { OfCall } from '../schema/json.js';
import { defineMethod } from './context.js';

/**
 * `[call, block, stateOverride, blockOverrides]`. Without a block it is the pending one; on networks that run
 * geth, the newest.
 *
 * @source docs/spec/fees.md 5
 */
export const eth_estimateGas = defineMethod<OfCall, Hex>(
  'eth_estimateGas',
  COMPUTES,
  async (context, [callParam, blockParam, overridesParam, blockOverridesParam], { signal, gas, note }) => {
    const call = parseCallOn(context.chain.network, callParam);
    const asGeth = context.chain.network.gasSearch === 'geth';
    const reference = parseBlockReference(blockParam, { tag: asGeth ? 'latest' : 'pending' });
    const overrides = parseStateOverrides(overridesParam);
    const blockOverrides = parseBlockOverrides(blockOverridesParam);
    const block = isHead(reference) ? undefined : await requireBlock(context, reference);
    const pending = isPending(reference) ? true : undefined;
    const request = { call, overrides, blockOverrides, block, pending, signal, gas, note };
    return toQuantity((await context.estimator.gas(request)).gasLimit);
  },
);
