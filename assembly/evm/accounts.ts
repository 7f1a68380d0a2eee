// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

import { EMPTY_CODE } from './codes';
import { Index, Records } from './records';

/**
 * Account record, 144 bytes:
 *
 *   +0 address (20) | +24 flags u32 | +28 precompile u32 | +32 balance | +64 code hash | +96 nonce u64
 *   +104 code u32 (0: not handed in) | +108 first slot u32 | +112 warm u32 | +116 listed u32 | +120 warm from the start u32
 *   +124 dirty u32 | +128 hash u32 | +132 read u32
 *
 * `warm`, `listed`, `dirty` and `read` hold the number of the transaction for which they are true.
 */
export const ACCOUNT_FLAGS: usize = 24;
export const ACCOUNT_PRECOMPILE: usize = 28;
export const ACCOUNT_BALANCE: usize = 32;
export const ACCOUNT_CODE_HASH: usize = 64;
export const ACCOUNT_NONCE: usize = 96;
export const ACCOUNT_CODE: usize = 104;
export const ACCOUNT_SLOTS: usize = 108;
export const ACCOUNT_WARM: usize = 112;
export const ACCOUNT_LISTED: usize = 116;
export const ACCOUNT_WARM_FROM_START: usize = 120;
export const ACCOUNT_DIRTY: usize = 124;
export const ACCOUNT_READ: usize = 132;
const ACCOUNT_HASH: usize = 128;

/** The host handed in its values. */
export const LOADED: u32 = 1;
export const EXISTS: u32 = 2;
/** Created in this transaction. */
export const CREATED: u32 = 4;
/** Will be removed at the end of this transaction. */
export const DESTROYED: u32 = 8;
/** Slots that were not handed in are zero. */
export const CLEARED: u32 = 16;
/** Touched in this transaction (EIP-161). */
export const TOUCHED: u32 = 32;
/** Was removed in this transaction. */
export const REMOVED: u32 = 64;
/** Flags that hold for one transaction. */
export const OF_TRANSACTION: u32 = CREATED | DESTROYED | TOUCHED | REMOVED;

const records = changetype<Records>(memory.data<u32>([144, 0, 0, 0, 0]));
const index = changetype<Index>(memory.data<u32>([128, 0, 0, 0]));

/** Addresses of the precompiles and others that are warm in every transaction: 32 bytes each, precompile at +20. */
const SPECIAL_PLACES: i32 = 64;
const SPECIAL: usize = memory.data(64 * 32, 16);
let specials: i32 = 0;

function hashOf(address: usize): u32 {
  const mixed =
    (load<u64>(address) ^ (load<u64>(address, 8) * 0x9e3779b97f4a7c15) ^ ((<u64>load<u32>(address, 16)) << 21)) *
    0xd6e8feb86659fd93;
  return <u32>(mixed >> 32);
}

/** The record of an address (20 bytes), new and not loaded if there was none. */
export function accountAt(address: usize): usize {
  const hash = hashOf(address);
  let place = index.place(hash);
  let record = index.at(place);
  while (record !== 0) {
    if (
      load<u64>(record) === load<u64>(address) &&
      load<u64>(record, 8) === load<u64>(address, 8) &&
      load<u32>(record, 16) === load<u32>(address, 16)
    )
      return record;
    place = index.after(place);
    record = index.at(place);
  }
  record = records.add();
  memory.copy(record, address, 20);
  store<u32>(record, hash, ACCOUNT_HASH);
  store<u32>(record, specialOf(address), ACCOUNT_PRECOMPILE);
  index.add(place, record);
  return record;
}

function specialOf(address: usize): u32 {
  for (let i = 0; i < specials; i++) {
    const special = SPECIAL + ((<usize>i) << 5);
    if (memory.compare(special, address, 20) === 0) return load<u32>(special, 20);
  }
  return 0;
}

/** Makes an address a precompile; 0: it is none. */
export function definePrecompile(address: usize, id: u32): void {
  let special: usize = 0;
  for (let i = 0; i < specials; i++) {
    if (memory.compare(SPECIAL + ((<usize>i) << 5), address, 20) === 0) special = SPECIAL + ((<usize>i) << 5);
  }
  if (special === 0) {
    if (specials === SPECIAL_PLACES) unreachable();
    special = SPECIAL + ((<usize>specials) << 5);
    specials++;
    memory.copy(special, address, 20);
    store<u32>(special, 0, 24);
  }
  store<u32>(special, id, 20);
  store<u32>(accountAt(address), id, ACCOUNT_PRECOMPILE);
}

/** Makes an address warm in every transaction. */
export function warmAlways(address: usize): void {
  definePrecompile(address, load<u32>(accountAt(address), ACCOUNT_PRECOMPILE));
  for (let i = 0; i < specials; i++) {
    const special = SPECIAL + ((<usize>i) << 5);
    if (memory.compare(special, address, 20) === 0) store<u32>(special, 1, 24);
  }
}

/** Warms the addresses that are warm in every transaction. */
export function warmSpecials(transaction: u32): void {
  for (let i = 0; i < specials; i++) {
    const special = SPECIAL + ((<usize>i) << 5);
    if (load<u32>(special, 24) === 0) continue;
    const account = accountAt(special);
    store<u32>(account, transaction, ACCOUNT_WARM);
    store<u32>(account, transaction, ACCOUNT_WARM_FROM_START);
  }
}

export function forgetSpecials(): void {
  for (let i = 0; i < specials; i++) store<u32>(accountAt(SPECIAL + ((<usize>i) << 5)), 0, ACCOUNT_PRECOMPILE);
  specials = 0;
}

/** Calls `visit` with every account that was named since `forgetAccounts`. */
export function eachAccount(visit: (account: usize) => void): void {
  records.each(visit);
}

export function forgetAccounts(): void {
  records.rewind();
  index.clear();
}

/** An account without nonce, balance and code (EIP-161). One that does not exist is empty too. */
export function isEmpty(account: usize): bool {
  return (
    load<u64>(account, ACCOUNT_NONCE) === 0 &&
    (load<u64>(account, ACCOUNT_BALANCE) |
      load<u64>(account, ACCOUNT_BALANCE + 8) |
      load<u64>(account, ACCOUNT_BALANCE + 16) |
      load<u64>(account, ACCOUNT_BALANCE + 24)) ===
      0 &&
    !hasCode(account)
  );
}

export function hasCode(account: usize): bool {
  return load<u32>(account, ACCOUNT_CODE) !== <u32>EMPTY_CODE;
}

/** Sets the values of an account that does not exist. */
export function setAbsent(account: usize): void {
  memory.fill(account + ACCOUNT_BALANCE, 0, 32);
  memory.copy(account + ACCOUNT_CODE_HASH, EMPTY_CODE, 32);
  store<u64>(account, 0, ACCOUNT_NONCE);
  store<u32>(account, <u32>EMPTY_CODE, ACCOUNT_CODE);
}

export function hasFlag(account: usize, flag: u32): bool {
  return (load<u32>(account, ACCOUNT_FLAGS) & flag) !== 0;
}

export function addFlag(account: usize, flag: u32): void {
  store<u32>(account, load<u32>(account, ACCOUNT_FLAGS) | flag, ACCOUNT_FLAGS);
}
