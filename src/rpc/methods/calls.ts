import { isHead, isPending } from '../../chain/block.js';
import { type BlockContext, withBlockOverrides } from '../../evm/block-context.js';
import type { SimulatedCallOptions as SimulationOptions } from '../../evm/call.js';
import type { StateReader } from '../../evm/state-reader.js';
import type { CallRequest } from '../../primitives/call-request.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { withLateSignal } from '../../scheduling/deadline.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { MethodCallOptions } from '../method.js';
import { COMPUTES } from '../method-rows.js';
import { estimateRequestOf, parseCallOn } from '../parse-call.js';
import { parseBlockOverrides, parseStateOverrides } from '../parse-overrides.js';
import { executionPointOf, parseBlockReference, requireBlock } from '../resolve-block.js';
import type { OfCall } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';

const loadCalls = loadOnce(() => import('../../evm/call.js'));

/** `[call, block, stateOverride, blockOverrides]`; without a block it is the newest. */
export const eth_call = defineMethod<OfCall, Hex>('eth_call', COMPUTES, async (context, params, options) => {
  const [simulation, { callAt }] = await Promise.all([readSimulation(context, params, options), loadCalls()]);
  const { state, block, call } = simulation;
  return bytesToHex((await callAt(state, block, call, simulation)).returnData);
});

/**
 * `[call, block, stateOverride, blockOverrides]`. Without a block it is the pending one; on networks that run
 * geth, the newest.
 *
 * @source docs/spec/fees.md 5
 */
export const eth_estimateGas = defineMethod<OfCall, Hex>(
  'eth_estimateGas',
  COMPUTES,
  async (context, [callParam, blockParam, overridesParam, blockOverridesParam], options) => {
    const call = parseCallOn(context.chain.network, callParam);
    const asGeth = context.chain.network.gasSearch === 'geth';
    const reference = parseBlockReference(blockParam, { tag: asGeth ? 'latest' : 'pending' });
    const overrides = parseStateOverrides(overridesParam);
    const blockOverrides = parseBlockOverrides(blockOverridesParam);
    const block = isHead(reference) ? undefined : await requireBlock(context, reference);
    const pending = isPending(reference) ? true : undefined;
    const request = estimateRequestOf({ call, overrides, blockOverrides, block, pending }, options);
    return toQuantity((await context.estimator.gas(request)).gasLimit);
  },
);

/** A call with the state, the block and the rules of its execution. */
export interface Simulation extends SimulationOptions {
  readonly state: StateReader;
  readonly block: BlockContext;
  readonly call: CallRequest;
}

/** `[call, block, stateOverride, blockOverrides]`. @throws RpcError -32602; as `executionPointOf` */
export async function readSimulation(
  context: RpcContext,
  [callParam, blockParam, overridesParam, blockOverridesParam]: readonly unknown[],
  options: MethodCallOptions,
): Promise<Simulation> {
  const call = parseCallOn(context.chain.network, callParam);
  const overrides = parseStateOverrides(overridesParam);
  const blockOverrides = parseBlockOverrides(blockOverridesParam);
  const { state, block } = await executionPointOf(context, blockParam, call, overrides, options);
  const { network } = context.chain;
  return withLateSignal({
    state,
    block: withBlockOverrides(block, blockOverrides),
    call,
    network,
    overrides,
    overrideRules: network.gasSearch === 'geth' ? ('geth' as const) : ('besu' as const),
    maxAnswerBytes: context.maxAnswerBytes,
    stopped: options.stopped,
    gas: options.gas,
    signalFrom: options,
  });
}
