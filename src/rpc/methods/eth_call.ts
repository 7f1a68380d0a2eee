import { bytesToHex } from '../../primitives/hex.js';
import type { Method } from '../protocol/method.js';
import type { RpcContext } from './context.js';
import { readSimulation } from './simulation.js';

/** `[call, block, stateOverride, blockOverrides]`; without a block it is the newest. */
export const eth_call: Method<RpcContext> = {
  name: 'eth_call',
  async handle(context, params, options) {
    const [{ state, block, call, ...rest }, { callAt }] = await Promise.all([
      readSimulation(context, params, options),
      import('../../evm/calls/call.js'),
    ]);
    return bytesToHex((await callAt(state, block, call, rest)).returnData);
  },
};
