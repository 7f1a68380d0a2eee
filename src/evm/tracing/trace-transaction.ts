import { readTrace } from '../../kernel/evm/evm-trace.js';
import type { TraceRecord } from '../../kernel/evm/evm-types.js';
import type { Network } from '../../networks/network.js';
import type { CallRequest } from '../../primitives/call-request.js';
import type { BlockContext } from '../block-context.js';
import { groundOf, runOf, type SimulatedCallOptions } from '../calls/call.js';
import { rulesAt } from '../common.js';
import { Machine, type MachineOptions, type Tracing } from '../interpreter/machine.js';
import type { RunBudget } from '../interpreter/run-budget.js';
import type { StateOverlay } from '../state/state-overlay.js';
import type { StateReader } from '../state/state-reader.js';
import { runTransaction, simulateTransaction } from '../transactions/transaction.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from '../transactions/transaction-message.js';
import type { Tracer } from './tracer.js';
import { createTracer, type TracerChoice } from './tracers.js';

/** JSON of one call, besides its input and output. */
const FRAME_CHARACTERS = 400;
/** Of one instruction, besides its stack, memory and return data; of a word of its stack on average. */
const STEP_CHARACTERS = 100;
const WORD_CHARACTERS = 20;

/** Characters of JSON, about. */
interface AnswerSize {
  characters: number;
}

/** Where a transaction is traced. */
export interface TracePlace {
  readonly network: Pick<Network, 'forks' | 'chainId'>;
  readonly block: BlockContext;
  readonly state: StateOverlay;
  /** The state has what the transaction wrote afterwards. */
  readonly isKept: boolean;
  readonly machine?: Omit<MachineOptions, 'tracing'> | undefined;
  /** Of the answer so far, shared by the traces of one request. */
  readonly size?: AnswerSize;
  /** Number of logs of the block before it; 0 when left out. */
  readonly firstLogIndex?: number;
}

/**
 * Runs a transaction with a tracer.
 *
 * @returns the tracer's result, and the outcome
 * @throws PlumblineError as `runTransaction`
 */
export async function traceTransaction(
  place: TracePlace,
  tracer: Tracer,
  message: TransactionMessage,
  options: RunOptions = {},
): Promise<{ readonly result: unknown; readonly outcome: TransactionOutcome }> {
  const { network, block, state, isKept, firstLogIndex = 0, size = { characters: 0 } } = place;
  const machine = await Machine.open(network, block, state, {
    ...place.machine,
    tracing: limited(tracer, size, options.budget),
  });
  try {
    const run = isKept ? runTransaction : simulateTransaction;
    const { changed } = tracer;
    const outcome = await run(machine, message, {
      ...options,
      ...(changed !== undefined && { onChanges: (changes) => changed(machine, message, changes) }),
    });
    return { result: tracer.result({ message, outcome, firstLogIndex }), outcome };
  } finally {
    machine.close();
  }
}

/**
 * Runs a call with a tracer. Nothing that it does is kept.
 *
 * @returns the tracer's result; a call that reverts has one, too
 * @throws PlumblineError as `simulateCallAt`
 */
export async function traceCallAt(
  reader: StateReader,
  block: BlockContext,
  call: CallRequest,
  options: SimulatedCallOptions,
  choice: TracerChoice,
): Promise<unknown> {
  const { network } = options;
  const { state, machineOptions: machine } = groundOf(reader, options);
  const rules = rulesAt(network, block.number, block.timestamp);
  const { message, run } = await runOf({ block, state, rules }, call, options);
  const place = { network, block, state, isKept: false, machine };
  return (await traceTransaction(place, createTracer(choice, rules), message, run)).result;
}

/** Follows a run with a tracer, as long as the answer is not larger than it may be. */
function limited(tracer: Tracer, size: AnswerSize, budget: RunBudget | undefined): Tracing {
  return {
    flags: tracer.flags,
    read: readTrace,
    take(records) {
      for (const record of records) size.characters += charactersOf(record);
      budget?.requireRoom(size.characters);
      tracer.take(records);
    },
  };
}

function charactersOf(record: TraceRecord): number {
  if (record.kind === 'step') {
    const { stack, memory, returnData } = record;
    return STEP_CHARACTERS + WORD_CHARACTERS * stack.length + 2 * (memory.length + returnData.length);
  }
  return FRAME_CHARACTERS / 2 + 2 * (record.kind === 'enter' ? record.input : record.output).length;
}
