import { CODE_BYTES, CODE_JUMPS, CODE_LENGTH } from './codes';
import { leave } from './ending';
import { NONE } from './exceptions';
import {
  FRAME_ACCOUNT,
  FRAME_CALLER,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_CODE_RECORD,
  FRAME_FIRST,
  FRAME_GAS,
  FRAME_INPUT,
  FRAME_INPUT_LENGTH,
  FRAME_JOURNAL,
  FRAME_JUMPS,
  FRAME_LOG_COUNT,
  FRAME_LOGS,
  FRAME_MEMORY,
  FRAME_MEMORY_SIZE,
  FRAME_PC,
  FRAME_PRECOMPILE,
  FRAME_REFUND,
  FRAME_RESERVOIR,
  FRAME_START_GAS,
  FRAME_STATE_USED,
  FRAME_TOP,
  FRAME_VALUE,
  frame,
  memoryArena,
  pushFrame,
  refund,
  reserveStack,
} from './frames';
import { journalMark } from './journal';
import { logBytes, logCount, logTransfer } from './logs';
import { countFrame, passSlice } from './progress';
import {
  GO_ON,
  PRECOMPILE,
  RESULT_INPUT,
  RESULT_INPUT_BYTES,
  RESULT_PRECOMPILE,
  RESULT_PRECOMPILE_GAS,
} from './regions';
import { setReturn } from './return-data';
import { touch, transfer } from './state';
import { reservoir, stateUsed } from './state-gas';

const IDENTITY: u32 = 4;
const IDENTITY_GAS: i64 = 15;
const IDENTITY_WORD_GAS: i64 = 3;

/** Opens a frame inside the current one, or the outermost, whose memory begins at `first` of the arena. */
export function openFrame(account: usize, gas: i64, first: u32 = 0): usize {
  const caller = frame;
  let stack: u32 = 32;
  if (caller !== 0) {
    stack = load<u32>(caller, FRAME_TOP) + 32;
    first = load<u32>(caller, FRAME_MEMORY) + load<u32>(caller, FRAME_MEMORY_SIZE);
    passSlice(load<i64>(caller, FRAME_GAS) + gas, gas);
  }
  reserveStack(stack);
  const child = pushFrame();
  countFrame();
  store<u32>(child, stack - 32, FRAME_TOP);
  store<u32>(child, stack, FRAME_FIRST);
  store<u32>(child, <u32>account, FRAME_ACCOUNT);
  store<i64>(child, gas, FRAME_GAS);
  store<i64>(child, gas, FRAME_START_GAS);
  store<u32>(child, first, FRAME_MEMORY);
  store<u32>(child, <u32>journalMark(), FRAME_JOURNAL);
  store<u32>(child, logBytes, FRAME_LOGS);
  store<u32>(child, logCount, FRAME_LOG_COUNT);
  store<i64>(child, refund, FRAME_REFUND);
  store<i64>(child, reservoir, FRAME_RESERVOIR);
  store<i64>(child, stateUsed, FRAME_STATE_USED);
  return child;
}

/** Moves the frame's value. @param sender - account; 0: nothing is moved */
function pay(child: usize, sender: usize, touches: bool): void {
  const account = <usize>load<u32>(child, FRAME_ACCOUNT);
  if (sender !== 0) {
    transfer(sender, account, child + FRAME_VALUE);
    logTransfer(child + FRAME_CALLER, account, child + FRAME_VALUE);
  } else if (touches) touch(account);
}

/** Starts the code of a frame. @param code - code record */
export function enterCode(child: usize, code: usize, sender: usize, touches: bool): i32 {
  pay(child, sender, touches);
  const length = load<u32>(code, CODE_LENGTH);
  if (length === 0) return leave(NONE);
  store<u32>(child, load<u32>(code, CODE_BYTES), FRAME_CODE);
  store<u32>(child, load<u32>(code, CODE_BYTES), FRAME_PC);
  store<u32>(child, length, FRAME_CODE_LENGTH);
  store<u32>(child, load<u32>(code, CODE_JUMPS), FRAME_JUMPS);
  store<u32>(child, <u32>code, FRAME_CODE_RECORD);
  return GO_ON;
}

/** Runs a precompile: the identity here, others by the host. */
export function enterPrecompile(child: usize, id: u32, sender: usize, touches: bool): i32 {
  pay(child, sender, touches);
  const input = memoryArena + load<u32>(child, FRAME_INPUT);
  const length = load<u32>(child, FRAME_INPUT_LENGTH);
  if (id === IDENTITY) {
    const price = IDENTITY_GAS + IDENTITY_WORD_GAS * <i64>((<u64>length + 31) >> 5);
    const left = load<i64>(child, FRAME_GAS) - price;
    if (left >= 0) setReturn(input, length);
    store<i64>(child, left, FRAME_GAS);
    return leave(left < 0 ? 2 : NONE);
  }
  store<u32>(child, id, FRAME_PRECOMPILE);
  store<u32>(RESULT_PRECOMPILE, id);
  store<i64>(RESULT_PRECOMPILE_GAS, load<i64>(child, FRAME_GAS));
  store<u32>(RESULT_INPUT, <u32>input);
  store<u32>(RESULT_INPUT_BYTES, length);
  return PRECOMPILE;
}
