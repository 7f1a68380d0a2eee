import { WANTED } from './regions';
import { toBytes } from './word';

/** Most things that are wanted at a time. */
export const MOST_WANTS: u32 = 16;
/** What a run needs before it goes on: records of 64 bytes, written by the instruction that will run again. */
export const WANTS: usize = memory.data(64 * 16, 16);
const ACCOUNT: u32 = 1;
const ACCOUNT_AND_CODE: u32 = 2;
const SLOT: u32 = 3;
const BLOCK_HASH: u32 = 4;
const CODE: u32 = 5;

let count: i32 = 0;

export function wantCount(): i32 {
  return count;
}

export function dropWants(): void {
  count = 0;
}

function add(kind: u32): usize {
  const want = WANTS + ((<usize>count) << 6);
  count++;
  memory.fill(want, 0, 64);
  store<u32>(want, kind);
  return want;
}

/** @returns `WANTED`, for the caller to return */
export function wantAccount(account: usize): i32 {
  memory.copy(add(ACCOUNT) + 4, account, 20);
  return WANTED;
}

export function wantAccountAndCode(account: usize): i32 {
  memory.copy(add(ACCOUNT_AND_CODE) + 4, account, 20);
  return WANTED;
}

/** @param slot - its record, which begins with the key */
export function wantSlot(account: usize, slot: usize): i32 {
  const want = add(SLOT);
  memory.copy(want + 4, account, 20);
  toBytes(slot, want + 32);
  return WANTED;
}

export function wantBlockHash(number: u64): i32 {
  store<u64>(add(BLOCK_HASH), number, 24);
  return WANTED;
}

export function wantCode(hash: usize): i32 {
  memory.copy(add(CODE) + 32, hash, 32);
  return WANTED;
}
