import { allocate, enlarge } from './allocator';
import { isZero } from './word';

/**
 * Frame record, 208 bytes:
 *
 *   +0 next instruction u32 | +4 top of stack u32 | +8 first of stack u32 | +12 code u32 | +16 code length u32
 *   +20 jump destinations u32 | +24 code record u32 (0: init code) | +28 account u32 | +32 gas i64 | +40 flags u32
 *   +44 out offset u32 | +48 value | +80 caller (20) | +100 out length u32 | +104 input u32 | +108 input length u32
 *   +112 memory u32 | +116 memory size u32 | +120 journal mark u32 | +124 log mark u32 | +128 log count u32
 *   +132 precompile u32 | +136 refund i64 | +144 gas at the start i64 | +152 need i64 | +160 spent by the caller i64
 *   +168 passed on i64 | +176 spilled i64 | +184 reservoir at the start i64 | +192 state gas used at the start i64
 *
 * Stack and memory places are relative to their arenas, which may move. `need`, `spent` and `passed on` are for the gas
 * path (gas-path.ts), the three after them for state gas (state-gas.ts).
 */
export const FRAME_PC: usize = 0;
export const FRAME_TOP: usize = 4;
export const FRAME_FIRST: usize = 8;
export const FRAME_CODE: usize = 12;
export const FRAME_CODE_LENGTH: usize = 16;
export const FRAME_JUMPS: usize = 20;
export const FRAME_CODE_RECORD: usize = 24;
export const FRAME_ACCOUNT: usize = 28;
export const FRAME_GAS: usize = 32;
export const FRAME_FLAGS: usize = 40;
export const FRAME_OUT: usize = 44;
export const FRAME_VALUE: usize = 48;
export const FRAME_CALLER: usize = 80;
export const FRAME_OUT_LENGTH: usize = 100;
export const FRAME_INPUT: usize = 104;
export const FRAME_INPUT_LENGTH: usize = 108;
export const FRAME_MEMORY: usize = 112;
export const FRAME_MEMORY_SIZE: usize = 116;
export const FRAME_JOURNAL: usize = 120;
export const FRAME_LOGS: usize = 124;
export const FRAME_LOG_COUNT: usize = 128;
export const FRAME_PRECOMPILE: usize = 132;
export const FRAME_REFUND: usize = 136;
export const FRAME_START_GAS: usize = 144;
export const FRAME_NEED: usize = 152;
export const FRAME_SPENT: usize = 160;
export const FRAME_PASSED_ON: usize = 168;
export const FRAME_SPILLED: usize = 176;
export const FRAME_RESERVOIR: usize = 184;
export const FRAME_STATE_USED: usize = 192;
export const FRAME_BYTES: usize = 208;

export const STATIC: u32 = 1;
export const CREATION: u32 = 2;
/** The caller was charged for the account as a new one. */
export const NEW_ACCOUNT: u32 = 4;

/** Stands for the transaction, as the caller of the outermost frame. It has what was spilled before that frame. */
export const TRANSACTION_FRAME: usize = memory.data(FRAME_BYTES, 16);

/** Deepest call: frames 0 to 1 024. */
export const MAX_DEPTH: i32 = 1024;

const STACK_BYTES: usize = 1024 * 32;

let frames: usize = 0;
/** Depth of the current frame; −1 outside of a run. */
export let depth: i32 = -1;
/** The current frame. */
export let frame: usize = 0;

export let stackArena: usize = 0;
let stackCapacity: usize = 0;

export let memoryArena: usize = 0;
let memoryCapacity: usize = 0;

/** A new innermost frame, filled with zeros. */
export function pushFrame(): usize {
  if (frames === 0) frames = allocate((<usize>MAX_DEPTH + 1) * FRAME_BYTES);
  depth++;
  frame = frames + <usize>depth * FRAME_BYTES;
  memory.fill(frame, 0, FRAME_BYTES);
  return frame;
}

/** Leaves the innermost frame. */
export function popFrame(): void {
  depth--;
  frame = depth < 0 ? 0 : frames + <usize>depth * FRAME_BYTES;
}

export function dropFrames(): void {
  depth = -1;
  frame = 0;
}

/** Makes room for a whole stack from this place on. */
export function reserveStack(first: u32): void {
  const end = <usize>first + STACK_BYTES + 64;
  if (end <= stackCapacity) return;
  const wanted = max(end, stackCapacity << 1);
  stackArena = stackCapacity === 0 ? allocate(wanted) : enlarge(stackArena, stackCapacity, <usize>first, wanted);
  stackCapacity = wanted;
}

/** Makes room for memory up to this place of the arena; the new part is filled with zeros. */
export function reserveMemory(from: usize, end: usize): void {
  if (end > memoryCapacity) {
    const wanted = max(max(end, memoryCapacity << 1), 65536);
    memoryArena = memoryCapacity === 0 ? allocate(wanted) : enlarge(memoryArena, memoryCapacity, from, wanted);
    memoryCapacity = wanted;
  }
  memory.fill(memoryArena + from, 0, end - from);
}

const WORD_GAS: u64 = 3;
const QUADRATIC: u64 = 512;

function priceOfMemory(words: u64): u64 {
  return words * WORD_GAS + (words * words) / QUADRATIC;
}

/**
 * Gas to enlarge memory of `size` bytes up to `end`.
 *
 * @param end - below 2^33
 */
export function memoryGas(size: u64, end: u64): i64 {
  return <i64>(priceOfMemory((end + 31) >> 5) - priceOfMemory(size >> 5));
}

/** Enlarges the memory of the current frame. @returns its new size */
export function growMemory(size: u64, end: u64): u64 {
  const larger = (end + 31) & ~31;
  const base = <usize>load<u32>(frame, FRAME_MEMORY);
  reserveMemory(base + <usize>size, base + <usize>larger);
  store<u32>(frame, <u32>larger, FRAME_MEMORY_SIZE);
  return larger;
}

/** Gas that the transaction will give back, if it does not fail. */
export let refund: i64 = 0;

export function setRefund(gas: i64): void {
  refund = gas;
}

/** Larger than any memory that gas can pay for. */
export const TOO_FAR: u64 = 1 << 33;

/** End of a region of memory, given by two words; 0 if it is empty, `TOO_FAR` if no gas can pay for it. */
export function regionEnd(offset: usize, length: usize): u64 {
  if (isZero(length)) return 0;
  if ((load<u64>(length, 8) | load<u64>(length, 16) | load<u64>(length, 24)) !== 0) return TOO_FAR;
  if ((load<u64>(offset, 8) | load<u64>(offset, 16) | load<u64>(offset, 24)) !== 0) return TOO_FAR;
  const from = load<u64>(offset);
  const bytes = load<u64>(length);
  if (from >= 1 << 32 || bytes >= 1 << 32) return TOO_FAR;
  return from + bytes;
}

/** Stores what an instruction leaves: its successor, gas, and the place of the top of the stack. */
export function advance(gas: i64, top: usize): void {
  store<u32>(frame, load<u32>(frame, FRAME_PC) + 1, FRAME_PC);
  store<i64>(frame, gas, FRAME_GAS);
  store<u32>(frame, <u32>(top - stackArena), FRAME_TOP);
}
