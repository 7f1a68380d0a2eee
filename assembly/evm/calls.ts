import {
  ACCOUNT_BALANCE,
  ACCOUNT_CODE_HASH,
  ACCOUNT_PRECOMPILE,
  accountAt,
  EXISTS,
  hasFlag,
  isEmpty,
} from './accounts';
import { CODE_BYTES, CODE_DELEGATION, EMPTY_CODE } from './codes';
import { leave, outOfGas } from './ending';
import { enterCode, enterPrecompile, openFrame } from './entering';
import { CALL_DEPTH, INSUFFICIENT_BALANCE, STATIC_STATE_CHANGE } from './exceptions';
import {
  CALL_GAS,
  CALL_VALUE_GAS,
  FORK,
  NEW_ACCOUNT_GAS,
  NEW_ACCOUNT_STATE,
  PARIS,
  PRAGUE,
  SPURIOUS_DRAGON,
  TANGERINE_WHISTLE,
} from './forks';
import {
  depth,
  FRAME_ACCOUNT,
  FRAME_CALLER,
  FRAME_FLAGS,
  FRAME_GAS,
  FRAME_INPUT,
  FRAME_INPUT_LENGTH,
  FRAME_MEMORY,
  FRAME_MEMORY_SIZE,
  FRAME_OUT,
  FRAME_OUT_LENGTH,
  FRAME_PASSED_ON,
  FRAME_PC,
  FRAME_SPENT,
  FRAME_TOP,
  FRAME_VALUE,
  frame,
  growMemory,
  MAX_DEPTH,
  memoryArena,
  memoryGas,
  NEW_ACCOUNT,
  refund,
  regionEnd,
  STATIC,
  stackArena,
  TOO_FAR,
} from './frames';
import { requireGas, usedWith } from './gas-path';
import { GO_ON, WANTED } from './regions';
import { clearReturn } from './return-data';
import { accessAccount, accountOfWord, codeOf, coldAccountGas, coldDelegateGas, isLoaded, noteAccount } from './state';
import { chargeState, refillState } from './state-gas';
import { traceEnter, traceLeave, tracesCalls } from './trace';
import { wantAccountAndCode, wantCode } from './wants';
import { copy, copyAddress, isZero, lt, zero } from './word';

const CALL: u32 = 0xf1;
const CALLCODE: u32 = 0xf2;
const DELEGATECALL: u32 = 0xf4;
const STATICCALL: u32 = 0xfa;

const STIPEND: i64 = 2300;
const WARM_ACCESS_GAS: i64 = 100;
/** Gas to pass on: what is asked for, at most all but one 64th (EIP-150). −1: the frame does not have it. */
function gasToPass(requested: usize, gas: i64): i64 {
  const isHuge = (load<u64>(requested, 8) | load<u64>(requested, 16) | load<u64>(requested, 24)) !== 0;
  const asked = isHuge || load<i64>(requested) < 0 ? i64.MAX_VALUE : load<i64>(requested);
  if (FORK < TANGERINE_WHISTLE) return asked > gas ? -1 : asked;
  return min(asked, gas - gas / 64);
}

/** Price that `priceOfCode` found too high. */
let lacking: i64 = 0;
/** Record of the code that the call runs. */
let code: usize = 0;
const VALUE: usize = memory.data(32, 16);

/**
 * Finds the code that a call runs, and adds the price of a delegation to `price`.
 *
 * @returns the price, or a status below zero: −1 out of gas, −2 something is wanted
 */
function priceOfCode(account: usize, price: i64, gas: i64): i64 {
  code = codeOf(account);
  if (code === 0) {
    wantCode(account + ACCOUNT_CODE_HASH);
    return -2;
  }
  if (FORK < PRAGUE || load<u32>(code, CODE_DELEGATION) === 0) return price;
  const target = accountAt(<usize>load<u32>(code, CODE_BYTES) + 3);
  price += WARM_ACCESS_GAS + (target === account ? 0 : coldDelegateGas(target));
  if (price > gas) {
    lacking = price;
    return -1;
  }
  if (load<u32>(target, ACCOUNT_PRECOMPILE) !== 0) code = EMPTY_CODE;
  else {
    if (!isLoaded(target)) {
      wantAccountAndCode(target);
      return -2;
    }
    code = codeOf(target);
    if (code === 0) {
      wantCode(target + ACCOUNT_CODE_HASH);
      return -2;
    }
  }
  return price;
}

/** The account that a delegated account's code comes from; 0 if the account is not delegated. */
export function delegateOf(account: usize): usize {
  if (FORK < PRAGUE) return 0;
  const own = codeOf(account);
  if (own === 0 || load<u32>(own, CODE_DELEGATION) === 0) return 0;
  return accountAt(<usize>load<u32>(own, CODE_BYTES) + 3);
}

/** CALL, CALLCODE, DELEGATECALL and STATICCALL. The frame's registers are stored. */
export function call(op: u32): i32 {
  const caller = frame;
  const top = stackArena + load<u32>(caller, FRAME_TOP);
  const hasValue = op === CALL || op === CALLCODE;
  const value = top - 64;
  const region = hasValue ? top - 96 : top - 64;
  const moves = hasValue && !isZero(value);
  if (moves && op === CALL && (load<u32>(caller, FRAME_FLAGS) & STATIC) !== 0) return leave(STATIC_STATE_CHANGE);

  const inEnd = regionEnd(region, region - 32);
  const outEnd = regionEnd(region - 64, region - 96);
  const end = max(inEnd, outEnd);
  const account = accountOfWord(top - 32);
  const cold = coldAccountGas(account);
  if (end >= TOO_FAR) return outOfGas(load<i64>(caller, FRAME_GAS));
  const size = <u64>load<u32>(caller, FRAME_MEMORY_SIZE);
  const gas = load<i64>(caller, FRAME_GAS);
  let price = CALL_GAS + cold + (moves ? CALL_VALUE_GAS : 0);
  if (end > size) price += memoryGas(size, end);
  if (price > gas) return outOfGas(gas - price);

  noteAccount(account);
  const precompile = load<u32>(account, ACCOUNT_PRECOMPILE);
  // From Paris on no account is empty, so a precompile that gets no ether is not touched.
  const needsAccount = precompile === 0 || FORK < PARIS || (moves && op === CALL);
  if (needsAccount && !isLoaded(account)) return wantAccountAndCode(account);
  const creates = op === CALL && isNew(account, moves);
  if (creates) price += NEW_ACCOUNT_GAS;
  if (price > gas) return outOfGas(gas - price);
  if (precompile === 0) {
    price = priceOfCode(account, price, gas);
    if (price === -1) return outOfGas(gas - lacking);
    if (price < 0) return WANTED;
    const delegate = delegateOf(account);
    if (delegate !== 0) accessAccount(delegate);
  }
  let left = gas - price;
  if (creates && left >= 0) left = chargeState(caller, left, NEW_ACCOUNT_STATE);
  const passed = left < 0 ? -1 : gasToPass(top, left);
  if (passed < 0) return outOfGas(left < 0 ? left : -1);

  const spent = usedWith(caller, left);
  requireGas(caller, spent);
  accessAccount(account);
  if (end > size) growMemory(size, end);
  const stipend = moves ? STIPEND : 0;
  const result = region - 96;
  store<u32>(caller, <u32>(result - 32 - stackArena), FRAME_TOP);
  store<u32>(caller, load<u32>(region - 64), FRAME_OUT);
  store<u32>(caller, load<u32>(region - 96), FRAME_OUT_LENGTH);
  store<u32>(caller, load<u32>(caller, FRAME_PC) + 1, FRAME_PC);
  clearReturn();
  const self = <usize>load<u32>(caller, FRAME_ACCOUNT);
  const inLength = load<u32>(region - 32);
  const inOffset = inLength === 0 ? 0 : load<u32>(region);
  const ownMemory = memoryArena + load<u32>(caller, FRAME_MEMORY);
  const isPoor = moves && lt(self + ACCOUNT_BALANCE, value);
  if (depth === MAX_DEPTH || isPoor) {
    if (tracesCalls) {
      traceEnter(op, depth + 1, self, account, value, passed + stipend, ownMemory + inOffset, inLength);
      traceLeave(isPoor ? INSUFFICIENT_BALANCE : CALL_DEPTH, depth + 1, passed + stipend, 0, refund);
    }
    if (creates) left = refillState(caller, left, NEW_ACCOUNT_STATE);
    store<i64>(caller, left + stipend, FRAME_GAS);
    store<u32>(caller, <u32>(result - stackArena), FRAME_TOP);
    zero(result);
    return GO_ON;
  }
  store<i64>(caller, left - passed, FRAME_GAS);

  // The stack may move when the frame is opened, so the value is read before.
  const isBorrowed = op === DELEGATECALL || op === CALLCODE;
  copy(value, VALUE);
  const child = openFrame(isBorrowed ? self : account, passed + stipend);
  store<u32>(child, load<u32>(caller, FRAME_MEMORY) + inOffset, FRAME_INPUT);
  store<u32>(child, inLength, FRAME_INPUT_LENGTH);
  store<i64>(child, spent, FRAME_SPENT);
  store<i64>(child, passed, FRAME_PASSED_ON);
  const inherited = load<u32>(caller, FRAME_FLAGS) & STATIC;
  store<u32>(child, (op === STATICCALL ? STATIC : inherited) | (creates ? NEW_ACCOUNT : 0), FRAME_FLAGS);
  if (op === DELEGATECALL) {
    copy(caller + FRAME_VALUE, child + FRAME_VALUE);
    copyAddress(caller + FRAME_CALLER, child + FRAME_CALLER);
  } else {
    copyAddress(self, child + FRAME_CALLER);
    if (hasValue) copy(VALUE, child + FRAME_VALUE);
  }
  if (tracesCalls) {
    traceEnter(op, depth, self, account, child + FRAME_VALUE, passed + stipend, ownMemory + inOffset, inLength);
  }
  // An account that is not loaded has no balance yet, so it must not be touched either: it would end as an empty one.
  const sends = op === CALL && needsAccount ? self : 0;
  const touches = needsAccount && (op === CALL || op === STATICCALL);
  if (precompile !== 0) return enterPrecompile(child, precompile, sends, touches);
  return enterCode(child, code, sends, touches);
}

/** Whether a call creates the account that it calls. */
function isNew(account: usize, moves: bool): bool {
  if (FORK >= SPURIOUS_DRAGON) return moves && isEmpty(account);
  return !hasFlag(account, EXISTS);
}
