import {
  ACCOUNT_BALANCE,
  ACCOUNT_CODE,
  ACCOUNT_CODE_HASH,
  ACCOUNT_FLAGS,
  ACCOUNT_LISTED,
  ACCOUNT_READ,
  ACCOUNT_SLOTS,
  ACCOUNT_WARM,
  accountAt,
  CLEARED,
  DESTROYED,
  EXISTS,
  hasFlag,
  isEmpty,
  LOADED,
  REMOVED,
  TOUCHED,
} from './accounts';
import { EMPTY_CODE, findCode } from './codes';
import { AMSTERDAM, BERLIN, COLD_ACCOUNT_GAS, COLD_SLOT_GAS, FORK, SPURIOUS_DRAGON } from './forks';
import {
  eachFlagged,
  keepBalance,
  keepOriginal,
  keepTransient,
  keepValue,
  setCode,
  setFlags,
  setNonce,
  warmAccount,
  warmSlot,
} from './journal';
import {
  SLOT_HAS_TRANSIENT,
  SLOT_LISTED,
  SLOT_LOADED,
  SLOT_NEXT,
  SLOT_ORIGINAL,
  SLOT_READ,
  SLOT_TRANSIENT,
  SLOT_VALUE,
  SLOT_WARM,
  SLOT_WRITTEN,
} from './slots';
import { add, copy, isZero, sub, toBytes, zero } from './word';

/** Journaled writes to accounts and slots, and the access rules of EIP-2929. */

/** Number of the transaction; marks in records hold the number for which they are true. */
export let transaction: u32 = 0;

export function nextTransaction(): void {
  transaction++;
}

const ADDRESS: usize = memory.data(32, 16);

/** The account whose address is the low 20 bytes of a word. */
export function accountOfWord(word: usize): usize {
  toBytes(word, ADDRESS);
  return accountAt(ADDRESS + 12);
}

/**
 * Gas for the first access to an account, besides the warm price. An account that is not warm is listed as accessed, even if
 * the gas is short: an access list makes the access cheaper. What a creation warmed, also one that failed, stays off the list.
 */
export function coldAccountGas(account: usize): i64 {
  if (load<u32>(account, ACCOUNT_WARM) === transaction) return 0;
  store<u32>(account, transaction, ACCOUNT_LISTED);
  return COLD_ACCOUNT_GAS;
}

/** As `coldAccountGas`, for an account that another delegates to. From Amsterdam on an entry costs more than it saves, and geth lists none. */
export function coldDelegateGas(account: usize): i64 {
  if (FORK < AMSTERDAM) return coldAccountGas(account);
  return load<u32>(account, ACCOUNT_WARM) === transaction ? 0 : COLD_ACCOUNT_GAS;
}

/** Notes that execution loads an account, for the block access list (EIP-7928). The note stays if the frame fails. */
export function noteAccount(account: usize): void {
  store<u32>(account, transaction, ACCOUNT_READ);
}

/** Warms an account, whose access is paid. */
export function accessAccount(account: usize): void {
  noteAccount(account);
  if (FORK >= BERLIN && load<u32>(account, ACCOUNT_WARM) !== transaction) warmAccount(account, transaction);
}

/** Gas for the first access to a slot, besides the warm price. The slot is listed as accessed. */
export function coldSlotGas(slot: usize): i64 {
  store<u32>(slot, transaction, SLOT_LISTED);
  return load<u32>(slot, SLOT_WARM) === transaction ? 0 : COLD_SLOT_GAS;
}

/** As `noteAccount`, for a slot. */
export function noteSlot(slot: usize): void {
  store<u32>(slot, transaction, SLOT_READ);
}

/** Warms a slot, whose access is paid. */
export function accessSlot(slot: usize): void {
  noteSlot(slot);
  if (FORK >= BERLIN && load<u32>(slot, SLOT_WARM) !== transaction) warmSlot(slot, transaction);
}

/** Whether the value of a slot is known. */
export function knowsSlot(account: usize, slot: usize): bool {
  if (load<u32>(slot, SLOT_LOADED) !== 0) return true;
  if (!hasFlag(account, CLEARED)) return false;
  store<u32>(slot, 1, SLOT_LOADED);
  return true;
}

/** The code record of a loaded account; 0 if the code was not handed in. */
export function codeOf(account: usize): usize {
  let code = <usize>load<u32>(account, ACCOUNT_CODE);
  if (code === 0) {
    code = findCode(account + ACCOUNT_CODE_HASH);
    store<u32>(account, <u32>code, ACCOUNT_CODE);
  }
  return code;
}

/** Marks an account as touched (EIP-161). Before Spurious Dragon this creates it. */
export function touch(account: usize): void {
  const flags = load<u32>(account, ACCOUNT_FLAGS);
  const touched = flags | TOUCHED | (FORK < SPURIOUS_DRAGON ? EXISTS : 0);
  if (touched !== flags) setFlags(account, touched);
}

/** Marks an account as existing. */
export function establish(account: usize, added: u32 = 0): void {
  const flags = load<u32>(account, ACCOUNT_FLAGS);
  const existing = flags | TOUCHED | EXISTS | added;
  if (existing !== flags) setFlags(account, existing);
}

/** Moves ether. The caller has checked the balance. */
export function transfer(from: usize, to: usize, value: usize): void {
  if (isZero(value)) {
    touch(to);
    return;
  }
  keepBalance(from);
  sub(from + ACCOUNT_BALANCE, value, from + ACCOUNT_BALANCE);
  touch(from);
  keepBalance(to);
  add(to + ACCOUNT_BALANCE, value, to + ACCOUNT_BALANCE);
  establish(to);
}

export function setBalanceZero(account: usize): void {
  keepBalance(account);
  zero(account + ACCOUNT_BALANCE);
}

export function writeSlot(slot: usize, value: usize): void {
  if (load<u32>(slot, SLOT_WRITTEN) !== transaction) {
    copy(slot + SLOT_VALUE, slot + SLOT_ORIGINAL);
    store<u32>(slot, transaction, SLOT_WRITTEN);
  }
  keepValue(slot);
  copy(value, slot + SLOT_VALUE);
}

export function writeTransient(slot: usize, value: usize): void {
  if (load<u32>(slot, SLOT_HAS_TRANSIENT) !== transaction) {
    zero(slot + SLOT_TRANSIENT);
    store<u32>(slot, transaction, SLOT_HAS_TRANSIENT);
  }
  keepTransient(slot);
  copy(value, slot + SLOT_TRANSIENT);
}

/** Empties the storage of an account that is being created or removed. */
export function clearStorage(account: usize): void {
  for (let slot = <usize>load<u32>(account, ACCOUNT_SLOTS); slot !== 0; slot = <usize>load<u32>(slot, SLOT_NEXT)) {
    if (load<u32>(slot, SLOT_LOADED) === 0) continue;
    if (load<u32>(slot, SLOT_WRITTEN) !== transaction) {
      copy(slot + SLOT_VALUE, slot + SLOT_ORIGINAL);
      store<u32>(slot, transaction, SLOT_WRITTEN);
    }
    keepOriginal(slot);
    zero(slot + SLOT_ORIGINAL);
    if (isZero(slot + SLOT_VALUE)) continue;
    keepValue(slot);
    zero(slot + SLOT_VALUE);
  }
}

/** From Amsterdam on an account keeps its balance, and exists if it has one (EIP-8246). */
function remove(account: usize): void {
  if (FORK < AMSTERDAM) setBalanceZero(account);
  setNonce(account, 0);
  setCode(account, EMPTY_CODE);
  clearStorage(account);
  const gone = isZero(account + ACCOUNT_BALANCE) ? EXISTS | DESTROYED | TOUCHED : DESTROYED | TOUCHED;
  setFlags(account, (load<u32>(account, ACCOUNT_FLAGS) & ~gone) | CLEARED | REMOVED);
}

function removeDestroyed(account: usize): void {
  if (hasFlag(account, DESTROYED)) remove(account);
}

function removeEmpty(account: usize): void {
  if (hasFlag(account, TOUCHED) && hasFlag(account, EXISTS) && isEmpty(account)) remove(account);
}

/** Removes destroyed accounts, and from Spurious Dragon on touched accounts that are empty. */
export function removeAccounts(): void {
  eachFlagged(removeDestroyed);
  if (FORK >= SPURIOUS_DRAGON) eachFlagged(removeEmpty);
}

export function isLoaded(account: usize): bool {
  return hasFlag(account, LOADED);
}
