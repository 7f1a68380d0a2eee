import { INVALID_JUMP, INVALID_OPCODE, OUT_OF_GAS, STACK_OVERFLOW, STACK_UNDERFLOW } from './exceptions';
import { FORK } from './forks';

const NEVER: u8 = 255;
const JUMP: u32 = 0x56;
const JUMPI: u32 = 0x57;
const MOST_ITEMS: i32 = 1024;

/** First fork with each instruction; 255: none. */
const SINCE: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 14, 255, 0, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 5,
  0, 0, 0, 0, 0, 0, 7, 7, 9, 12, 12, 15, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 12, 12, 11, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 15, 15, 15, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0,
  1, 5, 255, 255, 255, 255, 4, 255, 255, 4, 255, 0,
]);

/** Stack items that each instruction takes. */
const TAKES: usize = memory.data<u8>([
  0, 2, 2, 2, 2, 2, 2, 2, 3, 3, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2, 2, 1, 0, 2, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 3, 0, 3, 0, 1, 4, 0, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
  0, 0, 1, 1, 2, 2, 1, 2, 1, 2, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  11, 12, 13, 14, 15, 16, 17, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 7, 7, 2, 6, 4, 0, 0, 0, 0, 6, 0, 0, 2, 0, 1,
]);

/** Whether the fork has an instruction. */
export function isDefined(op: u32): bool {
  const since = load<u8>(SINCE + op);
  return since !== NEVER && <i32>since <= FORK;
}

/** Whether the stack has what an instruction takes. */
export function hasOperands(op: u32, items: i32): bool {
  return items >= <i32>load<u8>(TAKES + op);
}

/** Why an instruction could not go on. @param items - on the stack */
export function reasonOf(op: u32, items: i32, gas: i64): i32 {
  if (!isDefined(op)) return INVALID_OPCODE;
  if (!hasOperands(op, items)) return STACK_UNDERFLOW;
  if (gas < 0) return OUT_OF_GAS;
  if (op === JUMP || op === JUMPI) return INVALID_JUMP;
  return (items === MOST_ITEMS && load<u8>(TAKES + op) === 0) || (op >= 0x80 && op <= 0x8f)
    ? STACK_OVERFLOW
    : OUT_OF_GAS;
}
