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

/** What was recorded since the trace was last emptied. */
export function readTrace(memory: EvmMemory): TraceRecord[] {
  const records: TraceRecord[] = [];
  let at = memory.u32(memory.result + RESULT.trace);
  const end = at + memory.u32(memory.result + RESULT.traceBytes);
  while (at < end) {
    const kind = memory.u32(at);
    const bytes = memory.u32(at + 4);
    const read = kind === TRACE.enter ? readEnter : kind === TRACE.leave ? readLeave : readStep;
    records.push(read(memory, at, bytes));
    at += (bytes + 7) & ~7;
  }
  return records;
}

function readEnter(memory: EvmMemory, at: number): TraceEnter {
  return {
    kind: 'enter',
    op: memory.u32(at + ENTER.op),
    depth: memory.u32(at + ENTER.depth),
    gas: memory.i64(at + ENTER.gas),
    logs: memory.u32(at + ENTER.logs),
    caller: memory.copy(at + ENTER.caller, 20),
    callee: memory.copy(at + ENTER.callee, 20),
    value: memory.word(at + ENTER.value),
    input: memory.copy(at + ENTER.input, memory.u32(at + ENTER.length)),
  };
}

function readLeave(memory: EvmMemory, at: number, bytes: number): TraceLeave {
  return {
    kind: 'leave',
    exception: memory.u32(at + LEAVE.exception),
    depth: memory.u32(at + LEAVE.depth),
    gasLeft: memory.i64(at + LEAVE.gas),
    logs: memory.u32(at + LEAVE.logs),
    pc: memory.u32(at + LEAVE.pc),
    op: memory.u32(at + LEAVE.op),
    stackItems: memory.u32(at + LEAVE.items),
    output: memory.copy(at + LEAVE.output, bytes - LEAVE.output),
  };
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
