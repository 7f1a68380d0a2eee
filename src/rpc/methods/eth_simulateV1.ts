import type { Block } from '../../chain/block.js';
import { PlumblineError } from '../../errors.js';
import type { Withdrawal } from '../../ethereum/ordered-trie.js';
import { callFailureOf } from '../../evm/call.js';
import type {
  BlockCall,
  BlockRequest,
  SimulatedBlock,
  SimulatedBlockOverrides,
  SimulatedCall,
} from '../../evm/simulation.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import { ZERO_WORD } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { COMPUTES } from '../method-rows.js';
import { parseCallRequest } from '../parse-call.js';
import { BLOCK_OVERRIDES, parseBlockOverrides, parseStateOverrides } from '../parse-overrides.js';
import {
  optional,
  parseAddress,
  parseBoolean,
  parseHash,
  parseQuantity,
  requireArray,
  requireMembers,
  requireObject,
} from '../parse-params.js';
import { parseBlockReference } from '../resolve-block.js';
import { invalidParams, simulatedCallError } from '../rpc-errors.js';
import { formatBlock, formatLog } from '../schema/format.js';
import type { BlockJson, BlockResultJson } from '../schema/json.js';
import { defineMethod } from './context.js';

const loadSimulation = loadOnce(() => import('../../evm/simulate.js'));

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

const SUBJECT = 'simulation params';

/** First parameter of `eth_simulateV1`. */
interface SimulationRequest {
  readonly blocks: readonly BlockRequest[];
  readonly traceTransfers: boolean;
  readonly validation: boolean;
  readonly returnFullTransactions: boolean;
}

/**
 * `{blockStateCalls: [{blockOverrides, stateOverrides, calls}], traceTransfers, validation, returnFullTransactions}`; only
 * the first is required, and it must not be empty.
 *
 * @throws RpcError -32602 that names the member
 * @source ethereum/execution-apis@033ca6e6 tests/eth_simulateV1
 */
function parseSimulation(value: unknown): SimulationRequest {
  const object = requireObject(value, 'simulation', SUBJECT);
  const blocks = requireArray(object.blockStateCalls, 'blockStateCalls', SUBJECT);
  if (blocks.length === 0) throw invalidParams('blockStateCalls', 'is empty', SUBJECT);
  const flag = (name: string) => optional(object[name], (present) => parseBoolean(present, name, SUBJECT)) ?? false;
  return {
    blocks: blocks.map((block, index) => parseBlock(block, `blockStateCalls[${index}]`)),
    traceTransfers: flag('traceTransfers'),
    validation: flag('validation'),
    returnFullTransactions: flag('returnFullTransactions'),
  };
}

function parseBlock(value: unknown, at: string): BlockRequest {
  const { blockOverrides, stateOverrides, calls } = requireObject(value, at, SUBJECT);
  return {
    overrides: optional(blockOverrides, (present) => parseOverrides(present, `${at}.blockOverrides`)) ?? {},
    stateOverrides: parseStateOverrides(stateOverrides, `${at}.stateOverrides`, { strict: true }),
    calls: optional(calls, (present) => requireArray(present, `${at}.calls`, SUBJECT).map(parseCall)) ?? [],
  };
}

const OVERRIDES = [...BLOCK_OVERRIDES, 'beaconRoot', 'withdrawals'];

/** The block overrides of calls, and those that only a simulated block can have. */
function parseOverrides(value: unknown, at: string): SimulatedBlockOverrides {
  const members = requireObject(value, at, SUBJECT);
  requireMembers(members, OVERRIDES, at, SUBJECT);
  const { beaconRoot, withdrawals, ...plain } = members;
  const root = optional(beaconRoot, (present) => parseHash(present, `${at}.beaconRoot`, SUBJECT));
  const paid = optional(withdrawals, (present) => parseWithdrawals(present, `${at}.withdrawals`));
  return {
    ...parseBlockOverrides(plain),
    ...(root !== undefined && { parentBeaconBlockRoot: root }),
    ...(paid !== undefined && { withdrawals: paid }),
  };
}

function parseWithdrawals(value: unknown, at: string): Withdrawal[] {
  return requireArray(value, at, SUBJECT).map((entry, position) => {
    const path = `${at}[${position}]`;
    const members = requireObject(entry, path, SUBJECT);
    const quantity = (name: string) => parseQuantity(members[name], `${path}.${name}`, SUBJECT, 64);
    return {
      index: quantity('index'),
      validatorIndex: quantity('validatorIndex'),
      address: parseAddress(members.address, `${path}.address`, SUBJECT),
      amount: quantity('amount'),
    };
  });
}

function parseCall(value: unknown): BlockCall {
  const call = parseCallRequest(value);
  const hashes = optional((value as Readonly<Record<string, unknown>>).blobVersionedHashes, (present) =>
    requireArray(present, 'blobVersionedHashes', SUBJECT).map((hash, index) =>
      parseHash(hash, `blobVersionedHashes[${index}]`, SUBJECT),
    ),
  );
  return hashes === undefined ? call : { ...call, blobVersionedHashes: hashes };
}
