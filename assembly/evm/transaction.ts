import {
  ACCOUNT_BALANCE,
  ACCOUNT_CODE_HASH,
  ACCOUNT_NONCE,
  ACCOUNT_PRECOMPILE,
  ACCOUNT_WARM,
  ACCOUNT_WARM_FROM_START,
  accountAt,
  isEmpty,
  warmSpecials,
} from './accounts';
import { delegateOf } from './calls';
import { EMPTY_CODE } from './codes';
import { beginCreations, copyInitCode, createdBy, enterCreation } from './creations';
import { leave, releaseInitCode } from './ending';
import { enterCode, enterPrecompile, openFrame } from './entering';
import { INSUFFICIENT_BALANCE, NONE, OUT_OF_GAS, PRECOMPILE_FAILED } from './exceptions';
import { AMSTERDAM, FORK, NEW_ACCOUNT_STATE } from './forks';
import {
  depth,
  dropFrames,
  FRAME_CALLER,
  FRAME_FLAGS,
  FRAME_GAS,
  FRAME_INPUT_LENGTH,
  FRAME_JOURNAL,
  FRAME_RESERVOIR,
  FRAME_SPILLED,
  FRAME_STATE_USED,
  FRAME_VALUE,
  frame,
  memoryArena,
  NEW_ACCOUNT,
  popFrame,
  reserveMemory,
  setRefund,
  TRANSACTION_FRAME,
} from './frames';
import { beginPath } from './gas-path';
import { beginInstructions, interpret } from './interpreter';
import { closeJournal, journalMark, undoTo } from './journal';
import { cutLogs } from './logs';
import { beginProgress, countBlock, floor, setFloor } from './progress';
import { DONE, GO_ON, RESULT_SPENT } from './regions';
import { clearReturn } from './return-data';
import { accessAccount, codeOf, coldDelegateGas, isLoaded, nextTransaction, noteAccount, transaction } from './state';
import { beginStateGas, chargeState, stateGranted } from './state-gas';
import { showTrace, traceEnter, tracesCalls } from './trace';
import { dropWants, wantAccount, wantAccountAndCode, wantCode } from './wants';
import { copy, fromBytes, isZero, lt } from './word';

/** The outermost call, between `start` and its frame. */
let starting: bool = false;
let creates: bool = false;
let sender: usize = 0;
let recipient: usize = 0;
let gasGiven: i64 = 0;
let dataLength: u32 = 0;
const VALUE: usize = memory.data(32, 16);
const WARM_ACCESS_GAS: i64 = 100;

/** Where the journal was before the authorizations. */
let mark: usize = 0;
/** Whether an authorization could not be paid. */
let unpaid: bool = false;

/** Whether the host has run the precompile of the current frame, and how it ended. */
let answered: bool = false;
let answer: i32 = NONE;

export function beginTransaction(): void {
  nextTransaction();
  dropFrames();
  closeJournal();
  cutLogs(0, 0);
  clearReturn();
  setRefund(0);
  beginProgress();
  beginPath();
  beginInstructions();
  beginCreations();
  warmSpecials(transaction);
  starting = false;
  answered = false;
  dataLength = 0;
}

/** Region for the data of the outermost call. */
export function dataRegion(length: u32): usize {
  reserveMemory(0, (<usize>length + 95) & ~31);
  dataLength = length;
  return memoryArena;
}

/** @param from - 20 bytes @param value - 32 bytes, big-endian @param to - 20 bytes, or 0 for a creation @param stateGas - reservoir */
export function startCall(from: usize, value: usize, to: usize, gas: i64, stateGas: i64): void {
  sender = accountAt(from);
  creates = to === 0;
  recipient = creates ? 0 : accountAt(to);
  fromBytes(value, VALUE);
  gasGiven = gas;
  starting = true;
  mark = journalMark();
  beginStateGas(stateGas);
  store<i64>(TRANSACTION_FRAME, 0, FRAME_SPILLED);
  unpaid = false;
  noteAccount(sender);
}

/** Charges the transaction for an authorization. @returns false if it cannot pay, and then fails without an instruction */
export function chargeAuthorization(gas: i64, state: i64): bool {
  unpaid = !chargeTransaction(gas, state);
  return !unpaid;
}

function chargeTransaction(gas: i64, state: i64): bool {
  let left = gasGiven - gas;
  if (left >= 0) left = chargeState(TRANSACTION_FRAME, left, state);
  if (left < 0) return false;
  gasGiven = left;
  return true;
}

/** Opens the outermost frame, or wants what that needs. */
function enterOutermost(): i32 {
  const pays = !isZero(VALUE);
  if ((pays || creates) && !isLoaded(sender)) return wantAccount(sender);
  const account = creates ? createdBy(sender, load<u64>(sender, ACCOUNT_NONCE) - 1) : recipient;
  if (!isLoaded(account)) return creates ? wantAccount(account) : wantAccountAndCode(account);
  let code = creates ? EMPTY_CODE : codeOf(account);
  if (code === 0) return wantCode(account + ACCOUNT_CODE_HASH);
  const delegate = creates ? 0 : delegateOf(account);
  let delegateGas: i64 = 0;
  if (delegate !== 0) {
    if (load<u32>(delegate, ACCOUNT_PRECOMPILE) !== 0) code = EMPTY_CODE;
    else {
      if (!isLoaded(delegate)) return wantAccountAndCode(delegate);
      code = codeOf(delegate);
      if (code === 0) return wantCode(delegate + ACCOUNT_CODE_HASH);
    }
    if (FORK >= AMSTERDAM) delegateGas = WARM_ACCESS_GAS + coldDelegateGas(delegate);
    // Warm from the start, like the recipient (EIP-7702).
    store<u32>(delegate, transaction, ACCOUNT_WARM);
    store<u32>(delegate, transaction, ACCOUNT_WARM_FROM_START);
  }
  starting = false;
  let isNew = false;
  if (!unpaid) {
    accessAccount(account);
    isNew = (pays || creates) && NEW_ACCOUNT_STATE > 0 && isEmpty(account);
    unpaid = (isNew && !chargeTransaction(0, NEW_ACCOUNT_STATE)) || !chargeTransaction(delegateGas, 0);
    if (!unpaid && delegate !== 0) noteAccount(delegate);
  }
  const first = (dataLength + 63) & ~31;
  const child = openFrame(account, gasGiven, first);
  memory.copy(child + FRAME_CALLER, sender, 20);
  copy(VALUE, child + FRAME_VALUE);
  if (tracesCalls) traceEnter(creates ? 0xf0 : 0xf1, 0, sender, account, VALUE, gasGiven, memoryArena, dataLength);
  if (unpaid) {
    store<u32>(child, <u32>mark, FRAME_JOURNAL);
    store<i64>(child, stateGranted, FRAME_RESERVOIR);
    store<i64>(child, 0, FRAME_STATE_USED);
    return leave(OUT_OF_GAS);
  }
  if (isNew) store<u32>(child, NEW_ACCOUNT, FRAME_FLAGS);
  if (pays && lt(sender + ACCOUNT_BALANCE, VALUE)) return leave(INSUFFICIENT_BALANCE);
  if (creates) {
    countBlock();
    return enterCreation(child, sender, copyInitCode(memoryArena, dataLength, dataLength), dataLength, isNew);
  }
  store<u32>(child, dataLength, FRAME_INPUT_LENGTH);
  const precompile = load<u32>(account, ACCOUNT_PRECOMPILE);
  if (precompile !== 0) return enterPrecompile(child, precompile, sender, true);
  return enterCode(child, code, sender, true);
}

/** Executes until about `slice` gas is spent, or something else ends the run. */
export function runSlice(slice: i64): i32 {
  dropWants();
  setFloor((depth < 0 ? gasGiven : load<i64>(frame, FRAME_GAS)) - slice);
  let status = GO_ON;
  if (starting) status = enterOutermost();
  else if (answered) {
    answered = false;
    status = leave(answer);
  }
  if (status === GO_ON) status = interpret();
  // At the end the frame is gone, and `leave` has stored what was left of the slice.
  const left = status === DONE ? load<i64>(RESULT_SPENT) : (depth < 0 ? gasGiven : load<i64>(frame, FRAME_GAS)) - floor;
  store<i64>(RESULT_SPENT, slice - left);
  showTrace();
  return status;
}

/** Ends the precompile that the host ran; its output is in the return data. */
export function answerCall(success: bool, gasUsed: i64): void {
  const left = load<i64>(frame, FRAME_GAS) - gasUsed;
  answer = left < 0 ? OUT_OF_GAS : success ? NONE : PRECOMPILE_FAILED;
  if (answer === NONE) store<i64>(frame, left, FRAME_GAS);
  answered = true;
}

export function rollbackTransaction(): void {
  while (depth >= 0) {
    releaseInitCode(frame);
    popFrame();
  }
  undoTo(0);
  cutLogs(0, 0);
  starting = false;
  answered = false;
}
