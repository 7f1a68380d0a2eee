import { ACCOUNT_BALANCE, ACCOUNT_CODE_HASH, isEmpty } from './accounts';
import { hashOfBlock } from './blocks';
import { CODE_BYTES, CODE_LENGTH } from './codes';
import { addressToWord, leaveWith, outOfGas } from './ending';
import { RETURN_DATA_OUT_OF_BOUNDS } from './exceptions';
import { BALANCE_GAS, EXTCODE_GAS, EXTCODEHASH_GAS } from './forks';
import {
  advance,
  FRAME_ACCOUNT,
  FRAME_CALLER,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_GAS,
  FRAME_INPUT,
  FRAME_INPUT_LENGTH,
  FRAME_MEMORY,
  FRAME_MEMORY_SIZE,
  FRAME_TOP,
  FRAME_VALUE,
  frame,
  growMemory,
  memoryArena,
  memoryGas,
  regionEnd,
  stackArena,
  TOO_FAR,
} from './frames';
import { loseConclusion } from './gas-path';
import {
  ENV_BASE_FEE,
  ENV_BLOB_BASE_FEE,
  ENV_CHAIN_ID,
  ENV_COINBASE,
  ENV_GAS_LIMIT,
  ENV_GAS_PRICE,
  ENV_NUMBER,
  ENV_ORIGIN,
  ENV_RANDAO,
  ENV_SLOT_NUMBER,
  ENV_TIMESTAMP,
  GO_ON,
} from './regions';
import { returnAt, returnLength } from './return-data';
import { accessAccount, accountOfWord, codeOf, coldAccountGas, isLoaded } from './state';
import { wantAccount, wantAccountAndCode, wantCode } from './wants';
import { copy, fromBytes, setU64, zero } from './word';

const BALANCE: u32 = 0x31;
const EXTCODESIZE: u32 = 0x3b;
const EXTCODEHASH: u32 = 0x3f;
const BLOCK_HASH_GAS: i64 = 20;
const COPY_GAS: i64 = 3;

/** Puts a value of the block, the transaction or the frame at `out`. */
export function readEnvironment(op: u32, out: usize): void {
  switch (op) {
    case 0x30: // ADDRESS
      addressToWord(<usize>load<u32>(frame, FRAME_ACCOUNT), out);
      break;
    case 0x32: // ORIGIN
      addressToWord(ENV_ORIGIN, out);
      break;
    case 0x33: // CALLER
      addressToWord(frame + FRAME_CALLER, out);
      break;
    case 0x34: // CALLVALUE
      copy(frame + FRAME_VALUE, out);
      break;
    case 0x36: // CALLDATASIZE
      setU64(<u64>load<u32>(frame, FRAME_INPUT_LENGTH), out);
      break;
    case 0x38: // CODESIZE
      setU64(<u64>load<u32>(frame, FRAME_CODE_LENGTH), out);
      break;
    case 0x3a: // GASPRICE
      fromBytes(ENV_GAS_PRICE, out);
      break;
    case 0x41: // COINBASE
      addressToWord(ENV_COINBASE, out);
      break;
    case 0x42: // TIMESTAMP
      setU64(load<u64>(ENV_TIMESTAMP), out);
      break;
    case 0x43: // NUMBER
      setU64(load<u64>(ENV_NUMBER), out);
      break;
    case 0x44: // PREVRANDAO
      fromBytes(ENV_RANDAO, out);
      break;
    case 0x45: // GASLIMIT
      setU64(load<u64>(ENV_GAS_LIMIT), out);
      break;
    case 0x46: // CHAINID
      setU64(load<u64>(ENV_CHAIN_ID), out);
      break;
    case 0x48: // BASEFEE
      fromBytes(ENV_BASE_FEE, out);
      break;
    case 0x4b: // SLOTNUM
      setU64(load<u64>(ENV_SLOT_NUMBER), out);
      break;
    default: // BLOBBASEFEE
      fromBytes(ENV_BLOB_BASE_FEE, out);
      break;
  }
}

const INPUT_WORD: usize = memory.data(32, 16);

/** CALLDATALOAD: replaces an offset by the word there. Past the end are zeros. */
export function loadInput(word: usize): void {
  const length = <u64>load<u32>(frame, FRAME_INPUT_LENGTH);
  const at = load<u64>(word);
  const from = memoryArena + load<u32>(frame, FRAME_INPUT) + <usize>at;
  if ((load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) !== 0 || at >= length) zero(word);
  else if (at + 32 <= length) fromBytes(from, word);
  else {
    memory.fill(INPUT_WORD, 0, 32);
    memory.copy(INPUT_WORD, from, <usize>(length - at));
    fromBytes(INPUT_WORD, word);
  }
}

/** BALANCE, EXTCODESIZE, EXTCODEHASH. The frame's registers are stored. */
export function readAccount(op: u32): i32 {
  const current = frame;
  const word = stackArena + load<u32>(current, FRAME_TOP);
  const account = accountOfWord(word);
  const warm = op === BALANCE ? BALANCE_GAS : op === EXTCODEHASH ? EXTCODEHASH_GAS : EXTCODE_GAS;
  const left = load<i64>(current, FRAME_GAS) - warm - coldAccountGas(account);
  if (left < 0) return outOfGas(left);
  if (!isLoaded(account)) return op === EXTCODESIZE ? wantAccountAndCode(account) : wantAccount(account);
  if (op === BALANCE) {
    if (memory.compare(account, ENV_ORIGIN, 20) === 0) loseConclusion();
    copy(account + ACCOUNT_BALANCE, word);
  } else if (op === EXTCODESIZE) {
    const code = codeOf(account);
    if (code === 0) return wantCode(account + ACCOUNT_CODE_HASH);
    setU64(<u64>load<u32>(code, CODE_LENGTH), word);
  } else if (isEmpty(account)) zero(word);
  else fromBytes(account + ACCOUNT_CODE_HASH, word);
  accessAccount(account);
  advance(left, word);
  return GO_ON;
}

/** BLOCKHASH. The frame's registers are stored. */
export function readBlockHash(): i32 {
  const current = frame;
  const left = load<i64>(current, FRAME_GAS) - BLOCK_HASH_GAS;
  if (left < 0) return outOfGas(left);
  const word = stackArena + load<u32>(current, FRAME_TOP);
  const status = hashOfBlock(word);
  if (status === GO_ON) advance(left, word);
  return status;
}

/** Copies `count` bytes from an offset of a source; past its end are zeros. @param offset - word */
function copyPadded(source: usize, length: u32, offset: usize, to: usize, count: u32): void {
  const isFar = (load<u64>(offset, 8) | load<u64>(offset, 16) | load<u64>(offset, 24)) !== 0;
  const at = load<u64>(offset);
  const available = isFar || at >= <u64>length ? 0 : min(<u64>count, <u64>length - at);
  if (available > 0) memory.copy(to, source + <usize>at, <usize>available);
  if (available < <u64>count) memory.fill(to + <usize>available, 0, <usize>(<u64>count - available));
}

/** Gas left after a copy of this many bytes that needs memory up to `end`; below zero: out of gas. */
function leftAfterCopy(gas: i64, count: u32, size: u64, end: u64): i64 {
  const growth = end > size ? memoryGas(size, end) : 0;
  return gas - growth - COPY_GAS * <i64>((<u64>count + 31) >> 5);
}

/** CALLDATACOPY, CODECOPY, RETURNDATACOPY, MCOPY. The frame's registers are stored; 3 gas is not yet charged. */
export function copyBytes(op: u32): i32 {
  const current = frame;
  const to = stackArena + load<u32>(current, FRAME_TOP);
  const offset = to - 32;
  const length = to - 64;
  let end = regionEnd(to, length);
  if (op === 0x5e) end = max(end, regionEnd(offset, length));
  if (end >= TOO_FAR) return outOfGas(load<i64>(current, FRAME_GAS));
  const count = load<u32>(length);
  const size = <u64>load<u32>(current, FRAME_MEMORY_SIZE);
  const left = leftAfterCopy(load<i64>(current, FRAME_GAS) - 3, count, size, end);
  if (left < 0) return outOfGas(left);
  if (op === 0x3e && !isReturned(offset, count)) return leaveWith(RETURN_DATA_OUT_OF_BOUNDS, left);
  if (end > size) growMemory(size, end);
  if (count > 0) {
    const own = memoryArena + load<u32>(current, FRAME_MEMORY);
    const target = own + load<u32>(to);
    if (op === 0x37) {
      const input = memoryArena + load<u32>(current, FRAME_INPUT);
      copyPadded(input, load<u32>(current, FRAME_INPUT_LENGTH), offset, target, count);
    } else if (op === 0x39) {
      copyPadded(<usize>load<u32>(current, FRAME_CODE), load<u32>(current, FRAME_CODE_LENGTH), offset, target, count);
    } else if (op === 0x3e) memory.copy(target, returnAt() + load<u32>(offset), count);
    else memory.copy(target, own + load<u32>(offset), count);
  }
  advance(left, length - 32);
  return GO_ON;
}

/** Whether return data has these bytes. */
function isReturned(offset: usize, count: u32): bool {
  if ((load<u64>(offset, 8) | load<u64>(offset, 16) | load<u64>(offset, 24)) !== 0) return false;
  return load<u64>(offset) <= <u64>returnLength && load<u64>(offset) + <u64>count <= <u64>returnLength;
}

/** EXTCODECOPY. The frame's registers are stored. */
export function copyCode(): i32 {
  const current = frame;
  const top = stackArena + load<u32>(current, FRAME_TOP);
  const account = accountOfWord(top);
  const to = top - 32;
  const length = top - 96;
  const end = regionEnd(to, length);
  const gas = load<i64>(current, FRAME_GAS) - EXTCODE_GAS - coldAccountGas(account);
  if (end >= TOO_FAR) return outOfGas(gas);
  const count = load<u32>(length);
  const size = <u64>load<u32>(current, FRAME_MEMORY_SIZE);
  const left = leftAfterCopy(gas, count, size, end);
  if (left < 0) return outOfGas(left);
  if (!isLoaded(account)) return wantAccountAndCode(account);
  const code = codeOf(account);
  if (code === 0) return wantCode(account + ACCOUNT_CODE_HASH);
  accessAccount(account);
  if (end > size) growMemory(size, end);
  if (count > 0) {
    const target = memoryArena + load<u32>(current, FRAME_MEMORY) + load<u32>(to);
    copyPadded(<usize>load<u32>(code, CODE_BYTES), load<u32>(code, CODE_LENGTH), top - 64, target, count);
  }
  advance(left, length - 32);
  return GO_ON;
}
