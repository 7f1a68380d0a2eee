import {
  ACCOUNT_BALANCE,
  ACCOUNT_FLAGS,
  ACCOUNT_NONCE,
  accountAt,
  CLEARED,
  CREATED,
  EXISTS,
  hasCode,
  isEmpty,
  TOUCHED,
} from './accounts';
import { allocate, release } from './allocator';
import { PADDING } from './codes';
import { leave, outOfGas } from './ending';
import { openFrame } from './entering';
import {
  CALL_DEPTH,
  CREATE_COLLISION,
  INIT_CODE_TOO_LARGE,
  INSUFFICIENT_BALANCE,
  NONCE_OVERFLOW,
  NONE,
  STATIC_STATE_CHANGE,
} from './exceptions';
import {
  AMSTERDAM,
  CREATE_GAS,
  FORK,
  INIT_WORD_GAS,
  MAX_INIT_CODE_BYTES,
  NEW_ACCOUNT_STATE,
  SPURIOUS_DRAGON,
  TANGERINE_WHISTLE,
} from './forks';
import {
  CREATION,
  depth,
  FRAME_ACCOUNT,
  FRAME_CALLER,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_FLAGS,
  FRAME_GAS,
  FRAME_MEMORY,
  FRAME_MEMORY_SIZE,
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
import { setFlags, setNonce } from './journal';
import { keccak256 } from './keccak';
import { logTransfer } from './logs';
import { countBlock, countKeccak } from './progress';
import { GO_ON } from './regions';
import { clearReturn } from './return-data';
import { accessAccount, clearStorage, isLoaded, noteAccount, transfer } from './state';
import { chargeState } from './state-gas';
import { traceEnter, traceLeave, tracesCalls } from './trace';
import { MOST_WANTS, wantAccount } from './wants';
import { copy, lt, toBytes, zero } from './word';

const CREATE2: u32 = 0xf5;
const HASH_WORD_GAS: i64 = 6;
const LAST_NONCE: u64 = u64.MAX_VALUE;

/** Accounts at the next addresses of a creator, 4 bytes each, for the nonces from `nonceAhead` on. */
const AHEAD: usize = memory.data(4 * MOST_WANTS, 16);
let creatorAhead: usize = 0;
let nonceAhead: u64 = 0;
let ahead: u32 = 0;

/** Forgets the accounts that were looked at for creations; called when a transaction begins. */
export function beginCreations(): void {
  creatorAhead = 0;
  ahead = 0;
}

/** RLP of an address and a nonce, or 0xff, address, salt and code hash (85 bytes). */
const PREIMAGE: usize = memory.data(96, 16);
const HASH: usize = memory.data(32, 16);
const VALUE: usize = memory.data(32, 16);

/** Account at the address of a contract that is created with CREATE. @param creator - 20 bytes */
export function createdBy(creator: usize, nonce: u64): usize {
  memory.copy(PREIMAGE + 2, creator, 20);
  store<u8>(PREIMAGE + 1, 0x94);
  let at = PREIMAGE + 22;
  if (nonce < 0x80) store<u8>(at++, nonce === 0 ? 0x80 : <u8>nonce);
  else {
    const bytes = 8 - <i32>(clz<u64>(nonce) >> 3);
    store<u8>(at++, 0x80 + <u8>bytes);
    for (let i = bytes - 1; i >= 0; i--) store<u8>(at++, <u8>(nonce >> ((<u64>i) << 3)));
  }
  store<u8>(PREIMAGE, 0xc0 + <u8>(at - PREIMAGE - 1));
  keccak256(PREIMAGE, at - PREIMAGE, HASH);
  return accountAt(HASH + 12);
}

/**
 * As `createdBy`. If a contract has created at all addresses that were looked at for it, twice as many of its next ones are looked at, and
 * wanted together: a contract that has created some creates more.
 */
function nextOf(creator: usize, nonce: u64): usize {
  const isNext = creator === creatorAhead && nonce - nonceAhead <= <u64>ahead;
  if (isNext && nonce < nonceAhead + ahead) return load<u32>(AHEAD + ((<usize>(nonce - nonceAhead)) << 2));
  ahead = isNext ? min(2 * ahead, MOST_WANTS) : 1;
  creatorAhead = creator;
  nonceAhead = nonce;
  for (let i: u32 = 0; i < ahead; i++) store<u32>(AHEAD + ((<usize>i) << 2), <u32>createdBy(creator, nonce + i));
  return load<u32>(AHEAD);
}

/** Wants the account of a creation, and those that were looked at with it. */
function wantCreated(account: usize): i32 {
  const wanted = wantAccount(account);
  for (let i: u32 = 0; i < ahead; i++) {
    const next = <usize>load<u32>(AHEAD + ((<usize>i) << 2));
    if (next !== account && !isLoaded(next)) wantAccount(next);
  }
  return wanted;
}

function createdBySalt(creator: usize, salt: usize, initCode: usize, length: u32): usize {
  keccak256(initCode, length, HASH);
  store<u8>(PREIMAGE, 0xff);
  memory.copy(PREIMAGE + 1, creator, 20);
  toBytes(salt, PREIMAGE + 21);
  memory.copy(PREIMAGE + 53, HASH, 32);
  keccak256(PREIMAGE, 85, HASH);
  return accountAt(HASH + 12);
}

/** A copy of init code, followed by zeros. */
export function copyInitCode(from: usize, length: u32, available: u32): usize {
  const code = allocate(<usize>length + PADDING);
  if (available > 0) memory.copy(code, from, available);
  memory.fill(code + available, 0, <usize>length + PADDING - available);
  return code;
}

/** CREATE and CREATE2. The frame's registers are stored. */
export function create(op: u32): i32 {
  const caller = frame;
  if ((load<u32>(caller, FRAME_FLAGS) & STATIC) !== 0) return leave(STATIC_STATE_CHANGE);
  const value = stackArena + load<u32>(caller, FRAME_TOP);
  const salted = op === CREATE2;
  const end = regionEnd(value - 32, value - 64);
  if (end >= TOO_FAR) return outOfGas(load<i64>(caller, FRAME_GAS));
  const length = load<u64>(value - 64);
  if (length > <u64>MAX_INIT_CODE_BYTES) return leave(INIT_CODE_TOO_LARGE);
  const size = <u64>load<u32>(caller, FRAME_MEMORY_SIZE);
  const words = <i64>((length + 31) >> 5);
  let price = CREATE_GAS + INIT_WORD_GAS * words + (salted ? HASH_WORD_GAS * words : 0);
  if (end > size) price += memoryGas(size, end);
  let left = load<i64>(caller, FRAME_GAS) - price;
  if (left < 0) return outOfGas(left);

  const result = salted ? value - 96 : value - 64;
  const self = <usize>load<u32>(caller, FRAME_ACCOUNT);
  const nonce = load<u64>(self, ACCOUNT_NONCE);
  const refused = depth === MAX_DEPTH || lt(self + ACCOUNT_BALANCE, value) || nonce === LAST_NONCE;
  // Nothing is changed before the account at the new address is known: the instruction may run again.
  const offset = length === 0 ? 0 : load<u64>(value - 32);
  let initCode: usize = 0;
  let account: usize = 0;
  if (!refused) {
    const available = offset >= size ? 0 : min(length, size - offset);
    const from = memoryArena + load<u32>(caller, FRAME_MEMORY) + <usize>offset;
    initCode = copyInitCode(from, <u32>length, <u32>available);
    account = salted ? createdBySalt(self, value - 96, initCode, <u32>length) : nextOf(self, nonce);
    if (!isLoaded(account)) {
      release(initCode, <usize>length + PADDING);
      return salted ? wantAccount(account) : wantCreated(account);
    }
    noteAccount(account);
  }
  const isNew = !refused && NEW_ACCOUNT_STATE > 0 && isEmpty(account);
  if (isNew) {
    left = chargeState(caller, left, NEW_ACCOUNT_STATE);
    if (left < 0) {
      release(initCode, <usize>length + PADDING);
      return outOfGas(left);
    }
  }
  const spent = usedWith(caller, left);
  requireGas(caller, spent);
  if (end > size) growMemory(size, end);
  store<u32>(caller, load<u32>(caller, FRAME_PC) + 1, FRAME_PC);
  clearReturn();
  const passed = FORK >= TANGERINE_WHISTLE ? left - left / 64 : left;
  if (refused) {
    // From Amsterdam on geth checks this before the creation is known to its tracers.
    if (tracesCalls && FORK < AMSTERDAM) traceRefusal(op, self, value, passed, nonce, <usize>offset, <u32>length);
    store<i64>(caller, left, FRAME_GAS);
    store<u32>(caller, <u32>(result - stackArena), FRAME_TOP);
    zero(result);
    return GO_ON;
  }
  store<i64>(caller, left - passed, FRAME_GAS);
  store<u32>(caller, <u32>(result - 32 - stackArena), FRAME_TOP);
  copy(value, VALUE);
  setNonce(self, nonce + 1);
  accessAccount(account);
  countBlock();
  if (salted) countKeccak(length);
  const child = openFrame(account, passed);
  store<i64>(child, spent, FRAME_SPENT);
  store<i64>(child, passed, FRAME_PASSED_ON);
  memory.copy(child + FRAME_CALLER, self, 20);
  copy(VALUE, child + FRAME_VALUE);
  if (tracesCalls) traceEnter(op, depth, self, account, VALUE, passed, initCode, <u32>length);
  return enterCreation(child, self, initCode, <u32>length, isNew);
}

/** A creation that opens no frame. It is recorded without its address. @param offset - of its init code in memory, which has it */
function traceRefusal(op: u32, self: usize, value: usize, gas: i64, nonce: u64, offset: usize, length: u32): void {
  const isPoor = lt(self + ACCOUNT_BALANCE, value);
  const reason = nonce === LAST_NONCE ? NONCE_OVERFLOW : isPoor ? INSUFFICIENT_BALANCE : CALL_DEPTH;
  memory.fill(HASH, 0, 32);
  traceEnter(op, depth + 1, self, HASH, value, gas, memoryArena + load<u32>(frame, FRAME_MEMORY) + offset, length);
  traceLeave(reason, depth + 1, gas, 0, refund);
}

/** Starts the init code of a frame. The init code is freed when the frame ends. @param isNew - the account was charged as a new one */
export function enterCreation(child: usize, sender: usize, initCode: usize, length: u32, isNew: bool): i32 {
  const account = <usize>load<u32>(child, FRAME_ACCOUNT);
  store<u32>(child, isNew ? CREATION | NEW_ACCOUNT : CREATION, FRAME_FLAGS);
  store<u32>(child, <u32>initCode, FRAME_CODE);
  store<u32>(child, <u32>initCode, FRAME_PC);
  store<u32>(child, length, FRAME_CODE_LENGTH);
  if (load<u64>(account, ACCOUNT_NONCE) !== 0 || hasCode(account)) return leave(CREATE_COLLISION);
  clearStorage(account);
  setFlags(account, load<u32>(account, ACCOUNT_FLAGS) | EXISTS | CREATED | TOUCHED | CLEARED);
  setNonce(account, FORK >= SPURIOUS_DRAGON ? 1 : 0);
  transfer(sender, account, child + FRAME_VALUE);
  logTransfer(sender, account, child + FRAME_VALUE);
  return length === 0 ? leave(NONE) : GO_ON;
}
