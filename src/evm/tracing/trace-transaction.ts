import type { EvmChange, TraceRecord } from '../../kernel/evm.js';
import { readTrace } from '../../kernel/evm-trace.js';
import type { Network } from '../../networks/network.js';
import type { CallRequest } from '../../primitives/call-request.js';
import type { BlockContext } from '../block-context.js';
import { groundOf, runOf, type SimulatedCallOptions } from '../call.js';
import { rulesAt } from '../common.js';
import { Machine, type MachineOptions } from '../machine.js';
import type { StateOverlay } from '../state-overlay.js';
import type { StateReader } from '../state-reader.js';
import { runTransaction, simulateTransaction } from '../transaction.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from '../transaction-message.js';
import type { TracedInclusion, Tracer } from './tracer.js';
import { createTracer, type TracerChoice } from './tracers.js';

/** Characters of JSON, about. */
export interface AnswerSize {
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
  readonly included?: TracedInclusion | undefined;
}

/**
 * Runs a transaction with a tracer.
 *
 * @returns the tracer's result, and the outcome
 * @throws PlumblineError as `runTransaction`, and `ANSWER_TOO_LARGE` for a result above `maxAnswerBytes`
 */
export async function traceTransaction(
  place: TracePlace,
  tracer: Tracer,
  message: TransactionMessage,
  options: Omit<RunOptions, 'onChanges'> = {},
): Promise<{ readonly result: unknown; readonly outcome: TransactionOutcome }> {
  const { network, block, state, isKept, firstLogIndex = 0, included, size = { characters: 0 } } = place;
  const grow = (characters: number) => {
    size.characters += characters;
    options.budget?.requireRoom(size.characters);
  };
  const tracing = { flags: tracer.flags, read: readTrace, take: (record: TraceRecord) => tracer.take(record, grow) };
  const machine = Machine.open(network, block, state, { tracing, ...place.machine });
  try {
    const run = isKept ? runTransaction : simulateTransaction;
    const { changed } = tracer;
    const onChanges = changed && ((changes: readonly EvmChange[]) => changed(machine, message, changes, grow));
    const outcome = await run(machine, message, { onChanges, ...options });
    return { result: tracer.result({ message, outcome, firstLogIndex, included }, grow), outcome };
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
