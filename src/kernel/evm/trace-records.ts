import type { Hex } from '../../primitives/hex.js';
import { knownHex } from '../../primitives/known-hex.js';
import { RESULT } from './evm-exports.js';
import type { EvmMemory } from './evm-memory.js';
import type { TraceEnter, TraceLeave, TraceRecord, TraceStep } from './evm-types.js';

/** Kinds of trace records, and offsets in them (assembly/evm/trace.ts). */
const TRACE = { enter: 1, leave: 2, step: 3 } as const;
const ENTER = {
  op: 8,
  depth: 12,
  gas: 16,
  logs: 24,
  caller: 28,
  callee: 48,
  length: 68,
  value: 72,
  input: 104,
} as const;
const LEAVE = { exception: 8, depth: 12, gas: 16, logs: 24, pc: 28, op: 32, items: 36, output: 40 } as const;
const STEP = {
  pc: 8,
  op: 12,
  gas: 16,
  depth: 24,
  items: 28,
  memory: 32,
  returned: 36,
  refund: 40,
  stack: 48,
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
  // One object each for all records: there are many, and a tracer needs few of their members.
  const [enter, leave] = [new Enter(memory), new Leave(memory)];
  while (at < end) {
    const kind = memory.u32(at);
    const bytes = memory.u32(at + 4);
    visit(kind === TRACE.enter ? enter.move(at) : kind === TRACE.leave ? leave.move(at, bytes) : readStep(memory, at));
    at += (bytes + 7) & ~7;
  }
  return true;
}

class Enter implements TraceEnter {
  readonly kind = 'enter';

  private at = 0;

  constructor(private readonly memory: EvmMemory) {}

  move(at: number): this {
    this.at = at;
    return this;
  }

  get op(): number {
    return this.memory.u32(this.at + ENTER.op);
  }

  get depth(): number {
    return this.memory.u32(this.at + ENTER.depth);
  }

  get gas(): bigint {
    return this.memory.i64(this.at + ENTER.gas);
  }

  get logs(): number {
    return this.memory.u32(this.at + ENTER.logs);
  }

  get caller(): Uint8Array {
    return this.memory.copy(this.at + ENTER.caller, 20);
  }

  get callee(): Uint8Array {
    return this.memory.copy(this.at + ENTER.callee, 20);
  }

  get callerText(): Hex {
    return knownHex(this.memory.bytes, this.at + ENTER.caller, 20);
  }

  get calleeText(): Hex {
    return knownHex(this.memory.bytes, this.at + ENTER.callee, 20);
  }

  get value(): bigint {
    return this.memory.word(this.at + ENTER.value);
  }

  get inputLength(): number {
    return this.memory.u32(this.at + ENTER.length);
  }

  get input(): Uint8Array {
    return this.memory.bytes.subarray(this.at + ENTER.input, this.at + ENTER.input + this.inputLength);
  }
}

class Leave implements TraceLeave {
  readonly kind = 'leave';

  private at = 0;
  private size = 0;

  constructor(private readonly memory: EvmMemory) {}

  move(at: number, size: number): this {
    this.at = at;
    this.size = size;
    return this;
  }

  get exception(): number {
    return this.memory.u32(this.at + LEAVE.exception);
  }

  get depth(): number {
    return this.memory.u32(this.at + LEAVE.depth);
  }

  get gasLeft(): bigint {
    return this.memory.i64(this.at + LEAVE.gas);
  }

  get logs(): number {
    return this.memory.u32(this.at + LEAVE.logs);
  }

  get pc(): number {
    return this.memory.u32(this.at + LEAVE.pc);
  }

  get op(): number {
    return this.memory.u32(this.at + LEAVE.op);
  }

  get stackItems(): number {
    return this.memory.u32(this.at + LEAVE.items);
  }

  get outputLength(): number {
    return this.size - LEAVE.output;
  }

  get output(): Uint8Array {
    return this.memory.bytes.subarray(this.at + LEAVE.output, this.at + this.size);
  }
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
    stack: Array.from({ length: items }, (_, i) => memory.copy(at + STEP.stack + 32 * i, 32)),
    memory: memory.copy(memoryAt, memoryBytes),
    returnData: memory.copy(memoryAt + memoryBytes, memory.u32(at + STEP.returned)),
  };
}
