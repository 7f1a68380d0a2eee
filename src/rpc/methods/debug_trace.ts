import type { Block, TransactionReceipt } from '../../chain/block.js';
import { applyEdits } from '../../chain/state-edits.js';
import { type ErrorCode, type ErrorDetails, PlumblineError } from '../../errors.js';
import type { BlockContext } from '../../evm/block-context.js';
import { rulesAt } from '../../evm/common.js';
import { Machine } from '../../evm/machine.js';
import { RunBudget } from '../../evm/run-budget.js';
import { StateOverlay } from '../../evm/state-overlay.js';
import { runSystemCalls } from '../../evm/system-calls.js';
import { traceCallAt, traceTransaction } from '../../evm/tracing/trace-transaction.js';
import { createTracer, type NamedTracerChoice, TRACERS, type TracerChoice } from '../../evm/tracing/tracers.js';
import { runTransaction } from '../../evm/transaction.js';
import type { RunOptions, TransactionOutcome } from '../../evm/transaction-message.js';
import type { Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { openDeadline } from '../../scheduling/deadline.js';
import type { MethodCallOptions } from '../method.js';
import { COMPUTES } from '../method-rows.js';
import { optional, parseBoolean, parseHash, parseIndex, requireObject, requireText } from '../parse-params.js';
import { parseBlockReference, requireBlock, requireHexNumber, withBody } from '../resolve-block.js';
import { invalidParams, RpcError, type RpcErrorObject } from '../rpc-errors.js';
import type { BlockJson, CallJson } from '../schema/json.js';
import { readSimulation } from './calls.js';
import { defineMethod, type RpcContext } from './context.js';

/** The error in the words of geth. */
function failed<C extends ErrorCode>(message: string, reason: C, details: ErrorDetails[C]): RpcError {
  return new RpcError({ code: -32000, message, reason, details } as RpcErrorObject);
}

/**
 * `[call, block, options]`: the state after the block, or before its transaction `txIndex`, in the context of that block.
 *
 * @source docs/spec/preview.md 5.1
 */
export const debug_traceCall = defineMethod<[call: CallJson, block?: BlockJson, options?: object], unknown>(
  'debug_traceCall',
  COMPUTES,
  async (context, [call, block, options], callOptions) => {
    const { choice, timeoutMs, txIndex } = parseTraceOptions(options);
    const { stateOverrides, blockOverrides } = requireObject(options ?? {}, 'options', 'tracer options params');
    const reference = parseBlockReference(block, { tag: 'latest' });
    if ('tag' in reference && reference.tag === 'pending')
      throw failed('tracing on top of pending is not supported', 'INVALID_PARAMETER', {
        parameter: 'block',
        reason: 'must not be pending',
      });
    return withTimeout(timeoutMs, callOptions, async (limited) => {
      const simulation = await readSimulation(context, [call, block, stateOverrides, blockOverrides], limited);
      const { state, block: on, call: parsed, ...rest } = simulation;
      const before = txIndex === undefined ? state : await stateBefore(context, block, txIndex, limited);
      return traceCallAt(before, on, parsed, rest, choice);
    });
  },
);

/**
 * `[hash, options]`. The transaction and those before it are run again, on the state after the block's parent.
 *
 * @source docs/spec/preview.md 5.2
 */
export const debug_traceTransaction = defineMethod<[hash: Hex, options?: object], unknown>(
  'debug_traceTransaction',
  COMPUTES,
  async (context, [hashParam, options], call) => {
    const hash = parseHash(hashParam, 'transactionHash');
    const traceOptions = parseTraceOptions(options);
    const found = await context.chain.transaction(hash, call);
    if (found === undefined)
      throw new PlumblineError('TRANSACTION_NOT_FOUND', 'transaction not found', { hash: bytesToHex(hash) });
    const [trace] = await traceBlock(context, found.block, traceOptions, call, found.index);
    return trace!.result;
  },
);

/** `[block, options]`: all transactions of a block. */
export const debug_traceBlockByNumber = defineMethod<
  [block: BlockJson, options?: object],
  readonly { readonly txHash: Hex; readonly result?: unknown }[]
>('debug_traceBlockByNumber', COMPUTES, async (context, [blockParam, options], call) => {
  const reference = parseBlockReference(requireHexNumber(blockParam));
  const traceOptions = parseTraceOptions(options);
  const block =
    'tag' in reference ? await requireBlock(context, reference, call) : await context.chain.block(reference, call);
  if (block === undefined) {
    const name = 'number' in reference ? `#${reference.number}` : bytesToHex((reference as { hash: Uint8Array }).hash);
    throw failed(`block ${name} not found`, 'BLOCK_NOT_FOUND', { block: name });
  }
  return traceBlock(context, block, traceOptions, call);
});

/** `[hash, options]`: all transactions of a block. */
export const debug_traceBlockByHash = defineMethod<
  [block: BlockJson, options?: object],
  readonly { readonly txHash: Hex; readonly result?: unknown }[]
>('debug_traceBlockByHash', COMPUTES, async (context, [hashParam, options], call) => {
  const hash = parseHash(hashParam, 'blockHash');
  const traceOptions = parseTraceOptions(options);
  const block = await context.chain.block({ hash }, call);
  if (block === undefined)
    throw failed(`block ${bytesToHex(hash)} not found`, 'BLOCK_NOT_FOUND', { block: bytesToHex(hash) });
  return traceBlock(context, block, traceOptions, call);
});

/**
 * Runs a block's transactions again, up to the wanted one.
 *
 * @param only - index of the one transaction to trace; all when left out
 */
async function traceBlock(
  rpc: RpcContext,
  found: Block,
  { choice, timeoutMs }: TraceOptions,
  call: MethodCallOptions,
  only?: number,
): Promise<{ readonly txHash: string; readonly result: unknown }[]> {
  const { block, network, context, state, next } = await openReplay(rpc, found, call);
  const rules = rulesAt(network, context.number, context.timestamp);
  const place = { network, block: context, state, isKept: true, size: { characters: 0 } };
  const traces: { txHash: string; result: unknown }[] = [];
  for (const [index] of block.transactions.slice(0, only === undefined ? undefined : only + 1).entries()) {
    if (only !== undefined && index !== only) await next(call);
    else
      await withTimeout(timeoutMs, call, (limited) =>
        next(limited, async (transaction, options, firstLogIndex) => {
          const included = {
            blockHash: bytesToHex(block.hash),
            blockNumber: block.header.number,
            transactionHash: bytesToHex(transaction.hash),
            index,
          };
          const on = { ...place, firstLogIndex, included };
          const { result, outcome } = await traceTransaction(on, createTracer(choice, rules), transaction, options);
          traces.push({ txHash: bytesToHex(transaction.hash), result });
          return outcome;
        }),
      );
  }
  return traces;
}

/** The state before a transaction of a block. @throws RpcError -32000 if the block has no such transaction */
async function stateBefore(rpc: RpcContext, blockParam: unknown, txIndex: number, call: MethodCallOptions) {
  const { block, state, next } = await openReplay(
    rpc,
    await requireBlock(rpc, parseBlockReference(blockParam, { tag: 'latest' }), call),
    call,
  );
  const count = block.transactions.length;
  if (txIndex >= Math.max(count, 1)) {
    const message = `transaction index ${txIndex} out of range for block ${bytesToHex(block.hash)}`;
    throw failed(message, 'OUT_OF_RANGE', { what: 'txIndex', value: String(txIndex), limit: `0 to ${count - 1}` });
  }
  for (let i = 0; i < txIndex; i++) await next(call);
  return state;
}

/** @throws RpcError -32000 `execution timeout` */
async function withTimeout<T>(
  timeoutMs: number | undefined,
  call: MethodCallOptions,
  run: (call: MethodCallOptions) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return run(call);
  const deadline = openDeadline(call.signal, timeoutMs);
  try {
    return await deadline.run(() => run({ ...call, signal: deadline.signal }));
  } catch (error) {
    if (!deadline.signal.aborted || call.signal?.aborted === true) throw error;
    throw failed('execution timeout', 'REQUEST_TIMED_OUT', { timeoutMs });
  } finally {
    deadline.close();
  }
}

const SUBJECT = 'tracer options params';
/** Milliseconds of the units of a duration. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Options of a trace: the tracer, how long one transaction may take in milliseconds, and where in its block a call runs. */
interface TraceOptions {
  readonly choice: TracerChoice;
  readonly timeoutMs: number | undefined;
  readonly txIndex: number | undefined;
}

/**
 * Options of the `debug_trace…` methods. Members that are not known are ignored.
 *
 * @throws RpcError -32602 that names the member
 * @source docs/spec/preview.md 1 and 5
 */
function parseTraceOptions(value: unknown): TraceOptions {
  const object = optional(value, (present) => requireObject(present, 'options', SUBJECT)) ?? {};
  const config = optional(object.tracerConfig, (present) => requireObject(present, 'tracerConfig', SUBJECT)) ?? {};
  return {
    choice: choiceOf(object, config),
    timeoutMs: optional(object.timeout, parseDuration),
    txIndex: optional(object.txIndex, (present) => parseIndex(present, 'txIndex', SUBJECT)),
  };
}

type Members = Readonly<Record<string, unknown>>;

function choiceOf(object: Members, config: Members): TracerChoice {
  const named = optional(object.tracer, (present) => requireText(present, 'tracer', SUBJECT)) ?? '';
  if (named === '') {
    const limit = optional(object.limit, parseLimit);
    const flags = flagsOf(object, '', 'disableStack', 'disableStorage', 'enableMemory', 'enableReturnData');
    return { tracer: '', options: { ...flags, ...(limit !== undefined && { limit }) } };
  }
  const tracer = TRACERS.find((name) => name === named);
  if (tracer === undefined) {
    const reason = `has no tracer of this name: ${named.slice(0, 40)}; there are ${TRACERS.join(', ')}`;
    throw invalidParams('tracer', reason, SUBJECT);
  }
  const flags = <Name extends string>(...names: readonly Name[]) => flagsOf(config, 'tracerConfig.', ...names);
  if (tracer === 'callTracer') return { tracer, options: flags('onlyTopCall', 'withLog') };
  if (tracer === 'flatCallTracer') return { tracer, options: flags('convertParityErrors', 'includePrecompiles') };
  if (tracer === 'muxTracer') return { tracer, tracers: Object.entries(config).map(choiceOfMux) };
  if (tracer !== 'prestateTracer') return { tracer };
  const options = flags('diffMode', 'disableCode', 'disableStorage', 'includeEmpty');
  if (options.diffMode && options.includeEmpty)
    throw invalidParams('tracerConfig', 'cannot have diffMode with includeEmpty', SUBJECT);
  return { tracer, options };
}

/** One of several tracers: its name, and its options or null. */
function choiceOfMux([tracer, value]: [string, unknown]): NamedTracerChoice {
  const name = `tracerConfig.${tracer.slice(0, 40)}`;
  const choice = choiceOf({ tracer }, optional(value, (present) => requireObject(present, name, SUBJECT)) ?? {});
  if (choice.tracer === '') throw invalidParams(name, 'is not the name of a tracer', SUBJECT);
  return choice;
}

/** Those of the flags that are set. */
function flagsOf<Name extends string>(
  object: Members,
  path: string,
  ...names: readonly Name[]
): { readonly [N in Name]?: boolean } {
  const set = names.filter((name) => optional(object[name], (flag) => parseBoolean(flag, path + name, SUBJECT)));
  return Object.fromEntries(set.map((name) => [name, true])) as { readonly [N in Name]?: boolean };
}

/** @returns undefined for 0, which is no limit */
function parseLimit(value: unknown): number | undefined {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw invalidParams('limit', 'is not a number of steps', SUBJECT);
  return value === 0 ? undefined : (value as number);
}

/** @returns milliseconds */
function parseDuration(value: unknown): number {
  const text = requireText(value, 'timeout', SUBJECT);
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text)
    throw invalidParams('timeout', 'is not a duration such as 300ms, 5s or 2m', SUBJECT);
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
}

/** A block that is run again. */
interface Replay {
  readonly block: Block;
  /** With the chain id of the block, which a devnet may have changed since. */
  readonly network: Network;
  readonly context: BlockContext;
  /** The state after the transactions that ran so far. */
  readonly state: StateOverlay;
  /** Runs the block's next transaction, plainly or as `run` does. @throws PlumblineError `STATE_MISMATCH` */
  next(call: MethodCallOptions, run?: ReplayedRun): Promise<void>;
}

/** Runs one transaction and keeps what it writes. `firstLogIndex`: number of logs of the block before it. */
type ReplayedRun = (
  transaction: Block['transactions'][number],
  options: RunOptions,
  firstLogIndex: number,
) => Promise<TransactionOutcome>;

/**
 * Opens a block to run its transactions again, on the state after its parent and the system calls. Each one has to end as
 * its receipt says.
 *
 * @throws PlumblineError `BLOCK_INCOMPLETE` for genesis, and without the parent
 * @source docs/spec/preview.md 5.2
 */
async function openReplay(rpc: RpcContext, found: Block, call: MethodCallOptions): Promise<Replay> {
  const { chain, maxAnswerBytes } = rpc;
  if (found.header.number === 0) throw incomplete(found, 'genesis is not traceable');
  const [block, receipts, parent] = await Promise.all([
    withBody(rpc, found, call),
    chain.receipts(found, call),
    chain.block({ hash: found.header.parentHash }, call),
  ]);
  if (parent === undefined) {
    throw incomplete(found, `the state before block ${found.header.number} cannot be had: its parent is not known`);
  }
  const state = new StateOverlay(await chain.stateBefore(found, parent, call));
  await applyEdits(state, block.edits ?? []);
  const context = chain.contextOf(block);
  const own = block.transactions.find(({ chainId }) => chainId !== undefined)?.chainId;
  const network = own === undefined ? chain.network : { ...chain.network, chainId: Number(own) };
  const onMachine = async <T>(run: (machine: Machine) => Promise<T>): Promise<T> => {
    const machine = Machine.open(network, context, state);
    try {
      return await run(machine);
    } finally {
      machine.close();
    }
  };
  await onMachine((machine) => runSystemCalls(machine));
  let index = 0;
  let logs = 0;
  return {
    block,
    network,
    context,
    state,
    async next({ signal, gas }, run) {
      const transaction = block.transactions[index]!;
      const leniency = { contractSender: transaction.impersonated === true };
      const options = { leniency, budget: new RunBudget({ signal, gas, maxAnswerBytes }) };
      const outcome = await (run?.(transaction, options, logs) ??
        onMachine((machine) => runTransaction(machine, transaction, options)));
      requireSame(outcome, receipts[index]!, block.header.number);
      index++;
      logs += outcome.logs.length;
    },
  };
}

function incomplete({ header }: Block, reason: string): PlumblineError<'BLOCK_INCOMPLETE'> {
  return new PlumblineError('BLOCK_INCOMPLETE', reason, { block: header.number, reason });
}

/** Changes of the state by a devnet's developer methods are not transactions, so such a block may not run again. */
function requireSame(outcome: TransactionOutcome, receipt: TransactionReceipt, block: number): void {
  const same =
    outcome.succeeded === receipt.succeeded &&
    outcome.gasUsed === receipt.gasUsed &&
    outcome.logs.length === receipt.logs.length &&
    outcome.logs.every((log, i) => {
      const other = receipt.logs[i]!;
      return (
        equalBytes(log.address, other.address) &&
        equalBytes(log.data, other.data) &&
        log.topics.length === other.topics.length &&
        log.topics.every((topic, at) => equalBytes(topic, other.topics[at]!))
      );
    });
  if (same) return;
  const what = `transaction ${receipt.index} of block ${block}`;
  const details = { what, expected: `gas ${receipt.gasUsed}`, actual: `gas ${outcome.gasUsed}` };
  throw new PlumblineError('STATE_MISMATCH', `${what} does not end as its receipt says when it is run again`, details);
}
