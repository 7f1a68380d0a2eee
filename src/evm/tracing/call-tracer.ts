import { jsonLength, logBytes } from '../../ethereum/receipt.js';
import { FLAGS, type TracedGas, type TraceEnter, type TraceLeave, type TraceRecord } from '../../kernel/evm.js';
import { toQuantity } from '../../primitives/quantity.js';
import { quantityText } from '../../primitives/quantity-text.js';
import type { CallFrame, FrameLog } from './call-frame.js';
import { failureText } from './failure-text.js';
import { frameBytes } from './frame-bytes.js';
import { opcodeOf } from './opcodes.js';
import { Frame, ShownLog } from './plain-frames.js';
import { solidityReason } from './solidity-reason.js';
import type { Grow, Tracer } from './tracer.js';

/** Options of `callTracer`. */
export interface CallTracerOptions {
  readonly onlyTopCall?: boolean;
  readonly withLog?: boolean;
}

const REVERT = 1;
/** Copied, because a list that is written as a literal has what `plain` avoids. */
const NO_LOGS: readonly FrameLog[] = [];
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
  // By depth of the open frames: the frame, what it was given, and how many of `ended` were there before it.
  const frames: CallFrame[] = [];
  const given: TracedGas[] = [];
  const before: number[] = [];
  let open = 0;
  /** Frames that ended and whose caller is still open. */
  const ended: CallFrame[] = [];
  let top: CallFrame | undefined;
  const bytes = frameBytes();
  /** By index of the logs that are still there: the frame that made it, and how many calls that had made. */
  const owners: CallFrame[] = [];
  const positions: number[] = [];

  /** All logs since the last record are those of the newest open frame; the logs of a failed frame are gone. */
  function count(logs: number): void {
    if (owners.length > logs) {
      owners.length = logs;
      positions.length = logs;
    }
    if (open === 0) return;
    const position = ended.length - before[open - 1]!;
    while (owners.length < logs) {
      owners.push(frames[open - 1]!);
      positions.push(position);
    }
  }

  function enter(record: TraceEnter, grow: Grow): void {
    const { logs, gas, inputLength } = record;
    if (logs !== owners.length) count(logs);
    const isHidden = onlyTopCall && top !== undefined;
    if (!isHidden) grow(FRAME_CHARACTERS + 2 * inputLength);
    const frame = isHidden ? HIDDEN : frameOf(record);
    if (!isHidden && inputLength > 0) bytes.add(frame, 'input', record.bytes, record.inputAt, inputLength);
    top ??= frame;
    frames[open] = frame;
    given[open] = gas;
    before[open] = ended.length;
    open++;
  }

  function leave(record: TraceLeave, grow: Grow): void {
    const { logs, exception, gas, outputLength } = record;
    if (logs !== owners.length) count(logs);
    open--;
    const frame = frames[open]!;
    if (frame === HIDDEN) return;
    const first = before[open]!;
    frame.gasUsed = quantityText(difference(given[open]!, gas));
    if (ended.length > first) {
      frame.calls = ended.slice(first);
      ended.length = first;
    }
    if (outputLength > 0 && (exception === 0 || exception === REVERT)) {
      grow(2 * outputLength);
      bytes.add(frame, 'output', record.bytes, record.outputAt, outputLength);
    }
    if (exception !== 0) failed(frame, record, grow);
    ended.push(frame);
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
        const frame = owners[i]!;
        if (frame === HIDDEN) continue;
        grow(jsonLength(1, logBytes(log)));
        const shown = new ShownLog(log, firstLogIndex + i, onlyTopCall ? 0 : positions[i]!);
        if (log.data.length > 0) bytes.add(shown, 'data', log.data, 0, log.data.length);
        frame.logs ??= NO_LOGS.slice();
        frame.logs.push(shown);
      }
      bytes.end();
      return root;
    },
  };
}

const difference = (gas: TracedGas, left: TracedGas): TracedGas =>
  typeof gas === 'number' && typeof left === 'number' ? gas - left : BigInt(gas) - BigInt(left);

function frameOf(record: TraceEnter): CallFrame {
  const { op, gas, callerText, calleeText } = record;
  const { name } = opcodeOf(op)!;
  const value = name === 'STATICCALL' ? undefined : record.valueText;
  return new Frame(name, callerText, calleeText, quantityText(gas), value);
}

function failed(frame: CallFrame, record: TraceLeave, grow: Grow): void {
  frame.error = failureText(record)!;
  if (isCreation(frame.type)) delete frame.to;
  if (record.exception !== REVERT) return;
  const { bytes, outputAt, outputLength } = record;
  const reason = solidityReason(bytes.subarray(outputAt, outputAt + outputLength));
  if (reason === undefined) return;
  grow(reason.length);
  frame.revertReason = reason;
}
