import { jsonLength, type Log, logBytes } from '../../ethereum/receipt.js';
import { FLAGS } from '../../kernel/evm/evm-exports.js';
import type { TraceEnter, TraceLeave, TraceRecord } from '../../kernel/evm/evm-types.js';
import { bytesToHex } from '../../primitives/hex.js';
import { knownHex } from '../../primitives/known-hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { CallFrame, FrameLog } from './call-frame.js';
import { failureText } from './failure-text.js';
import { opcodeOf } from './opcodes.js';
import { solidityReason } from './solidity-reason.js';
import type { Grow, Tracer } from './tracer.js';

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
/** JSON of a frame besides its input and output. */
const FRAME_CHARACTERS = 400;
/** In place of the frames that are not shown. */
const HIDDEN: CallFrame = { type: '', from: '0x', gas: '0x0', gasUsed: '0x0', input: '0x' };
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

  function enter(record: TraceEnter, grow: Grow): void {
    count(record.logs);
    const parent = open.at(-1)?.frame;
    if (parent !== undefined && onlyTopCall) return void open.push({ frame: HIDDEN, gas: 0n });
    grow(FRAME_CHARACTERS + 2 * record.inputLength);
    const frame = frameOf(record);
    if (parent === undefined) top = frame;
    else if (parent.calls === undefined) parent.calls = [frame];
    else parent.calls.push(frame);
    open.push({ frame, gas: record.gas });
  }

  function leave(record: TraceLeave, grow: Grow): void {
    count(record.logs);
    const { frame, gas } = open.pop()!;
    if (frame === HIDDEN) return;
    frame.gasUsed = toQuantity(gas - record.gasLeft);
    const { exception, outputLength } = record;
    if (outputLength > 0 && (exception === 0 || exception === REVERT)) {
      grow(2 * outputLength);
      frame.output = bytesToHex(record.output);
    }
    if (exception === 0) return;
    frame.error = failureText(record)!;
    if (isCreation(frame.type)) delete frame.to;
    const reason = exception === REVERT ? solidityReason(record.output) : undefined;
    if (reason === undefined) return;
    grow(reason.length);
    frame.revertReason = reason;
  }

  return {
    flags: FLAGS.calls,
    take(record: TraceRecord, grow) {
      if (record.kind === 'enter') enter(record, grow);
      else if (record.kind === 'leave') leave(record, grow);
    },
    result({ message, outcome, firstLogIndex }, grow) {
      const root = top!;
      root.gas = toQuantity(message.gasLimit);
      root.gasUsed = toQuantity(outcome.gasUsed);
      for (const [i, log] of withLog ? outcome.logs.entries() : []) {
        const { frame, position } = owners[i]!;
        if (frame === HIDDEN) continue;
        grow(jsonLength(1, logBytes(log)));
        frame.logs ??= [];
        frame.logs.push(frameLog(log, firstLogIndex + i, onlyTopCall ? 0 : position));
      }
      return root;
    },
  };
}

function frameOf(record: TraceEnter): CallFrame {
  const { op, callerText: from, calleeText: to, inputLength, value } = record;
  const type = opcodeOf(op)!.name;
  const gas = toQuantity(record.gas);
  const input = inputLength === 0 ? '0x' : bytesToHex(record.input);
  if (type === 'STATICCALL') return { type, from, to, gas, gasUsed: '0x0', input };
  return { type, from, to, gas, gasUsed: '0x0', input, value: value === 0n ? '0x0' : toQuantity(value) };
}

function frameLog({ address, topics, data }: Log, index: number, position: number): FrameLog {
  return {
    address: knownHex(address),
    topics: topics.map((topic) => knownHex(topic)),
    data: bytesToHex(data),
    index: toQuantity(index),
    position: toQuantity(position),
  };
}
