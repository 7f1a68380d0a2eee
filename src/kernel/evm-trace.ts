import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import {
  type EvmMemory,
  RESULT,
  type TracedGas,
  type TraceEnter,
  type TraceLeave,
  type TraceRecord,
  type TraceStep,
} from './evm.js';

/** Kinds of trace records, and offsets in them (assembly/evm/trace.ts). */
const TRACE = { enter: 1, leave: 2, step: 3 } as const;
const CALL = { depth: 12, gas: 16, logs: 24 } as const;
const ENTER = { op: 8, caller: 28, callee: 48, length: 68, value: 72, input: 104 } as const;
const LEAVE = {
  exception: 8,
  pc: 28,
  op: 32,
  items: 36,
  rest: 40,
  refund: 48,
  memory: 56,
  immediate: 60,
  state: 64,
  output: 72,
} as const;
const STEP = {
  pc: 8,
  op: 12,
  gas: 16,
  depth: 24,
  items: 28,
  memory: 32,
  returned: 36,
  refund: 40,
  state: 48,
  stack: 56,
} as const;

/**
 * Shows what was recorded since the trace was last emptied.
 *
 * @param visit - a call's record, and what it gives of bytes, is good until this returns
 * @returns whether there was anything
 */
export function readTrace(memory: EvmMemory, visit: (record: TraceRecord) => void): boolean {
  let at = memory.u32(memory.result + RESULT.trace);
  const end = at + memory.u32(memory.result + RESULT.traceBytes);
  if (at === end) return false;
  const words = new Uint32Array(memory.bytes.buffer);
  // One object each for all records: there are many, and a tracer needs few of their members.
  const [enter, leave] = [new Enter(memory, words), new Leave(memory, words)];
  while (at < end) {
    const kind = words[at >>> 2];
    const bytes = words[(at >>> 2) + 1]!;
    visit(kind === TRACE.enter ? enter.move(at) : kind === TRACE.leave ? leave.move(at, bytes) : readStep(memory, at));
    at += (bytes + 7) & ~7;
  }
  return true;
}

/** A record of a call, at a multiple of 8 bytes. What every tracer of calls needs is a field, read once; getters read the rest. */
class CallRecord {
  depth = 0;
  gas: TracedGas = 0;
  logs = 0;
  protected at = 0;

  constructor(
    protected readonly memory: EvmMemory,
    protected readonly words: Uint32Array,
  ) {}

  get bytes(): Uint8Array {
    return this.memory.bytes;
  }

  /** @param offset - a multiple of four */
  protected word(offset: number): number {
    return this.words[(this.at + offset) >>> 2]!;
  }

  protected begin(at: number): void {
    this.at = at;
    this.depth = this.word(CALL.depth);
    const high = this.word(CALL.gas + 4);
    this.gas = high < 2 ** 21 ? high * 2 ** 32 + this.word(CALL.gas) : this.memory.i64(at + CALL.gas);
    this.logs = this.word(CALL.logs);
  }
}

class Enter extends CallRecord implements TraceEnter {
  readonly kind = 'enter';
  op = 0;
  inputAt = 0;
  inputLength = 0;

  move(at: number): this {
    this.begin(at);
    this.op = this.word(ENTER.op);
    this.inputAt = at + ENTER.input;
    this.inputLength = this.word(ENTER.length);
    return this;
  }

  get caller(): Uint8Array {
    return this.memory.copy(this.at + ENTER.caller, 20);
  }

  get callee(): Uint8Array {
    return this.memory.copy(this.at + ENTER.callee, 20);
  }

  get callerText(): Hex {
    return addressText(this.words, (this.at + ENTER.caller) >>> 2);
  }

  get calleeText(): Hex {
    return addressText(this.words, (this.at + ENTER.callee) >>> 2);
  }

  get valueText(): Hex {
    const { words } = this;
    const at = (this.at + ENTER.value) >>> 2;
    const low = words[at + 4]! | words[at + 5]! | words[at + 6]! | words[at + 7]!;
    const bits = low | words[at]! | words[at + 1]! | words[at + 2]! | words[at + 3]!;
    return bits === 0 ? '0x0' : toQuantity(this.memory.word(this.at + ENTER.value));
  }
}

class Leave extends CallRecord implements TraceLeave {
  readonly kind = 'leave';
  exception = 0;
  outputAt = 0;
  outputLength = 0;

  move(at: number, size: number): this {
    this.begin(at);
    this.exception = this.word(LEAVE.exception);
    this.outputAt = at + LEAVE.output;
    this.outputLength = size - LEAVE.output;
    return this;
  }

  get pc(): number {
    return this.word(LEAVE.pc);
  }

  get op(): number {
    return this.word(LEAVE.op);
  }

  get stackItems(): number {
    return this.word(LEAVE.items);
  }

  get rest(): bigint {
    return BigInt.asIntN(64, this.memory.i64(this.at + LEAVE.rest));
  }

  get refund(): bigint {
    return this.memory.i64(this.at + LEAVE.refund);
  }

  get memoryBytes(): number {
    return this.word(LEAVE.memory);
  }

  get immediate(): number | undefined {
    const shown = this.word(LEAVE.immediate);
    return shown === 0 ? undefined : shown - 256;
  }

  get stateGas(): bigint {
    return this.memory.i64(this.at + LEAVE.state);
  }
}

/** Addresses whose text was made, five words each, by some bits of their words. The same few come in most of the frames. */
const ADDRESSES = new Uint32Array(5 * 256);
const ADDRESS_TEXTS = new Array<Hex | undefined>(256);

function addressText(words: Uint32Array, at: number): Hex {
  const [first, last] = [words[at]!, words[at + 4]!];
  const place = (first ^ last ^ (last >>> 24)) & 255;
  const known = 5 * place;
  if (
    ADDRESSES[known] === first &&
    ADDRESSES[known + 1] === words[at + 1] &&
    ADDRESSES[known + 2] === words[at + 2] &&
    ADDRESSES[known + 3] === words[at + 3] &&
    ADDRESSES[known + 4] === last
  ) {
    const text = ADDRESS_TEXTS[place];
    if (text !== undefined) return text;
  }
  ADDRESSES.set(words.subarray(at, at + 5), known);
  const text = bytesToHex(new Uint8Array(words.buffer, 4 * at, 20));
  ADDRESS_TEXTS[place] = text;
  return text;
}

function readStep(memory: EvmMemory, at: number): TraceStep {
  const items = memory.u32(at + STEP.items);
  const memoryAt = at + STEP.stack + 32 * items;
  const memoryBytes = memory.u32(at + STEP.memory);
  return {
    kind: 'step',
    pc: memory.u32(at + STEP.pc),
    op: memory.u32(at + STEP.op),
    gas: memory.i64(at + STEP.gas),
    depth: memory.u32(at + STEP.depth),
    refund: memory.i64(at + STEP.refund),
    stateGas: memory.i64(at + STEP.state),
    stack: Array.from({ length: items }, (_, i) => memory.copy(at + STEP.stack + 32 * i, 32)),
    memory: memory.copy(memoryAt, memoryBytes),
    returnData: memory.copy(memoryAt + memoryBytes, memory.u32(at + STEP.returned)),
  };
}
