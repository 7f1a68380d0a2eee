import { toQuantity } from '../../primitives/quantity.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';
import { parseBlockReference } from '../parse-block-reference.js';
import { parseCallRequest } from '../parse-call.js';
import { parseStateOverrides } from '../parse-state-overrides.js';
import { requireBlock } from './resolve-block.js';

export const eth_estimateGas: Method<RpcContext> = {
  name: 'eth_estimateGas',
  async handle(context, [callParam, blockParam, overridesParam], { signal }) {
    const call = parseCallRequest(callParam);
    const overrides = parseStateOverrides(overridesParam);
    const block = await requireBlock(context, parseBlockReference(blockParam, { tag: 'pending' }));
    return toQuantity((await context.estimator.gas({ call, overrides, block, signal })).gasLimit);
  },
};
