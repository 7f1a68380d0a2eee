/**
 * How a block is written into the tries (docs/spec/state-trie.md 5.3). Accounts and slots are sorted by hashed key, and what the block
 * says was there is compared with what is held, before anything is written. Storage comes first, accounts last, because their values
 * hold the roots of their storage.
 */

import {
  type AccountValue,
  accountHashInput,
  decodeAccountValue,
  encodeAccountValue,
} from '../accumulator/account-value.js';
import { hashCode } from '../accumulator/keys.js';
import { encodeFull, schemeFormat, ZERO_HASH } from '../accumulator/scheme.js';
import { invalidParameter, PlumblineError } from '../errors.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import type { Hasher } from '../kernel/contracts.js';
import { keccak256 } from '../kernel/keccak.js';
import { compareBytes, equalBytes, isZeroBytes, requireLength } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { hashEach, type KeyHashes } from './hash-cache.js';
import { AccountRecord, type HeldAccount, type SlotTrie, type StateTries } from './state-tries.js';
import type { AccountAfter, SlotChange, ZkAccountChange } from './world-state.js';

/** The account fields that follow from the code. */
export type CodeFields = Pick<AccountValue, 'zkCodeHash' | 'keccakCodeHash' | 'codeSize'>;

/** An account to write, without its storage root yet. */
interface Plan {
  readonly entry: Entry;
  readonly after: AccountAfter;
  readonly code: CodeFields;
  /** The trie to which its slots were written; undefined if no slots were touched. */
  readonly storage: SlotTrie | undefined;
}

/** Number of accounts written at once to an empty state. */
const CHUNK_ACCOUNTS = 1024;

/**
 * Writes a block into the tries (docs/spec/state-trie.md 5.3). Storage tries come first, because account values contain
 * their roots. In each trie all leaves are written before hashing. The order of operations within a trie stays as
 * specified, and the roots depend on nothing else. Before-values are checked before anything is written. After a later
 * error the caller must undo what was written.
 *
 * @param onProgress - as in `WorldState.applyBlock`
 * @throws PlumblineError `STATE_MISMATCH`, `INVALID_PARAMETER`, see `WorldState.applyBlock`
 */
export function applyChanges(
  tries: StateTries,
  keys: KeyHashes,
  changes: readonly ZkAccountChange[],
  onProgress?: (fraction: number) => void,
): void {
  const entries = sortedEntries(keys, (hkey) => tries.held(hkey), changes);
  for (const entry of entries) checkBefore(entry, (hkey) => entry.held?.slot(hkey) ?? ZERO_HASH);
  // In a state without accounts there are only insertions; they may be done in chunks, in order.
  const size = tries.hasNoAccounts ? CHUNK_ACCOUNTS : entries.length;
  for (let first = 0; first < entries.length; first += size) {
    applyEntries(tries, entries.slice(first, first + size));
    onProgress?.(Math.min(first + size, entries.length) / entries.length);
  }
}

function applyEntries(tries: StateTries, entries: readonly Entry[]): void {
  const plans = entries.map((entry) => plan(tries, entry));
  tries.kernel.commit();
  const records = plans.map((planned) => planned && accountRecord(tries, planned));
  const written = records.filter((record) => record !== undefined);
  const hvals = hashEach(
    tries.hasher,
    written.map(({ value }) => value),
    accountHashInput,
  );
  const hvalOf = new Map(written.map((record, i) => [record, hvals[i]!]));

  for (const [i, { hkey, change, held }] of entries.entries()) {
    const record = records[i];
    const removed = held !== undefined && (change.after === undefined || change.destroyed);
    if (removed) tries.removeAccount(hkey);
    if (held?.record.storage !== record?.storage && (removed || record !== undefined))
      tries.retire(held?.record.storage);
    if (record !== undefined) tries.putAccount(hkey, hvalOf.get(record)!, record);
  }
}

/** Steps D to F3: the account to write, with its storage written but not hashed; undefined if nothing is written. */
function plan(tries: StateTries, entry: Entry): Plan | undefined {
  const { change, prior } = entry;
  const { after } = change;
  if (after === undefined) return undefined;
  const code = codeFields(tries.hasher, entry, after);
  const recreated = prior !== undefined && change.destroyed;
  if (prior !== undefined && !recreated) {
    const sameAccount = after.nonce === prior.nonce && after.balance === prior.balance && sameCode(code, prior);
    if (sameAccount && change.slots.every((slot) => equalBytes(slot.before, slot.after))) return undefined;
  }
  return { entry, after, code, storage: change.slots.length === 0 ? undefined : writeStorage(tries, entry) };
}

/**
 * Code hashes and size of an account after a block.
 *
 * @throws PlumblineError `STATE_MISMATCH` when the change gives another code hash
 */
export function codeFields(
  hasher: Hasher,
  { change, prior }: Pick<Entry, 'change' | 'prior'>,
  after: AccountAfter,
): CodeFields {
  let fields: CodeFields;
  if (after.code !== undefined) {
    const zkCodeHash = hashCode(hasher, after.code);
    fields = { zkCodeHash, keccakCodeHash: keccak256(after.code), codeSize: BigInt(after.code.length) };
  } else {
    fields = prior ?? {
      zkCodeHash: schemeFormat(hasher.scheme).emptyCodeHash,
      keccakCodeHash: EMPTY_CODE_HASH,
      codeSize: 0n,
    };
  }
  const { keccakCodeHash = fields.keccakCodeHash } = after;
  const what = () => `code hash of ${bytesToHex(change.address)} after the block`;
  requireSame(what, fields.keccakCodeHash, keccakCodeHash);
  return fields;
}

export function sameCode(a: CodeFields, b: CodeFields): boolean {
  return (
    a.codeSize === b.codeSize &&
    equalBytes(a.zkCodeHash, b.zkCodeHash) &&
    equalBytes(a.keccakCodeHash, b.keccakCodeHash)
  );
}

/** Slots of a destroyed account count as empty before, because it gets a new storage trie. */
function valueBefore(change: ZkAccountChange, slot: SlotChange): Uint8Array {
  return change.destroyed ? ZERO_HASH : slot.before;
}

/** Steps F1 to F3. */
function writeStorage(tries: StateTries, { change, held, slots }: Entry): SlotTrie {
  const { record } = held ?? {};
  const kept = change.destroyed || record?.storageRestarts ? undefined : record?.storage;
  const storage = kept ?? tries.startStorage();
  const hvals = hashEach(
    tries.hasher,
    slots.map(({ slot }) => slot.after),
    encodeFull,
  );
  for (const [i, { hkey, slot }] of slots.entries()) {
    const before = valueBefore(change, slot);
    const isSet = !isZeroBytes(slot.after);
    if (!isZeroBytes(before) && (!isSet || slot.cleared === true)) tries.removeSlot(storage, hkey);
    if (isSet && !equalBytes(before, slot.after)) tries.putSlot(storage, hkey, hvals[i]!, slot.after);
  }
  return storage;
}

/** Step G: the account's value with its storage root, and the trie with that root. */
function accountRecord(tries: StateTries, planned: Plan): AccountRecord {
  const { entry, after, code, storage } = planned;
  const { held, prior, change } = entry;
  const encode = (storageRoot: Uint8Array) => {
    const { nonce, balance } = after;
    const { zkCodeHash, keccakCodeHash, codeSize } = code;
    return encodeAccountValue({ nonce, balance, storageRoot, zkCodeHash, keccakCodeHash, codeSize });
  };
  if (storage !== undefined) return new AccountRecord(encode(tries.topRoot(storage)), storage, false);
  if (prior === undefined) {
    const { emptyRoot } = schemeFormat(tries.hasher.scheme);
    return new AccountRecord(encode(emptyRoot), undefined, false);
  }
  const old = held?.record.storage;
  if (change.destroyed && old !== undefined) {
    const content = tries.isEmptyStorage(old) ? 'no slot' : 'slots';
    requireSame(() => `storage of the recreated account ${bytesToHex(change.address)}`, content, 'no slot');
  }
  const storageRestarts = change.destroyed || held?.record.storageRestarts === true;
  return new AccountRecord(encode(prior.storageRoot), old, storageRestarts);
}

/** A slot that the block touched, with the hash of its key. */
export interface HashedSlot {
  readonly hkey: Uint8Array;
  readonly slot: SlotChange;
}

/** The part of an entry that is compared with the state. */
interface BeforeEntry {
  readonly change: Omit<ZkAccountChange, 'after'>;
  readonly slots: readonly HashedSlot[];
  /** The account in the state; undefined if it does not exist. */
  readonly prior: AccountValue | undefined;
}

/** One account of the block, with its current state. */
interface Entry {
  readonly hkey: Uint8Array;
  readonly change: ZkAccountChange;
  /** Ascending by `hkey`. */
  readonly slots: readonly HashedSlot[];
  readonly held: HeldAccount | undefined;
  readonly prior: AccountValue | undefined;
}

/**
 * The accounts of a block in order of application, `hkey` ascending, each with its current state.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for an account or slot that occurs twice, `INVALID_LENGTH`
 */
function sortedEntries(
  keys: KeyHashes,
  find: (hkey: Uint8Array) => HeldAccount | undefined,
  changes: readonly ZkAccountChange[],
): Entry[] {
  const hkeys = keys.ofAddresses(changes.map(({ address }) => address));
  const slotKeys = changes.flatMap(({ slots }) => slots.map(({ key }) => key));
  const slotHashes = keys.ofSlots(slotKeys);
  let nextSlot = 0;
  const entries = changes.map((change, i): Entry => {
    const hkey = hkeys[i]!;
    const held = find(hkey);
    const slots = change.slots.map((slot) => ({ slot, hkey: slotHashes[nextSlot++]! }));
    return {
      hkey,
      change,
      slots: ascending('slot', slots),
      held,
      prior: held && decodeAccountValue(held.record.value),
    };
  });
  return ascending('address', entries);
}

/** Sorts items by `hkey`, in place. @throws PlumblineError `INVALID_PARAMETER` for a duplicate */
export function ascending<T extends { hkey: Uint8Array }>(what: string, items: T[]): T[] {
  const sorted = items.sort((a, b) => compareBytes(a.hkey, b.hkey));
  const hasDuplicate = sorted.some((item, i) => i > 0 && equalBytes(item.hkey, sorted[i - 1]!.hkey));
  if (!hasDuplicate) return sorted;
  throw invalidParameter('changes', `must contain each ${what} only once; merge its changes`);
}

/**
 * Compares the before-values of a block with the state.
 *
 * @param slotValue - gives the value of a slot (32 bytes) by the hash of its key
 * @throws PlumblineError `STATE_MISMATCH` when an account or slot differs
 */
export function checkBefore({ change, slots, prior }: BeforeEntry, slotValue: (hkey: Uint8Array) => Uint8Array): void {
  const { before } = change;
  const of = (what: string) => () => `${what} ${bytesToHex(change.address)}`;
  const existence = (account: unknown) => (account === undefined ? 'none' : 'exists');
  requireSame(of('account'), existence(prior), existence(before));
  if (prior !== undefined && before !== undefined) {
    requireSame(of('nonce of'), prior.nonce, before.nonce);
    requireSame(of('balance of'), prior.balance, before.balance);
    requireSame(of('code hash of'), prior.keccakCodeHash, before.keccakCodeHash ?? prior.keccakCodeHash);
  }
  for (const { hkey, slot } of slots) {
    requireLength('slot value', slot.before, 32);
    requireLength('slot value', slot.after, 32);
    if (change.destroyed) continue;
    requireSame(() => of(`slot ${bytesToHex(slot.key)} of`)(), slotValue(hkey), slot.before);
  }
}

/**
 * Throws unless the given value equals the value in the state.
 *
 * @param what - gives the name of the value; called only for an error
 * @throws PlumblineError `STATE_MISMATCH`
 */
export function requireSame<Value extends Uint8Array | bigint | string>(
  what: () => string,
  held: Value,
  given: Value,
): void {
  const same = typeof held === 'object' && typeof given === 'object' ? equalBytes(held, given) : held === given;
  if (same) return;
  const show = (value: Value) => (typeof value === 'object' ? bytesToHex(value) : String(value));
  const details = { what: what(), expected: show(held), actual: show(given) };
  const text = `${details.what}: the state has ${details.expected}, the block has ${details.actual}`;
  throw new PlumblineError('STATE_MISMATCH', text, details);
}
