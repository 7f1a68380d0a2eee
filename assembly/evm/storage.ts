import { ACCOUNT_BALANCE, ACCOUNT_FLAGS, CREATED, DESTROYED, EXISTS, hasFlag, isEmpty } from './accounts';
import { leave, leaveWith, outOfGas } from './ending';
import { NONE, STATIC_STATE_CHANGE } from './exceptions';
import {
  AMSTERDAM,
  BERLIN,
  CANCUN,
  CLEAR_REFUND,
  COLD_SLOT_GAS,
  CONSTANTINOPLE,
  FORK,
  ISTANBUL,
  NEW_ACCOUNT_STATE,
  NEW_BENEFICIARY_GAS,
  SELFDESTRUCT_GAS,
  SELFDESTRUCT_REFUND,
  SLOAD_GAS,
  SPURIOUS_DRAGON,
} from './forks';
import {
  advance,
  depth,
  FRAME_ACCOUNT,
  FRAME_FLAGS,
  FRAME_GAS,
  FRAME_MEMORY,
  FRAME_MEMORY_SIZE,
  FRAME_TOP,
  frame,
  growMemory,
  memoryArena,
  memoryGas,
  refund,
  regionEnd,
  STATIC,
  setRefund,
  stackArena,
  TOO_FAR,
} from './frames';
import { requireGas, usedWith } from './gas-path';
import { setFlags } from './journal';
import { addLog, logTransfer } from './logs';
import { GO_ON } from './regions';
import { clearReturn } from './return-data';
import { SLOT_ORIGINAL, SLOT_VALUE, SLOT_WRITTEN, slotAt } from './slots';
import {
  accessAccount,
  accessSlot,
  accountOfWord,
  coldAccountGas,
  coldSlotGas,
  isLoaded,
  knowsSlot,
  noteAccount,
  noteSlot,
  setBalanceZero,
  transaction,
  transfer,
  writeSlot,
  writeTransient,
} from './state';
import { chargeState, refillState } from './state-gas';
import { traceEnter, traceLeave, tracesCalls } from './trace';
import { wantAccount, wantSlot } from './wants';
import { copy, eq, isZero, toBytes } from './word';

const SENTRY: i64 = 2300;
const SET_GAS: i64 = 20000;
const RESET_GAS: i64 = 5000;
const LOG_GAS: i64 = 375;
const LOG_BYTE_GAS: i64 = 8;
/** From Amsterdam on: a first change of a slot in a transaction, and the state gas of a new slot. */
const SLOT_WRITE: i64 = 10000;
const NEW_SLOT: i64 = 97920;
const WARM_SLOT_GAS: i64 = 100;
const WARM_ACCOUNT_GAS: i64 = 100;

/** SSTORE. The frame's registers are stored. */
export function storeSlot(): i32 {
  const current = frame;
  const key = stackArena + load<u32>(current, FRAME_TOP);
  const value = key - 32;
  const gas = load<i64>(current, FRAME_GAS);
  const isStatic = (load<u32>(current, FRAME_FLAGS) & STATIC) !== 0;
  const isStopped = isStatic || (FORK >= ISTANBUL && gas <= SENTRY);
  // From Amsterdam on access lists of calls have its slot all the same, as geth 1.17.10 has it.
  if (isStopped && FORK < AMSTERDAM) return isStatic ? leave(STATIC_STATE_CHANGE) : outOfGas(gas);
  const account = <usize>load<u32>(current, FRAME_ACCOUNT);
  const slot = slotAt(account, key);
  let access = coldSlotGas(slot);
  if (isStopped) return isStatic ? leave(STATIC_STATE_CHANGE) : outOfGas(gas);
  if (access !== 0 || FORK >= AMSTERDAM) access += WARM_SLOT_GAS;
  if (gas < access) return outOfGas(gas - access);
  noteSlot(slot);
  if (!knowsSlot(account, slot)) return wantSlot(account, slot);
  const isFirst = load<u32>(slot, SLOT_WRITTEN) !== transaction;
  const held = slot + SLOT_VALUE;
  const original = isFirst ? held : slot + SLOT_ORIGINAL;
  let left = gas - access;
  if (FORK >= AMSTERDAM) left = chargeChange(current, left, original, held, value);
  else if (FORK >= ISTANBUL || FORK === CONSTANTINOPLE) left -= priceOfChange(original, held, value);
  else left -= plainPrice(held, value);
  if (left < 0) {
    setRefund(refund + given);
    return outOfGas(left);
  }
  requireGas(current, usedWith(current, gas) + SENTRY + 1);
  setRefund(refund + given);
  accessSlot(slot);
  writeSlot(slot, value);
  advance(left, value - 32);
  return GO_ON;
}

/** Refund of the last price. */
let given: i64 = 0;

function plainPrice(held: usize, value: usize): i64 {
  given = !isZero(held) && isZero(value) ? CLEAR_REFUND : 0;
  return isZero(held) && !isZero(value) ? SET_GAS : RESET_GAS;
}

/** EIP-1283, EIP-2200, EIP-2929, EIP-3529. */
function priceOfChange(original: usize, held: usize, value: usize): i64 {
  given = 0;
  if (eq(held, value)) return SLOAD_GAS;
  const reset = FORK >= BERLIN ? RESET_GAS - COLD_SLOT_GAS - WARM_SLOT_GAS : RESET_GAS;
  if (eq(original, held)) {
    if (isZero(original)) return SET_GAS;
    if (isZero(value)) given = CLEAR_REFUND;
    return reset;
  }
  if (!isZero(original)) {
    if (isZero(held)) given -= CLEAR_REFUND;
    else if (isZero(value)) given += CLEAR_REFUND;
  }
  if (eq(original, value)) given += (isZero(original) ? SET_GAS : reset) - SLOAD_GAS;
  return SLOAD_GAS;
}

/** EIP-8037, EIP-8038. @returns the gas that is left; below zero if it is too little */
function chargeChange(current: usize, gas: i64, original: usize, held: usize, value: usize): i64 {
  given = 0;
  if (eq(held, value)) return gas;
  if (eq(original, held)) {
    gas -= SLOT_WRITE;
    if (isZero(original)) return gas < 0 ? gas : chargeState(current, gas, NEW_SLOT);
    if (isZero(value)) given = CLEAR_REFUND;
    return gas;
  }
  if (!isZero(original)) {
    if (isZero(held)) given -= CLEAR_REFUND;
    else if (isZero(value)) given += CLEAR_REFUND;
  }
  if (!eq(original, value)) return gas;
  given += SLOT_WRITE;
  return isZero(original) ? refillState(current, gas, NEW_SLOT) : gas;
}

/** TSTORE. The frame's registers are stored. */
export function storeTransient(): i32 {
  const current = frame;
  const left = load<i64>(current, FRAME_GAS) - WARM_SLOT_GAS;
  if (left < 0) return outOfGas(left);
  if ((load<u32>(current, FRAME_FLAGS) & STATIC) !== 0) return leaveWith(STATIC_STATE_CHANGE, left);
  const key = stackArena + load<u32>(current, FRAME_TOP);
  writeTransient(slotAt(<usize>load<u32>(current, FRAME_ACCOUNT), key), key - 32);
  advance(left, key - 64);
  return GO_ON;
}

/** LOG0 to LOG4. The frame's registers are stored. */
export function log(topics: u32): i32 {
  const current = frame;
  const offset = stackArena + load<u32>(current, FRAME_TOP);
  const end = regionEnd(offset, offset - 32);
  if (end >= TOO_FAR) return outOfGas(load<i64>(current, FRAME_GAS));
  const length = load<u32>(offset - 32);
  const size = <u64>load<u32>(current, FRAME_MEMORY_SIZE);
  const growth = end > size ? memoryGas(size, end) : 0;
  const price = LOG_GAS * <i64>(topics + 1) + LOG_BYTE_GAS * <i64>length + growth;
  const left = load<i64>(current, FRAME_GAS) - price;
  if (left < 0) return outOfGas(left);
  if ((load<u32>(current, FRAME_FLAGS) & STATIC) !== 0) return leaveWith(STATIC_STATE_CHANGE, left);
  if (end > size) growMemory(size, end);
  let at = addLog(<usize>load<u32>(current, FRAME_ACCOUNT), topics, length, false);
  let word = offset - 64;
  for (let i: u32 = 0; i < topics; i++) {
    toBytes(word, at);
    at += 32;
    word -= 32;
  }
  const from = memoryArena + load<u32>(current, FRAME_MEMORY) + load<u32>(offset);
  if (length > 0) memory.copy(at, from, length);
  advance(left, word);
  return GO_ON;
}

const VALUE: usize = memory.data(32, 16);

/** SELFDESTRUCT. The frame's registers are stored. */
export function selfDestruct(): i32 {
  const current = frame;
  if ((load<u32>(current, FRAME_FLAGS) & STATIC) !== 0) return leave(STATIC_STATE_CHANGE);
  const beneficiary = accountOfWord(stackArena + load<u32>(current, FRAME_TOP));
  const account = <usize>load<u32>(current, FRAME_ACCOUNT);
  const gas = load<i64>(current, FRAME_GAS);
  const cold = coldAccountGas(beneficiary);
  let price = SELFDESTRUCT_GAS + (cold === 0 ? 0 : cold + WARM_ACCOUNT_GAS);
  if (price > gas) return outOfGas(gas - price);
  noteAccount(beneficiary);
  if (!isLoaded(beneficiary)) return wantAccount(beneficiary);
  const balance = account + ACCOUNT_BALANCE;
  const sends = !isZero(balance);
  const isNew = FORK >= SPURIOUS_DRAGON ? sends && isEmpty(beneficiary) : !hasFlag(beneficiary, EXISTS);
  if (isNew) price += NEW_BENEFICIARY_GAS;
  let left = gas - price;
  if (isNew && left >= 0) left = chargeState(current, left, NEW_ACCOUNT_STATE);
  if (left < 0) return outOfGas(left);
  store<i64>(current, left, FRAME_GAS);
  accessAccount(beneficiary);
  clearReturn();
  if (!hasFlag(account, DESTROYED)) setRefund(refund + SELFDESTRUCT_REFUND);
  logTransfer(account, beneficiary, balance);
  if (tracesCalls) {
    traceEnter(0xff, depth + 1, account, beneficiary, balance, 0, balance, 0);
    traceLeave(NONE, depth + 1, 0, 0, refund);
  }
  const ends = FORK < CANCUN || hasFlag(account, CREATED);
  if (beneficiary !== account) {
    copy(balance, VALUE);
    transfer(account, beneficiary, VALUE);
  }
  if (beneficiary === account && ends && FORK < AMSTERDAM) setBalanceZero(account);
  if (ends) setFlags(account, load<u32>(account, ACCOUNT_FLAGS) | DESTROYED);
  return leave(NONE);
}
