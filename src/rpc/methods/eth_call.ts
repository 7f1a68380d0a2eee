import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { COMPUTES } from '../protocol/method-rows.js';
import type { OfCall } from '../schema/json.js';
import { defineMethod } from './context.js';
import { readSimulation } from './simulation.js';

const loadCalls = loadOnce(() => import('../../evm/calls/call.js'));

/** `[call, block, stateOverride, blockOverrides]`; without a block it is the newest. */
export const eth_call = defineMethod<OfCall, Hex>('eth_call', COMPUTES, async (context, params, options) => {
  const [{ state, block, call, ...rest }, { callAt }] = await Promise.all([
    readSimulation(context, params, options),
    loadCalls(),
  ]);
  return bytesToHex((await callAt(state, block, call, rest)).returnData);
});
