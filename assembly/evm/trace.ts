import { allocate, enlarge } from './allocator';
import { AMSTERDAM, FORK } from './forks';
import {
  depth,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_FIRST,
  FRAME_GAS,
  FRAME_MEMORY,
  FRAME_MEMORY_SIZE,
  FRAME_PC,
  FRAME_SPILLED,
  FRAME_TOP,
  frame,
  memoryArena,
  refund,
  stackArena,
} from './frames';
import { logCount } from './logs';
import { RESULT_TRACE, RESULT_TRACE_BYTES } from './regions';
import { returnAt, returnLength } from './return-data';
import { takeRefused } from './state-gas';
import { copyAddress, toBytes } from './word';

/**
 * What a run did, for tracers: records one after another, each padded to 8 bytes. A record begins with its kind u32 and
 * its length u32, without padding. The host reads them when a run returns, and then empties the buffer.
 *
 *   1 enter   +8 instruction u32 | +12 depth u32 | +16 gas i64 | +24 log count u32 | +28 caller (20) | +48 callee (20) |
 *             +68 input length u32 | +72 value | +104 input
 *   2 leave   +8 exception u32 | +12 depth u32 | +16 gas left i64 | +24 log count u32 | +28 pc u32 | +32 instruction u32 |
 *             +36 stack items u32 | +40 rest i64 | +48 refund i64 | +56 memory bytes u32 | +60 immediate u32 | +64 state gas i64 |
 *             +72 output
 *   3 step    +8 pc u32 | +12 instruction u32 | +16 gas i64 | +24 depth u32 | +28 stack items u32 | +32 memory bytes u32 |
 *             +36 return data bytes u32 | +40 refund i64 | +48 state gas i64 | +56 stack, memory, return data
 *
 * A creation is entered with its init code as input. SELFDESTRUCT is a call without gas and input. The logs that are counted are
 * those that are still there. Pc, instruction and stack of `leave` are those of the instruction at which a frame with code ended.
 * The rest is the gas after that instruction, before the price of deployed code; of one that failed, what it would have left, below
 * zero if it lacked gas. The refund is that before the frame was taken back. Words of the stack are 32 bytes big-endian, the lowest first.
 * The immediate is the byte after the instruction, plus 256; zero before Amsterdam. State gas is what the frame has spent of its own gas
 * for the state, at `leave` with its end; of a frame that failed because it lacked such gas, what it would have spent.
 */
const ENTER: u32 = 1;
const LEAVE: u32 = 2;
const STEP: u32 = 3;

/** What is recorded: calls, instructions, and with them memory and return data. */
const CALLS: u32 = 2;
const STEPS: u32 = 4;
const MEMORY: u32 = 8;
const RETURN_DATA: u32 = 16;
/** Of all instructions, only those that name an account or a slot, with the topmost words of their stack. */
const STATE_ONLY: u32 = 32;
const TOPMOST: u32 = 5;

/** The run returns when the buffer has more bytes than this. */
const FULL: usize = 1 << 20;

export let tracesCalls: bool = false;
/** 256 if every instruction is recorded, else 0. */
export let stepMask: u32 = 0;
let withMemory: bool = false;
let withReturnData: bool = false;
let stateOnly: bool = false;

let buffer: usize = 0;
let capacity: usize = 0;
let used: usize = 0;

export function setTrace(flags: u32): void {
  tracesCalls = (flags & CALLS) !== 0;
  stepMask = (flags & STEPS) !== 0 ? 256 : 0;
  withMemory = (flags & MEMORY) !== 0;
  withReturnData = (flags & RETURN_DATA) !== 0;
  stateOnly = (flags & STATE_ONLY) !== 0;
  emptyTrace();
}

export function emptyTrace(): void {
  used = 0;
  showTrace();
}

export function showTrace(): void {
  store<u32>(RESULT_TRACE, <u32>buffer);
  store<u32>(RESULT_TRACE_BYTES, <u32>used);
}

export function isTraceFull(): bool {
  return used > FULL;
}

function add(kind: u32, bytes: usize): usize {
  const end = used + ((bytes + 7) & ~7);
  if (end > capacity) {
    const wanted = max(end, capacity << 1);
    buffer = capacity === 0 ? allocate(wanted) : enlarge(buffer, capacity, used, wanted);
    capacity = wanted;
  }
  const record = buffer + used;
  used = end;
  store<u32>(record, kind);
  store<u32>(record, <u32>bytes, 4);
  return record;
}

/**
 * @param op - instruction that makes the call; for the outermost CALL or CREATE
 * @param caller - 20 bytes
 * @param callee - 20 bytes
 * @param value - word
 * @param input - its address
 */
export function traceEnter(
  op: u32,
  level: i32,
  caller: usize,
  callee: usize,
  value: usize,
  gas: i64,
  input: usize,
  length: u32,
): void {
  const record = add(ENTER, 104 + <usize>length);
  store<u32>(record, op, 8);
  store<u32>(record, <u32>level, 12);
  store<i64>(record, gas, 16);
  store<u32>(record, logCount, 24);
  copyAddress(caller, record + 28);
  copyAddress(callee, record + 48);
  store<u32>(record, length, 68);
  toBytes(value, record + 72);
  if (length > 0) memory.copy(record + 104, input, length);
}

/** The output is in the return data. @param level - above that of the current frame for a call that opened none */
export function traceLeave(exception: i32, level: i32, gas: i64, rest: i64, earned: i64): void {
  const record = add(LEAVE, 72 + <usize>returnLength);
  const hasCode = level === depth && load<u32>(frame, FRAME_CODE_LENGTH) > 0;
  store<u32>(record, <u32>exception, 8);
  store<u32>(record, <u32>level, 12);
  store<i64>(record, gas, 16);
  store<u32>(record, logCount, 24);
  store<u32>(record, hasCode ? load<u32>(frame, FRAME_PC) - load<u32>(frame, FRAME_CODE) : 0, 28);
  store<u32>(record, hasCode ? <u32>load<u8>(<usize>load<u32>(frame, FRAME_PC)) : 0, 32);
  store<u32>(record, hasCode ? stackItems() : 0, 36);
  store<i64>(record, rest, 40);
  store<i64>(record, earned, 48);
  store<u32>(record, hasCode ? load<u32>(frame, FRAME_MEMORY_SIZE) : 0, 56);
  const immediate = FORK < AMSTERDAM ? 0 : hasCode ? 256 | <u32>load<u8>(<usize>load<u32>(frame, FRAME_PC) + 1) : 256;
  store<u32>(record, immediate, 60);
  const refused = takeRefused();
  store<i64>(record, exception !== 0 ? refused : level === depth ? load<i64>(frame, FRAME_SPILLED) : 0, 64);
  if (returnLength > 0) memory.copy(record + 72, returnAt(), returnLength);
}

function stackItems(): u32 {
  const first = stackArena + load<u32>(frame, FRAME_FIRST);
  return <u32>((stackArena + load<u32>(frame, FRAME_TOP) + 32 - first) >> 5);
}

/** Whether an instruction names an account or a slot. */
function namesState(op: u32): bool {
  switch (op) {
    case 0x31: // BALANCE
    case 0x3b: // EXTCODESIZE
    case 0x3c: // EXTCODECOPY
    case 0x3f: // EXTCODEHASH
    case 0x54: // SLOAD
    case 0x55: // SSTORE
    case 0xf1: // CALL
    case 0xf2: // CALLCODE
    case 0xf4: // DELEGATECALL
    case 0xfa: // STATICCALL
    case 0xff: // SELFDESTRUCT
      return true;
    default:
      return false;
  }
}

/** Records the instruction that the current frame is about to execute. The frame's registers are stored. */
export function traceStep(): void {
  const pc = <usize>load<u32>(frame, FRAME_PC);
  if (stateOnly && !namesState(load<u8>(pc))) return;
  const all = stackItems();
  const items = stateOnly ? min(all, TOPMOST) : all;
  const first = stackArena + load<u32>(frame, FRAME_TOP) + 32 - ((<usize>items) << 5);
  const memoryBytes = withMemory ? load<u32>(frame, FRAME_MEMORY_SIZE) : 0;
  const returned = withReturnData ? returnLength : 0;
  const record = add(STEP, 56 + ((<usize>items) << 5) + memoryBytes + returned);
  store<u32>(record, <u32>pc - load<u32>(frame, FRAME_CODE), 8);
  store<u32>(record, <u32>load<u8>(pc), 12);
  store<i64>(record, load<i64>(frame, FRAME_GAS), 16);
  store<u32>(record, <u32>depth, 24);
  store<u32>(record, items, 28);
  store<u32>(record, memoryBytes, 32);
  store<u32>(record, returned, 36);
  store<i64>(record, refund, 40);
  store<i64>(record, load<i64>(frame, FRAME_SPILLED), 48);
  let at = record + 56;
  for (let i: u32 = 0; i < items; i++) {
    toBytes(first + ((<usize>i) << 5), at);
    at += 32;
  }
  memory.copy(at, memoryArena + load<u32>(frame, FRAME_MEMORY), memoryBytes);
  memory.copy(at + memoryBytes, returnAt(), returned);
}
