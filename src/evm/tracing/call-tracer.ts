import { jsonLength, logBytes } from '../../ethereum/receipt.js';
import { FLAGS, type TracedGas, type TraceEnter, type TraceLeave, type TraceRecord } from '../../kernel/evm.js';
import { quantityText } from '../../primitives/held-text.js';
import { bytesToHex, type Hex, writeHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { CallFrame, FrameLog } from './call-frame.js';
import { failureText } from './failure-text.js';
import { opcodeOf } from './opcodes.js';
import { type Draft, Frame, ShownLog } from './plain-frames.js';
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

/** A frame or a log. */
type Holder = Partial<Draft<Pick<CallFrame & FrameLog, Member>>>;
type Member = 'input' | 'output' | 'data';

/** Pairs of characters of the first page, and of the largest. */
const FIRST_PAGE = 512;
const LARGEST_PAGE = 32_768;
const DECODER = new TextDecoder();
/** The page of the last trace that ended: to allocate one takes longer than to fill it. */
let spare: Uint16Array<ArrayBuffer> | undefined;

/** Bytes of the members of frames and logs that are given as hex. */
export interface FrameBytes {
  /** @param start - of the `length` bytes that count, which are read at once. The member is set when `end` is called, or before */
  add(holder: Holder, member: Member, bytes: Uint8Array, start: number, length: number): void;
  /** Sets what is not set yet. Nothing can be added afterwards. */
  end(): void;
}

/**
 * Makes texts a page at a time: a page is decoded as one text, from which the others are cut. An engine takes about as long to decode
 * the text of one word as to decode a page.
 */
export function frameBytes(): FrameBytes {
  let pairs = spare ?? new Uint16Array(FIRST_PAGE);
  spare = undefined;
  let used = 0;
  // Of the texts of this page.
  const holders: Holder[] = [];
  const members: Member[] = [];
  const ends: number[] = [];

  function setAll(): void {
    if (used === 0) return;
    const page = DECODER.decode(new Uint8Array(pairs.buffer, 0, 2 * used));
    let start = 0;
    for (let i = 0; i < ends.length; i++) {
      set(holders[i]!, members[i]!, page.substring(2 * start, 2 * ends[i]!) as Hex);
      start = ends[i]!;
    }
    holders.length = 0;
    members.length = 0;
    ends.length = 0;
    used = 0;
  }

  return {
    add(holder, member, bytes, start, length) {
      if (used + length >= pairs.length) {
        setAll();
        if (length >= LARGEST_PAGE) return set(holder, member, bytesToHex(bytes.subarray(start, start + length)));
        const wanted = Math.max(FIRST_PAGE, length + 1, Math.min(4 * pairs.length, LARGEST_PAGE));
        if (wanted > pairs.length) pairs = new Uint16Array(wanted);
      }
      writeHex(bytes, start, length, pairs, used);
      used += length + 1;
      holders.push(holder);
      members.push(member);
      ends.push(used);
    },
    end() {
      setAll();
      spare = pairs;
    },
  };
}

function set(holder: Holder, member: Member, text: Hex): void {
  if (member === 'input') holder.input = text;
  else if (member === 'output') holder.output = text;
  else holder.data = text;
}
