import {
  ACCOUNT_BALANCE,
  ACCOUNT_CODE,
  ACCOUNT_CODE_HASH,
  ACCOUNT_DIRTY,
  ACCOUNT_FLAGS,
  ACCOUNT_NONCE,
  ACCOUNT_PRECOMPILE,
  ACCOUNT_WARM,
  OF_TRANSACTION,
  TOUCHED,
} from './accounts';
import { allocate, enlarge } from './allocator';
import { accountOf, SLOT_DIRTY, SLOT_ORIGINAL, SLOT_TRANSIENT, SLOT_VALUE, SLOT_WARM } from './slots';

/**
 * Undo records of the transaction, 48 bytes each: kind u32 | record u32 | old value (40).
 *
 * An account's old value is its flags, nonce and, by kind, balance or code; a slot's is a word.
 */
const FLAGS: u32 = 1;
const BALANCE: u32 = 2;
const NONCE: u32 = 3;
const CODE: u32 = 4;
const VALUE: u32 = 5;
const TRANSIENT: u32 = 6;
const WARM_ACCOUNT: u32 = 7;
const WARM_SLOT: u32 = 8;
const ORIGINAL: u32 = 9;

const ENTRY_BYTES: usize = 48;
const OLD: usize = 8;

let entries: usize = 0;
let capacity: usize = 0;
let used: usize = 0;

/** A mark to which `undoTo` goes back. */
export function journalMark(): usize {
  return used;
}

function add(kind: u32, record: usize): usize {
  if (used + ENTRY_BYTES > capacity) {
    const wanted: usize = capacity === 0 ? 4096 : capacity << 1;
    entries = capacity === 0 ? allocate(wanted) : enlarge(entries, capacity, used, wanted);
    capacity = wanted;
  }
  const entry = entries + used;
  used += ENTRY_BYTES;
  store<u32>(entry, kind);
  store<u32>(entry, <u32>record, 4);
  return entry + OLD;
}

export function setFlags(account: usize, flags: u32): void {
  store<u32>(add(FLAGS, account), load<u32>(account, ACCOUNT_FLAGS));
  store<u32>(account, flags, ACCOUNT_FLAGS);
}

/** Keeps the balance, before it is changed. */
export function keepBalance(account: usize): void {
  memory.copy(add(BALANCE, account), account + ACCOUNT_BALANCE, 32);
}

export function setNonce(account: usize, nonce: u64): void {
  store<u64>(add(NONCE, account), load<u64>(account, ACCOUNT_NONCE));
  store<u64>(account, nonce, ACCOUNT_NONCE);
}

/** @param code - record, whose first 32 bytes are the hash */
export function setCode(account: usize, code: usize): void {
  const old = add(CODE, account);
  memory.copy(old, account + ACCOUNT_CODE_HASH, 32);
  store<u32>(old, load<u32>(account, ACCOUNT_CODE), 32);
  memory.copy(account + ACCOUNT_CODE_HASH, code, 32);
  store<u32>(account, <u32>code, ACCOUNT_CODE);
}

/** Keeps the value of a slot, before it is changed. */
export function keepValue(slot: usize): void {
  memory.copy(add(VALUE, slot), slot + SLOT_VALUE, 32);
}

/** Keeps the transient value of a slot, before it is changed. */
export function keepTransient(slot: usize): void {
  memory.copy(add(TRANSIENT, slot), slot + SLOT_TRANSIENT, 32);
}

/** Keeps a slot's value at the start of the transaction, before it is changed. */
export function keepOriginal(slot: usize): void {
  memory.copy(add(ORIGINAL, slot), slot + SLOT_ORIGINAL, 32);
}

export function warmAccount(account: usize, transaction: u32): void {
  add(WARM_ACCOUNT, account);
  store<u32>(account, transaction, ACCOUNT_WARM);
}

export function warmSlot(slot: usize, transaction: u32): void {
  add(WARM_SLOT, slot);
  store<u32>(slot, transaction, SLOT_WARM);
}

/** Undoes what was written since a mark, newest first. */
export function undoTo(mark: usize): void {
  while (used > mark) {
    used -= ENTRY_BYTES;
    const entry = entries + used;
    undo(load<u32>(entry), <usize>load<u32>(entry, 4), entry + OLD);
  }
}

function undo(kind: u32, record: usize, old: usize): void {
  switch (kind) {
    case FLAGS:
      // The touch of the precompile at 0x03 stays (EIP-161, an accident of the main network that clients keep).
      store<u32>(record, load<u32>(old) | keptTouch(record), ACCOUNT_FLAGS);
      return;
    case BALANCE:
      memory.copy(record + ACCOUNT_BALANCE, old, 32);
      return;
    case NONCE:
      store<u64>(record, load<u64>(old), ACCOUNT_NONCE);
      return;
    case CODE:
      memory.copy(record + ACCOUNT_CODE_HASH, old, 32);
      store<u32>(record, load<u32>(old, 32), ACCOUNT_CODE);
      return;
    case VALUE:
      memory.copy(record + SLOT_VALUE, old, 32);
      return;
    case TRANSIENT:
      memory.copy(record + SLOT_TRANSIENT, old, 32);
      return;
    case WARM_ACCOUNT:
      store<u32>(record, 0, ACCOUNT_WARM);
      return;
    case WARM_SLOT:
      store<u32>(record, 0, SLOT_WARM);
      return;
    case ORIGINAL:
      memory.copy(record + SLOT_ORIGINAL, old, 32);
      return;
  }
}

function keptTouch(account: usize): u32 {
  return load<u32>(account, ACCOUNT_PRECOMPILE) === 3 ? load<u32>(account, ACCOUNT_FLAGS) & TOUCHED : 0;
}

/** Accepts all entries: flags of the transaction end. */
export function closeJournal(): void {
  for (let at: usize = 0; at < used; at += ENTRY_BYTES) {
    if (load<u32>(entries + at) !== FLAGS) continue;
    const account = <usize>load<u32>(entries + at, 4);
    store<u32>(account, load<u32>(account, ACCOUNT_FLAGS) & ~OF_TRANSACTION, ACCOUNT_FLAGS);
  }
  used = 0;
}

/** Calls `visit` for each account whose flags were written before now; one with several writes comes several times. */
export function eachFlagged(visit: (account: usize) => void): void {
  const end = used;
  for (let at: usize = 0; at < end; at += ENTRY_BYTES) {
    if (load<u32>(entries + at) === FLAGS) visit(<usize>load<u32>(entries + at, 4));
  }
}

/** Calls `visit` once for each account that was written to, in the order of the first writes. */
export function eachWritten(transaction: u32, visit: (account: usize) => void): void {
  for (let at: usize = 0; at < used; at += ENTRY_BYTES) {
    const kind = load<u32>(entries + at);
    let account = <usize>load<u32>(entries + at, 4);
    if (kind === VALUE) {
      store<u32>(account, transaction, SLOT_DIRTY);
      account = accountOf(account);
    } else if (kind > CODE) continue;
    if (load<u32>(account, ACCOUNT_DIRTY) === transaction) continue;
    store<u32>(account, transaction, ACCOUNT_DIRTY);
  }
  for (let at: usize = 0; at < used; at += ENTRY_BYTES) {
    const kind = load<u32>(entries + at);
    let account = <usize>load<u32>(entries + at, 4);
    if (kind === VALUE) account = accountOf(account);
    else if (kind > CODE) continue;
    if (load<u32>(account, ACCOUNT_DIRTY) !== transaction) continue;
    store<u32>(account, 0, ACCOUNT_DIRTY);
    visit(account);
  }
}
