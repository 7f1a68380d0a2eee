import { jsonLength, type Log, logBytes } from '../../ethereum/receipt.js';
import { FLAGS, type TracedGas, type TraceEnter, type TraceLeave, type TraceRecord } from '../../kernel/evm.js';
import { copyBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex, writeHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { failureText, opcodeOf } from './opcodes.js';
import { solidityReason } from './solidity-reason.js';
import type { CallFrame, FrameLog, Grow, TracedInclusion, TracedTransaction, Tracer } from './tracer.js';

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

type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * A constructor of plain objects. V8 notes for each object literal how long its objects live, and may put those of a large tree
 * among the old ones at once, where they stay until the whole heap is collected. It does not for constructors.
 */
function plain<Given extends unknown[], Made>(fill: (this: Draft<Made>, ...given: Given) => void) {
  fill.prototype = Object.prototype;
  return fill as unknown as new (
    ...given: Given
  ) => Made;
}

/** A frame; gas used and bytes come later. */
export const Frame = plain<[type: string, from: Hex, to: Hex, gas: Hex, value: Hex | undefined], CallFrame>(
  function (type, from, to, gas, value) {
    this.type = type;
    this.from = from;
    this.to = to;
    this.gas = gas;
    this.gasUsed = '0x0';
    this.input = '0x';
    if (value !== undefined) this.value = value;
  },
);

/** A log without its data. */
export const ShownLog = plain<[log: Log, index: number, position: number], FrameLog>(function (log, index, position) {
  this.address = knownHex(log.address);
  this.topics = log.topics.map((topic) => knownHex(topic));
  this.data = '0x';
  this.index = quantityText(index);
  this.position = quantityText(position);
});

/** Numbers below this have a text that is held, as a quantity and as the three lowest digits of a larger number. */
const HELD = 4_096;
const QUANTITIES = new Array<Hex | undefined>(HELD);
const LOWEST = new Array<string | undefined>(HELD);

/** Of the last large number, all but its three lowest digits. The gas of one call is near that of the next. */
let high = 0;
let highText: Hex = '0x0';

/** As `toQuantity`, for many numbers: joining texts that are held takes less time than making the digits. */
function quantityText(value: number | bigint): Hex {
  if (typeof value === 'bigint') return toQuantity(value);
  if (value < HELD) {
    QUANTITIES[value] ??= toQuantity(value);
    return QUANTITIES[value];
  }
  const rest = Math.floor(value / HELD);
  const last = value - HELD * rest;
  LOWEST[last] ??= last.toString(16).padStart(3, '0');
  const lowest = LOWEST[last];
  if (rest < HELD) return `${quantityText(rest)}${lowest}`;
  if (rest !== high) {
    highText = quantityText(rest);
    high = rest;
  }
  return `${highText}${lowest}`;
}

/** Texts that were made, by some bits of their last bytes. */
const KNOWN = new Array<{ readonly bytes: Uint8Array; readonly text: Hex } | undefined>(512);

/**
 * As `bytesToHex`, for bytes that often come again, such as the addresses and topics of one transaction: a text is made and held
 * once.
 *
 * @param start - of the first of `length` bytes, at least 4
 */
function knownHex(bytes: Uint8Array, start = 0, length: number = bytes.length): Hex {
  const end = start + length;
  const place = (bytes[end - 1]! ^ (bytes[end - 2]! << 3) ^ (bytes[start]! << 5) ^ bytes[start + 3]!) & 511;
  const known = KNOWN[place];
  if (known !== undefined && known.bytes.length === length) {
    let i = 0;
    while (i < length && known.bytes[i] === bytes[start + i]) i++;
    if (i === length) return known.text;
  }
  const copy = copyBytes(bytes, start, end);
  const text = bytesToHex(copy);
  KNOWN[place] = { bytes: copy, text };
  return text;
}

/** Options of `flatCallTracer`. */
export interface FlatCallTracerOptions {
  /** Errors in the words of Parity. */
  readonly convertParityErrors?: boolean;
  /** Also calls of precompiles from inside. */
  readonly includePrecompiles?: boolean;
}

/** One frame, as Parity's traces have it. */
interface FlatFrame {
  readonly action: Readonly<Record<string, Hex | string | undefined>>;
  readonly blockHash: Hex | null;
  readonly blockNumber: number;
  readonly error?: string;
  readonly result?: Readonly<Record<string, Hex | undefined>>;
  readonly subtraces: number;
  readonly traceAddress: readonly number[];
  readonly transactionHash: Hex | null;
  readonly transactionPosition: number;
  readonly type: 'call' | 'create' | 'suicide';
}

/** JSON of an entry beside the frame that it shows. */
const ENTRY_CHARACTERS = 400;
/** Of a call that no block includes. */
const NOWHERE: TracedInclusion = { blockHash: null, blockNumber: 0, transactionHash: null, index: 0 };
const REVERTED = 'execution reverted';

const PARITY_ERRORS: Readonly<Record<string, string>> = {
  'contract creation code storage out of gas': 'Out of gas',
  'out of gas': 'Out of gas',
  'gas uint64 overflow': 'Out of gas',
  'max code size exceeded': 'Out of gas',
  'invalid jump destination': 'Bad jump destination',
  [REVERTED]: 'Reverted',
  'return data out of bounds': 'Out of bounds',
  'stack limit reached 1024 (1023)': 'Out of stack',
  'precompile failed': 'Built-in failed',
};
const PARITY_BEGINNINGS: readonly (readonly [beginning: string, error: string])[] = [
  ['out of gas:', 'Out of gas'],
  ['invalid opcode:', 'Bad instruction'],
  ['stack underflow', 'Stack underflow'],
];

/**
 * The tree of calls as a list, depth first.
 *
 * @param isPrecompile - of an address in lower case
 * @source ethereum/go-ethereum@02b73d4ea7 eth/tracers/native/call_flat.go
 */
export function flatCallTracer(isPrecompile: (address: Hex) => boolean, options: FlatCallTracerOptions = {}): Tracer {
  const inner = callTracer();
  return {
    ...inner,
    result(traced: TracedTransaction, grow) {
      const flat: FlatFrame[] = [];
      const tree = inner.result(traced, grow) as CallFrame;
      addFrames(flat, tree, [], { ...options, isPrecompile, grow, on: traced.included ?? NOWHERE });
      return flat;
    },
  };
}

interface Flattening extends FlatCallTracerOptions {
  readonly isPrecompile: (address: Hex) => boolean;
  readonly on: TracedInclusion;
  readonly grow: Grow;
}

/** Adds a frame and those below it, without recursion: frames may be 1024 deep. */
function addFrames(flat: FlatFrame[], root: CallFrame, at: readonly number[], how: Flattening): void {
  const { isPrecompile, includePrecompiles, grow } = how;
  const waiting: [frame: CallFrame, at: readonly number[]][] = [[root, at]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [frame, place] = next;
    const calls = (frame.calls ?? []).filter(
      ({ type, to }) =>
        includePrecompiles === true ||
        (type !== 'CALL' && type !== 'STATICCALL') ||
        to === undefined ||
        !isPrecompile(to),
    );
    grow(ENTRY_CHARACTERS + 4 * place.length);
    flat.push(flatFrame(frame, calls.length, place, how));
    for (let i = calls.length - 1; i >= 0; i--) waiting.push([calls[i]!, [...place, i]]);
  }
}

function flatFrame(
  frame: CallFrame,
  subtraces: number,
  traceAddress: readonly number[],
  { on, convertParityErrors }: Flattening,
): FlatFrame {
  const { error } = frame;
  // What a revert returns has its reason; of other failures there is no result.
  const hasResult = frame.type !== 'SELFDESTRUCT' && (error === undefined || error === REVERTED);
  return {
    action: actionOf(frame),
    blockHash: on.blockHash,
    blockNumber: on.blockNumber,
    ...(error !== undefined && { error: convertParityErrors === true ? inParitysWords(error) : error }),
    ...(hasResult && { result: resultOf(frame) }),
    subtraces,
    traceAddress,
    transactionHash: on.transactionHash,
    transactionPosition: on.index,
    type: frame.type === 'SELFDESTRUCT' ? 'suicide' : isCreation(frame.type) ? 'create' : 'call',
  };
}

function actionOf(frame: CallFrame): FlatFrame['action'] {
  const { type, from, to, gas, input } = frame;
  // A static call has no value, and this tracer shows zero.
  const { value = '0x0' } = frame;
  if (type === 'SELFDESTRUCT') return { address: from, balance: frame.value, refundAddress: to };
  if (isCreation(frame.type)) return { creationMethod: type.toLowerCase(), from, gas, init: input, value };
  return { callType: type.toLowerCase(), from, gas, input, to, value };
}

function resultOf(frame: CallFrame): NonNullable<FlatFrame['result']> {
  const { to, gasUsed, output = '0x' } = frame;
  if (!isCreation(frame.type)) return { gasUsed, output };
  return { ...(to !== undefined && { address: to }), code: output, gasUsed };
}

function inParitysWords(error: string): string {
  return PARITY_ERRORS[error] ?? PARITY_BEGINNINGS.find(([beginning]) => error.startsWith(beginning))?.[1] ?? error;
}
