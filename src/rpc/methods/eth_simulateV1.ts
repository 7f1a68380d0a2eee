import type { Block } from '../../chain/block.js';
import { PlumblineError } from '../../errors.js';
import { callFailureOf } from '../../evm/calls/revert-reason.js';
import type { SimulatedBlock, SimulatedCall } from '../../evm/simulation/simulation.js';
import type { AccountChange } from '../../evm/state/state-overlay.js';
import { ZERO_WORD } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { parseSimulation } from '../parsing/parse-simulate.js';
import { parseBlockReference } from '../parsing/resolve-block.js';
import { COMPUTES } from '../protocol/method-rows.js';
import { simulatedCallError } from '../protocol/rpc-errors.js';
import { formatBlock, formatLog } from '../schema/format.js';
import type { BlockJson, BlockResultJson } from '../schema/json.js';
import { defineMethod } from './context.js';

const loadSimulation = loadOnce(() => import('../../evm/simulation/simulate.js'));

/**
 * `[simulation, block]`; without a block it is the newest. Simulates blocks after it. The answer has them in the form
 * of `eth_getBlockByNumber`, with the results of their calls.
 *
 * @source ethereum/execution-apis@033ca6e6 tests/eth_simulateV1
 */
export const eth_simulateV1 = defineMethod<[simulation: object, block?: BlockJson], readonly BlockResultJson[]>(
  'eth_simulateV1',
  COMPUTES,
  async (context, [simulation, block], call) => {
    const { chain, maxAnswerBytes } = context;
    const { blocks, returnFullTransactions, ...options } = parseSimulation(simulation);
    const reference = parseBlockReference(block, { tag: 'latest' });
    const named = await chain.block(reference, call);
    if (named === undefined) {
      const reason = 'header not found';
      throw new PlumblineError('SIMULATION_REFUSED', reason, { rule: 'base-block', reason });
    }
    const limits = { ...options, maxAnswerBytes };
    const { signal, gas } = call;
    const tag = 'tag' in reference && reference.tag !== 'earliest' ? reference.tag : undefined;
    const [on, { simulateBlocks }] = await Promise.all([
      chain.prepareSimulation({ ...options, block: named, tag, requests: blocks }, { ...call, maxAnswerBytes }),
      loadSimulation(),
    ]);
    const { header, hash } = on.block;
    const { blockHash } = chain.contextOf(on.block);
    // A root that is not known is zero: no state has it.
    const stateRoot = async (changes: readonly AccountChange[]) => (await on.stateRoot(changes)) ?? ZERO_WORD;
    const base = { network: chain.network, header, hash, state: on.state, blockHash, stateRoot };
    const simulated = await simulateBlocks(base, blocks, { ...limits, signal, gas });
    return simulated.map((one) => ({ ...formatBlock(one, returnFullTransactions), calls: formatCalls(one) }));
  },
);

function formatCalls(block: SimulatedBlock) {
  let firstLogIndex = 0;
  return block.calls.map((call, index) => {
    const formatted = formatCall(block, call, index, firstLogIndex);
    firstLogIndex += call.logs.length;
    return formatted;
  });
}

function formatCall(block: Block, { outcome, logs }: SimulatedCall, index: number, firstLogIndex: number) {
  const transaction = { transaction: block.transactions[index]!, block, index };
  return {
    // The return data of a revert is in the error only.
    returnData: outcome.succeeded ? bytesToHex(outcome.returnData) : '0x',
    logs: logs.map((log, i) => formatLog({ log, transaction, logIndex: firstLogIndex + i })),
    gasUsed: toQuantity(outcome.gasUsed),
    maxUsedGas: toQuantity(outcome.gasUsedBeforeRefund),
    status: toQuantity(outcome.succeeded ? 1 : 0),
    ...(!outcome.succeeded && { error: simulatedCallError(callFailureOf(outcome)) }),
  };
}
