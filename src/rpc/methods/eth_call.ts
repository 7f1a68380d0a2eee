import { callAt } from '../../evm/call.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';
import { parseCallRequest } from '../parse-call.js';
import { parseStateOverrides } from '../parse-state-overrides.js';
import { groundOf } from './resolve-block.js';

export const eth_call: Method<RpcContext> = {
  name: 'eth_call',
  async handle(context, [callParam, blockParam, overridesParam], { signal }) {
    const call = parseCallRequest(callParam);
    const overrides = parseStateOverrides(overridesParam);
    const { state, block } = await groundOf(context, blockParam);
    const outcome = await callAt(state, block, call, { network: context.chain.network, overrides, signal });
    return bytesToHex(outcome.returnData);
  },
};
