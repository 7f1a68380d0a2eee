import {
  ACCOUNT_BALANCE,
  ACCOUNT_CODE,
  ACCOUNT_CODE_HASH,
  ACCOUNT_FLAGS,
  ACCOUNT_LISTED,
  ACCOUNT_NONCE,
  ACCOUNT_READ,
  ACCOUNT_SLOTS,
  ACCOUNT_WARM_FROM_START,
  CREATED,
  EXISTS,
  eachAccount,
  REMOVED,
} from './accounts';
import { allocate, enlarge } from './allocator';
import { CODE_BYTES, CODE_DELEGATION, CODE_LENGTH } from './codes';
import { eachWritten } from './journal';
import {
  SLOT_DIRTY,
  SLOT_LISTED,
  SLOT_NEXT,
  SLOT_ORIGINAL,
  SLOT_READ,
  SLOT_VALUE,
  SLOT_WARM_FROM_START,
  SLOT_WRITTEN,
} from './slots';
import { transaction } from './state';
import { toBytes } from './word';

/**
 * Lists for the host, in one buffer.
 *
 * Change of an account, 112 bytes: flags u32 (1 exists, 2 removed in between, 4 may have new code, 8 storage emptied) | slot count u32 |
 * address (20), padded to +32 | nonce u64 | code u32 | code length u32 | balance | code hash; then its slots, key and
 * value.
 *
 * Access, 32 bytes: address (20) | 4 unused | slot count u32 | 4 unused; then the keys. What was loaded is the same; each key has the
 * slot's value before and after the transaction behind it.
 */
const CHANGE_BYTES: usize = 112;
const ACCESS_BYTES: usize = 32;

let buffer: usize = 0;
let capacity: usize = 0;
let used: usize = 0;
let count: i32 = 0;

export function reportAt(): usize {
  return buffer;
}

function add(bytes: usize): usize {
  if (used + bytes > capacity) {
    const wanted = max(max(used + bytes, capacity << 1), 4096);
    buffer = capacity === 0 ? allocate(wanted) : enlarge(buffer, capacity, used, wanted);
    capacity = wanted;
  }
  const record = buffer + used;
  used += bytes;
  memory.fill(record, 0, bytes);
  return record;
}

/** Writes what the transaction changed. @returns number of accounts */
export function reportChanges(): i32 {
  used = 0;
  count = 0;
  eachWritten(transaction, addChange);
  return count;
}

function addChange(account: usize): void {
  count++;
  const at = add(CHANGE_BYTES) - buffer;
  let slots: u32 = 0;
  for (let slot = <usize>load<u32>(account, ACCOUNT_SLOTS); slot !== 0; slot = <usize>load<u32>(slot, SLOT_NEXT)) {
    if (load<u32>(slot, SLOT_DIRTY) !== transaction) continue;
    slots++;
    const pair = add(64);
    toBytes(slot, pair);
    toBytes(slot + SLOT_VALUE, pair + 32);
  }
  const record = buffer + at;
  const flags = load<u32>(account, ACCOUNT_FLAGS);
  const exists = <u32>((flags & EXISTS) !== 0);
  const removed: u32 = (flags & REMOVED) !== 0 ? 2 : 0;
  const emptied: u32 = (flags & (CREATED | REMOVED)) !== 0 ? 8 : 0;
  const code = <usize>load<u32>(account, ACCOUNT_CODE);
  const isNewCode = code !== 0 && ((flags & CREATED) !== 0 || load<u32>(code, CODE_DELEGATION) !== 0);
  store<u32>(record, exists | removed | emptied | (isNewCode ? 4 : 0));
  store<u32>(record, slots, 4);
  memory.copy(record + 8, account, 20);
  store<u64>(record, load<u64>(account, ACCOUNT_NONCE), 32);
  if (code !== 0) {
    store<u32>(record, load<u32>(code, CODE_BYTES), 40);
    store<u32>(record, load<u32>(code, CODE_LENGTH), 44);
  }
  toBytes(account + ACCOUNT_BALANCE, record + 48);
  memory.copy(record + 80, account + ACCOUNT_CODE_HASH, 32);
}

/** Writes the accounts and slots that were accessed and were not warm from the start. @returns number of accounts */
export function reportAccesses(): i32 {
  used = 0;
  count = 0;
  eachAccount(addAccess);
  return count;
}

function addAccess(account: usize): void {
  const at = used;
  const isListed =
    load<u32>(account, ACCOUNT_LISTED) === transaction && load<u32>(account, ACCOUNT_WARM_FROM_START) !== transaction;
  let slots: u32 = 0;
  for (let slot = <usize>load<u32>(account, ACCOUNT_SLOTS); slot !== 0; slot = <usize>load<u32>(slot, SLOT_NEXT)) {
    if (load<u32>(slot, SLOT_LISTED) !== transaction || load<u32>(slot, SLOT_WARM_FROM_START) === transaction) continue;
    if (slots++ === 0) add(ACCESS_BYTES);
    toBytes(slot, add(32));
  }
  if (slots === 0) {
    if (!isListed) return;
    add(ACCESS_BYTES);
  }
  count++;
  const record = buffer + at;
  memory.copy(record, account, 20);
  store<u32>(record, slots, 24);
}

/** Writes the accounts and slots that were loaded. @returns number of accounts */
export function reportLoads(): i32 {
  used = 0;
  count = 0;
  eachAccount(addLoad);
  return count;
}

function addLoad(account: usize): void {
  if (load<u32>(account, ACCOUNT_READ) !== transaction) return;
  const at = add(ACCESS_BYTES) - buffer;
  let slots: u32 = 0;
  for (let slot = <usize>load<u32>(account, ACCOUNT_SLOTS); slot !== 0; slot = <usize>load<u32>(slot, SLOT_NEXT)) {
    if (load<u32>(slot, SLOT_READ) !== transaction) continue;
    slots++;
    const entry = add(96);
    const before = load<u32>(slot, SLOT_WRITTEN) === transaction ? SLOT_ORIGINAL : SLOT_VALUE;
    toBytes(slot, entry);
    toBytes(slot + before, entry + 32);
    toBytes(slot + SLOT_VALUE, entry + 64);
  }
  count++;
  memory.copy(buffer + at, account, 20);
  store<u32>(buffer + at, slots, 24);
}
