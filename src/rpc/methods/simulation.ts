import type { BlockContext } from '../../evm/block-context.js';
import { withBlockOverrides } from '../../evm/block-overrides.js';
import type { SimulatedCallOptions as SimulationOptions } from '../../evm/calls/call.js';
import type { StateReader } from '../../evm/state/state-reader.js';
import type { CallRequest } from '../../primitives/call-request.js';
import { parseCallOn } from '../parsing/parse-call.js';
import { parseBlockOverrides, parseStateOverrides } from '../parsing/parse-overrides.js';
import { executionPointOf } from '../parsing/resolve-block.js';
import type { MethodCallOptions } from '../protocol/method.js';
import type { RpcContext } from './context.js';

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
  const { state, block } = await executionPointOf(context, blockParam, { call, overrides }, options);
  const { network } = context.chain;
  return {
    state,
    block: withBlockOverrides(block, blockOverrides),
    call,
    network,
    overrides,
    overrideRules: network.gasSearch === 'geth' ? 'geth' : 'besu',
    maxAnswerBytes: context.maxAnswerBytes,
    signal: options.signal,
    gas: options.gas,
  };
}
