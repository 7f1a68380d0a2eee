/** Block access lists against the hash in a header (EIP-7928), and what they make of values that are known. */

import {
  type AccountAccesses,
  type BlockAccessList,
  encodeAccountAccesses,
  type IndexedChange,
  maxAccessItems,
} from '../ethereum/block-access-list.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import type { BlockHeader } from '../ethereum/header.js';
import { keccak256 } from '../kernel/keccak.js';
import { bigIntToBytes, bytesToKey, compareBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { encodedList } from '../primitives/rlp-list.js';
import { nextTurn } from '../scheduling/turns.js';
import { hasNoCode } from './ethereum-proof.js';
import { malformed, member, readArray, readBytes, readCount, readNumber256, readObject } from './json-reader.js';
import { type ProofFailure, Refusal } from './verdict.js';

/** Why a list is refused. */
type AccessListFailureReason =
  /** It is not the list that the header names: something in it is changed, missing or added. */
  | 'ACCESS_LIST_HASH_MISMATCH'
  /** Accounts, slots or indexes do not ascend, or one is there twice. */
  | 'ACCESS_LIST_ORDER'
  /** It has more accounts and slots than the gas limit of its block allows. */
  | 'ACCESS_LIST_TOO_LONG';

/** A list, or why it is refused. */
type AccessListVerdict =
  | {
      readonly verified: true;
      readonly list: BlockAccessList;
      /** Of the list in RLP. */
      readonly bytes: number;
    }
  | ProofFailure<AccessListFailureReason>;

/**
 * Verifies the access list of a block against its header. A long one takes several turns.
 *
 * @param answer - `result` of `eth_getBlockAccessList`
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export async function verifyAccessList(
  { blockAccessListHash, gasLimit }: Pick<BlockHeader, 'blockAccessListHash' | 'gasLimit'>,
  answer: unknown,
): Promise<AccessListVerdict> {
  const most = maxAccessItems(gasLimit);
  const list: AccountAccesses[] = [];
  const encoded: Uint8Array[] = [];
  let items = 0;
  try {
    for (const [i, entry] of readArray(answer, 'the list').entries()) {
      await nextTurn();
      const at = `[${i}]`;
      const account = readAccount(entry, at);
      requireAscending([...list.slice(-1), account], at, ({ address }) => address);
      items += 1 + account.storageChanges.length + account.storageReads.length;
      if (items > most)
        throw new Refusal('ACCESS_LIST_TOO_LONG', at, `is more than the ${most} items that its block allows`);
      list.push(account);
      encoded.push(encodeAccountAccesses(account));
    }
    const rlp = encodedList(encoded);
    if (blockAccessListHash === undefined || !equalBytes(keccak256(rlp), blockAccessListHash))
      throw new Refusal('ACCESS_LIST_HASH_MISMATCH', '', 'the list does not have the hash in the header');
    return { verified: true, list, bytes: rlp.length };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { verified: false, reason: error.reason, at: error.at, message: error.message };
  }
}

/** Members that are left out are empty. */
function readAccount(json: unknown, at: string): AccountAccesses {
  const object = readObject(json, at);
  const all = <T>(name: string, read: (item: unknown, at: string) => T): T[] => {
    const path = member(at, name);
    return object[name] === undefined
      ? []
      : readArray(object[name], path).map((item, i) => read(item, `${path}[${i}]`));
  };
  const account: AccountAccesses = {
    address: readBytes(object.address, member(at, 'address'), 20),
    storageChanges: all('storageChanges', (item, path) => {
      const { key, changes } = readObject(item, path);
      const each = readArray(changes, member(path, 'changes'));
      return {
        key: readWord(key, member(path, 'key')),
        changes: each.map((change, i) => readChange(change, `${path}.changes[${i}]`, 'value', readWord)),
      };
    }),
    storageReads: all('storageReads', readWord),
    balanceChanges: all('balanceChanges', (item, path) => readChange(item, path, 'value', readNumber256)),
    nonceChanges: all('nonceChanges', (item, path) => readChange(item, path, 'value', readNumber256)),
    codeChanges: all('codeChanges', (item, path) =>
      readChange(item, path, 'code', (code, in_) => readBytes(code, in_)),
    ),
  };
  const { storageChanges, storageReads, balanceChanges, nonceChanges, codeChanges } = account;
  requireAscending(storageChanges, member(at, 'storageChanges'), ({ key }) => key);
  requireAscending(storageReads, member(at, 'storageReads'), (key) => key);
  for (const { changes } of storageChanges) {
    if (changes.length === 0) throw malformed(member(at, 'storageChanges'), 'has a slot without a change');
    requireIndexes(changes, member(at, 'storageChanges'));
  }
  requireIndexes(balanceChanges, member(at, 'balanceChanges'));
  requireIndexes(nonceChanges, member(at, 'nonceChanges'));
  requireIndexes(codeChanges, member(at, 'codeChanges'));
  return account;
}

function readChange<Value>(
  json: unknown,
  at: string,
  name: 'value' | 'code',
  read: (value: unknown, at: string) => Value,
): IndexedChange<Value> {
  const object = readObject(json, at);
  return { index: readCount(object.index, member(at, 'index')), value: read(object[name], member(at, name)) };
}

function readWord(value: unknown, at: string): Uint8Array {
  return bigIntToBytes(readNumber256(value, at), 32);
}

function requireAscending<Item>(items: readonly Item[], at: string, key: (item: Item) => Uint8Array): void {
  for (let i = 1; i < items.length; i++)
    if (compareBytes(key(items[i - 1]!), key(items[i]!)) >= 0) throw outOfOrder(at);
}

function requireIndexes(changes: readonly IndexedChange<unknown>[], at: string): void {
  for (let i = 1; i < changes.length; i++) if (changes[i - 1]!.index >= changes[i]!.index) throw outOfOrder(at);
}

function outOfOrder(at: string): Refusal<AccessListFailureReason> {
  return new Refusal('ACCESS_LIST_ORDER', at, 'is not in ascending order');
}

/** Balance, nonce and code of an account. */
interface AccountValues {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** 32 bytes. */
  readonly codeHash: Uint8Array;
}

/** Values of an account while lists are applied, undefined if it is not there; slots, 32 bytes each, by `bytesToKey` of the slot. */
export interface ListedAccount {
  account: AccountValues | undefined;
  readonly slots: Map<string, Uint8Array>;
}

const NOTHING: AccountValues = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH };

/**
 * Takes the values of an account to the end of a block whose list names it: those of slots that are held, and no others. What is not
 * known any more is removed.
 *
 * @param onCode - called with code that the account has from now on
 */
export function applyAccesses(
  held: ListedAccount,
  accesses: AccountAccesses,
  onCode: (codeHash: Uint8Array, code: Uint8Array) => void = () => {},
): void {
  changeSlots(held, accesses);
  held.account = changedAccount(held.account, accesses, onCode);
}

/**
 * Slots without a change stay as they were, in general. A transaction can remove an account without nonce and code, or create one at its
 * address and destroy it, with all slots, which the list does not name then. Where that may have been, what could have gone is not known
 * any more.
 */
function changeSlots(
  { account, slots }: ListedAccount,
  { storageChanges, nonceChanges, codeChanges }: AccountAccesses,
): void {
  const { nonce, codeHash } = account ?? NOTHING;
  // As the transactions find it, and what each of them leaves.
  const nonces = [...(nonceChanges[0]?.index === 0 ? [] : [nonce]), ...nonceChanges.map(({ value }) => value)];
  const codes = [
    ...(codeChanges[0]?.index === 0 ? [] : [!hasNoCode(codeHash)]),
    ...codeChanges.map(({ value }) => value.length > 0),
  ];
  const mayHaveGone = nonces.includes(0n) && codes.includes(false);
  const named = new Set(storageChanges.map(({ key }) => bytesToKey(key)));
  if (mayHaveGone)
    for (const [slot, value] of [...slots]) if (!named.has(slot) && !isZeroBytes(value)) slots.delete(slot);
  for (const { key, changes } of storageChanges) {
    const slot = bytesToKey(key);
    if (!slots.has(slot)) continue;
    const { index, value } = changes.at(-1)!;
    // What a transaction wrote stays in the block. Index 0 is before the transactions, which may remove the account.
    if (!mayHaveGone || index > 0 || isZeroBytes(value)) slots.set(slot, value);
    else slots.delete(slot);
  }
}

function changedAccount(
  before: AccountValues | undefined,
  { storageChanges, balanceChanges, nonceChanges, codeChanges }: AccountAccesses,
  onCode: (codeHash: Uint8Array, code: Uint8Array) => void,
): AccountValues | undefined {
  const { balance, nonce, codeHash } = before ?? NOTHING;
  const code = codeChanges.at(-1)?.value;
  const after = {
    balance: lastOf(balanceChanges, balance),
    nonce: lastOf(nonceChanges, nonce),
    codeHash: code === undefined ? codeHash : code.length === 0 ? EMPTY_CODE_HASH : keccak256(code),
  };
  if (code !== undefined && code.length > 0) onCode(after.codeHash, code);
  const isEmpty = after.balance === 0n && after.nonce === 0n && hasNoCode(after.codeHash);
  // An account that may be there without anything: all read it as one that is not there, but its slots need not be zero.
  return isEmpty && before === undefined && storageChanges.length === 0 ? undefined : after;
}

function lastOf<Value>(changes: readonly IndexedChange<Value>[], before: Value): Value {
  return changes.length === 0 ? before : changes.at(-1)!.value;
}
