import type { Log } from '../../ethereum/receipt.js';
import { FLAGS } from '../../kernel/evm/evm-exports.js';
import type { TraceEnter, TraceLeave, TraceRecord } from '../../kernel/evm/evm-types.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { CallFrame } from './call-frame.js';
import { failureText } from './failure-text.js';
import { opcodeOf } from './opcodes.js';
import { solidityReason } from './solidity-reason.js';
import type { Tracer } from './tracer.js';

/** Options of `callTracer`. */
export interface CallTracerOptions {
  readonly onlyTopCall?: boolean;
  readonly withLog?: boolean;
}

interface Open {
  readonly frame: CallFrame;
  readonly gas: bigint;
}

const REVERT = 1;
const isCreation = (type: string) => type === 'CREATE' || type === 'CREATE2';

/**
 * The tree of calls.
 *
 * @source docs/spec/preview.md 2
 */
export function callTracer({ onlyTopCall = false, withLog = false }: CallTracerOptions = {}): Tracer {
  const open: Open[] = [];
  let top: CallFrame | undefined;
  /** By index of the logs that are still there: the frame that made it, and how many calls that had made. */
  const owners: { readonly frame: CallFrame; readonly position: number }[] = [];

  /** All logs since the last record are those of the newest open frame; the logs of a failed frame are gone. */
  function count(logs: number): void {
    owners.length = Math.min(owners.length, logs);
    const current = open.at(-1);
    while (current !== undefined && owners.length < logs) {
      owners.push({ frame: current.frame, position: current.frame.calls?.length ?? 0 });
    }
  }

  function enter(record: TraceEnter): void {
    count(record.logs);
    const frame = frameOf(record);
    const parent = open.at(-1)?.frame;
    if (parent === undefined) top = frame;
    else {
      parent.calls ??= [];
      parent.calls.push(frame);
    }
    open.push({ frame, gas: record.gas });
  }

  function leave(record: TraceLeave): void {
    count(record.logs);
    const { frame, gas } = open.pop()!;
    frame.gasUsed = toQuantity(gas - record.gasLeft);
    const error = failureText(record);
    if (error !== undefined) frame.error = error;
    const { exception, output } = record;
    if (output.length > 0 && (exception === 0 || exception === REVERT)) frame.output = bytesToHex(output);
    if (exception !== 0 && isCreation(frame.type)) delete frame.to;
    const reason = exception === REVERT ? solidityReason(output) : undefined;
    if (reason !== undefined) frame.revertReason = reason;
  }

  return {
    flags: FLAGS.calls,
    take(records: readonly TraceRecord[]) {
      for (const record of records) {
        if (record.kind === 'enter') enter(record);
        else if (record.kind === 'leave') leave(record);
      }
    },
    result({ message, outcome, firstLogIndex }) {
      const root = top!;
      root.gas = toQuantity(message.gasLimit);
      root.gasUsed = toQuantity(outcome.gasUsed);
      if (withLog) for (const [i, log] of outcome.logs.entries()) addLog(owners[i]!, log, firstLogIndex + i);
      if (!onlyTopCall) return root;
      const { calls: _, ...alone } = root;
      return { ...alone, ...(alone.logs && { logs: alone.logs.map((log) => ({ ...log, position: '0x0' })) }) };
    },
  };
}

function frameOf({ op, caller, callee, gas, input, value }: TraceEnter): CallFrame {
  const type = opcodeOf(op)!.name;
  return {
    type,
    from: bytesToHex(caller),
    to: bytesToHex(callee),
    gas: toQuantity(gas),
    gasUsed: '0x0',
    input: bytesToHex(input),
    ...(type !== 'STATICCALL' && { value: toQuantity(value) }),
  };
}

function addLog(
  { frame, position }: { readonly frame: CallFrame; readonly position: number },
  log: Log,
  index: number,
) {
  frame.logs ??= [];
  frame.logs.push({
    address: bytesToHex(log.address),
    topics: log.topics.map(bytesToHex),
    data: bytesToHex(log.data),
    index: toQuantity(index),
    position: toQuantity(position),
  });
}
