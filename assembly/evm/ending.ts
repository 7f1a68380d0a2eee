import { release } from './allocator';
import { addCode, codeSpace, jumpBytes, PADDING } from './codes';
import { CODE_STORE_OUT_OF_GAS, CODE_TOO_LARGE, INVALID_CODE, NONE, OUT_OF_GAS, REVERT } from './exceptions';
import {
  CODE_BYTE_GAS,
  CODE_BYTE_STATE,
  CODE_WORD_GAS,
  FORK,
  HOMESTEAD,
  LONDON,
  MAX_CODE_BYTES,
  NEW_ACCOUNT_STATE,
} from './forks';
import {
  CREATION,
  depth,
  FRAME_ACCOUNT,
  FRAME_BYTES,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_CODE_RECORD,
  FRAME_FLAGS,
  FRAME_GAS,
  FRAME_JOURNAL,
  FRAME_JUMPS,
  FRAME_LOG_COUNT,
  FRAME_LOGS,
  FRAME_MEMORY,
  FRAME_NEED,
  FRAME_OUT,
  FRAME_OUT_LENGTH,
  FRAME_PASSED_ON,
  FRAME_REFUND,
  FRAME_RESERVOIR,
  FRAME_SPENT,
  FRAME_SPILLED,
  FRAME_START_GAS,
  FRAME_STATE_USED,
  FRAME_TOP,
  frame,
  memoryArena,
  NEW_ACCOUNT,
  popFrame,
  refund,
  setRefund,
  stackArena,
  TRANSACTION_FRAME,
} from './frames';
import { conclusive, leftFor, requireGas, usedWith } from './gas-path';
import { setCode, undoTo } from './journal';
import { keccak256 } from './keccak';
import { cutLogs, logBytes, logCount, logsAt } from './logs';
import { countKeccak, environment, floor, frameCount, invalidOpcode, keccakBlocks, passSlice } from './progress';
import {
  DONE,
  GO_ON,
  RESULT_CREATED,
  RESULT_CREATED_ADDRESS,
  RESULT_ENVIRONMENT,
  RESULT_EXCEPTION,
  RESULT_FRAMES,
  RESULT_GAS,
  RESULT_KECCAK_BLOCKS,
  RESULT_LOG_BYTES,
  RESULT_LOG_COUNT,
  RESULT_LOGS,
  RESULT_OPCODE,
  RESULT_REFUND,
  RESULT_RESERVOIR,
  RESULT_RETURN,
  RESULT_RETURN_BYTES,
  RESULT_SPARE_GAS,
  RESULT_SPENT,
  RESULT_STATE_USED,
  RESULT_SUCCESS,
} from './regions';
import { clearReturn, returnAt, returnLength } from './return-data';
import { chargeState, joinState, refillState, reservoir, setStateGas, stateGranted, stateUsed } from './state-gas';
import { traceLeave, tracesCalls } from './trace';
import { copyAddress, fromBytes, setU64, zero } from './word';

const FORBIDDEN_FIRST_BYTE: u8 = 0xef;

const HASH: usize = memory.data(32, 16);
const ADDRESS: usize = memory.data(32, 16);

/** Gas that the failing instruction would have left, below zero if it lacked gas. Not set: that of the frame. */
let rest: i64 = i64.MIN_VALUE;

/** Ends the current frame at an instruction that lacks gas. @param left - what it would have left, for tracers */
export function outOfGas(left: i64): i32 {
  rest = left;
  return leave(OUT_OF_GAS);
}

/** As `leave`, for an instruction that is paid for and then fails. @param left - gas after it, for tracers */
export function leaveWith(exception: i32, left: i64): i32 {
  rest = left;
  return leave(exception);
}

/**
 * Ends the current frame; what it returns is in the return data.
 *
 * @returns `GO_ON` with the caller's frame, or `DONE`
 */
export function leave(exception: i32): i32 {
  const child = frame;
  const flags = load<u32>(child, FRAME_FLAGS);
  const isCreation = (flags & CREATION) !== 0;
  const unused = rest === i64.MIN_VALUE ? load<i64>(child, FRAME_GAS) : rest;
  rest = i64.MIN_VALUE;
  const earned = refund;
  if (isCreation && exception === NONE) exception = depositCode(child);
  const gas = load<i64>(child, FRAME_GAS);
  let left = gas;
  if (exception !== NONE) {
    undoTo(<usize>load<u32>(child, FRAME_JOURNAL));
    cutLogs(load<u32>(child, FRAME_LOGS), load<u32>(child, FRAME_LOG_COUNT));
    setRefund(load<i64>(child, FRAME_REFUND));
    left += load<i64>(child, FRAME_SPILLED);
    setStateGas(load<i64>(child, FRAME_RESERVOIR), load<i64>(child, FRAME_STATE_USED));
    if (exception !== REVERT) {
      left = 0;
      clearReturn();
    }
  }
  // The state gas of a frame that reverts comes back only at its end.
  closePath(child, exception === REVERT ? gas : left);
  if (tracesCalls) traceLeave(exception, depth, left, unused, earned);
  if (isCreation) releaseInitCode(child);
  popFrame();
  if (depth < 0) return report(child, exception, left);
  const caller = frame;
  let total = load<i64>(caller, FRAME_GAS) + left;
  passSlice(gas, total);
  if (exception === NONE) total = joinState(caller, child, total);
  else if ((flags & NEW_ACCOUNT) !== 0) total = refillState(caller, total, NEW_ACCOUNT_STATE);
  store<i64>(caller, total, FRAME_GAS);
  const result = load<u32>(caller, FRAME_TOP) + 32;
  store<u32>(caller, result, FRAME_TOP);
  const place = stackArena + result;
  if (exception !== NONE) zero(place);
  else if (isCreation) addressToWord(<usize>load<u32>(child, FRAME_ACCOUNT), place);
  else setU64(1, place);
  if (isCreation) {
    if (exception === NONE) clearReturn();
  } else {
    const out = memoryArena + load<u32>(caller, FRAME_MEMORY) + load<u32>(caller, FRAME_OUT);
    const count = min(load<u32>(caller, FRAME_OUT_LENGTH), returnLength);
    if (count > 0) memory.copy(out, returnAt(), count);
  }
  return GO_ON;
}

/** @param address - 20 bytes */
export function addressToWord(address: usize, out: usize): void {
  store<u64>(ADDRESS, 0);
  store<u32>(ADDRESS, 0, 8);
  copyAddress(address, ADDRESS + 12);
  fromBytes(ADDRESS, out);
}

/** Stores the code that a creation returned. @returns exception */
function depositCode(child: usize): i32 {
  const length = returnLength;
  if (FORK >= LONDON && length > 0 && load<u8>(returnAt()) === FORBIDDEN_FIRST_BYTE) return INVALID_CODE;
  if (length > <u32>MAX_CODE_BYTES) return CODE_TOO_LARGE;
  let left = load<i64>(child, FRAME_GAS) - CODE_BYTE_GAS * <i64>length - CODE_WORD_GAS * <i64>((length + 31) >> 5);
  if (left >= 0) left = chargeState(child, left, CODE_BYTE_STATE * <i64>length);
  // Before Homestead the contract then stayed without code.
  if (left < 0) return FORK >= HOMESTEAD ? CODE_STORE_OUT_OF_GAS : NONE;
  store<i64>(child, left, FRAME_GAS);
  countKeccak(<u64>length);
  if (length === 0) return NONE;
  keccak256(returnAt(), length, HASH);
  memory.copy(codeSpace(length), returnAt(), length);
  setCode(<usize>load<u32>(child, FRAME_ACCOUNT), addCode(HASH));
  return NONE;
}

export function releaseInitCode(child: usize): void {
  const code = <usize>load<u32>(child, FRAME_CODE);
  if (code === 0 || load<u32>(child, FRAME_CODE_RECORD) !== 0) return;
  const length = load<u32>(child, FRAME_CODE_LENGTH);
  release(code, <usize>length + PADDING);
  const jumps = <usize>load<u32>(child, FRAME_JUMPS);
  if (jumps !== 0) release(jumps, jumpBytes(length));
}

/** What the frame needed at its start becomes a need of its caller. */
function closePath(child: usize, left: i64): void {
  requireGas(child, usedWith(child, left));
  const start = load<i64>(child, FRAME_START_GAS);
  // A frame with too little gas failed because of it, and fails again with the same gas.
  if (load<i64>(child, FRAME_NEED) > start) store<i64>(child, start, FRAME_NEED);
  if (depth === 0) return;
  const stipend = start - load<i64>(child, FRAME_PASSED_ON);
  const caller = child - FRAME_BYTES;
  requireGas(caller, load<i64>(child, FRAME_SPENT) + leftFor(load<i64>(child, FRAME_NEED) - stipend));
}

function report(child: usize, exception: i32, left: i64): i32 {
  const flags = load<u32>(child, FRAME_FLAGS);
  store<i64>(RESULT_SPENT, load<i64>(child, FRAME_GAS) - floor);
  if (exception !== NONE && (flags & NEW_ACCOUNT) !== 0) {
    const gas = refillState(TRANSACTION_FRAME, left, NEW_ACCOUNT_STATE);
    if (exception === REVERT) left = gas;
  }
  store<u32>(RESULT_SUCCESS, <u32>(exception === NONE));
  store<u32>(RESULT_EXCEPTION, <u32>exception);
  store<u32>(RESULT_OPCODE, invalidOpcode);
  store<u32>(RESULT_CREATED, flags & CREATION);
  store<i64>(RESULT_GAS, left);
  store<i64>(RESULT_REFUND, refund);
  store<i64>(RESULT_RESERVOIR, reservoir);
  store<i64>(RESULT_STATE_USED, stateUsed);
  store<u32>(RESULT_RETURN, <u32>returnAt());
  store<u32>(RESULT_RETURN_BYTES, returnLength);
  store<u32>(RESULT_LOGS, <u32>logsAt());
  store<u32>(RESULT_LOG_BYTES, logBytes);
  store<u32>(RESULT_LOG_COUNT, logCount);
  store<u64>(RESULT_KECCAK_BLOCKS, keccakBlocks);
  store<u64>(RESULT_ENVIRONMENT, environment);
  const spare = load<i64>(child, FRAME_START_GAS) - load<i64>(child, FRAME_NEED);
  store<i64>(RESULT_SPARE_GAS, conclusive ? spare + stateGranted : -1);
  memory.copy(RESULT_CREATED_ADDRESS, <usize>load<u32>(child, FRAME_ACCOUNT), 20);
  store<u32>(RESULT_FRAMES, frameCount);
  return DONE;
}
