import { type AccountValue, decodeAccountValue, encodeAccountValue } from '../accumulator/account-value.js';
import { hashAccountValue, hashWord } from '../accumulator/keys.js';
import { schemeFormat, ZERO_HASH } from '../accumulator/scheme.js';
import type { Hasher } from '../kernel/contracts.js';
import { copyBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { ascending, type CodeFields, checkBefore, codeFields, type HashedSlot, sameCode } from './block-application.js';
import type { KeyHashes } from './hash-cache.js';
import type { StateTrace, StepTrie, TrieStep } from './trace.js';
import type { AccountAfter, SlotChange, ZkAccountChange } from './world-state.js';

/** The tries of a state, for block application step by step. Storage belongs to a leaf position of the account trie. */
export interface TracedState {
  readonly accounts: StepTrie;
  /** Storage of the account whose leaf stands at `position`. @param account - its value */
  storageAt(position: number, account: AccountValue): StepTrie;
  /** Gives the account at `position` storage that is empty. */
  startStorage(position: number): StepTrie;
}

/** A change that may have the code hashes and the size, and not the code. It is for callers who have traces but not the code. */
export interface TracedChange extends Omit<ZkAccountChange, 'after'> {
  readonly after?: AccountAfter & { readonly codeFields?: CodeFields };
}

/** What the application needs besides the state. */
interface TraceHashing {
  readonly hasher: Hasher;
  readonly keys: KeyHashes;
}

/** One account of the block, with its current value. */
interface Entry {
  readonly hkey: Uint8Array;
  readonly change: TracedChange;
  readonly slots: readonly HashedSlot[];
  readonly prior: AccountValue | undefined;
  /** Leaf position, if the account exists. */
  readonly position: number;
}

/**
 * Applies a block one operation at a time and returns its traces, in the order and with the content of the reference
 * state manager. The before-values of all changes are checked first. A later error, such as an unknown branch, leaves
 * the tries partly changed: use a copy, or tries that can be rolled back.
 *
 * This does not check that the storage of an account is empty if the account is destroyed and recreated without slots.
 *
 * @param changes - in any order, each address once
 * @throws PlumblineError `STATE_MISMATCH` when a before-value differs from the state; `INVALID_PARAMETER`,
 *   `INVALID_LENGTH`; `WITNESS_MISSING`; `OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL` for a number that the trie cannot
 *   hold
 * @source docs/spec/state-trie.md 5.3; the letters below are its steps
 */
export function applyTraced(hashing: TraceHashing, state: TracedState, changes: readonly TracedChange[]): StateTrace[] {
  const entries = entriesOf(hashing, state, changes);
  for (const entry of entries) checkBefore(entry, (hkey) => heldSlot(state, entry, hkey));
  const traces: StateTrace[] = [];
  for (const entry of entries) applyAccount(hashing.hasher, state, entry, traces);
  return traces;
}

function applyAccount(hasher: Hasher, state: TracedState, entry: Entry, traces: StateTrace[]): void {
  const { change, hkey, slots, prior } = entry;
  const { after, destroyed } = change;
  const address = copyBytes(change.address);
  const account = (step: TrieStep) => traces.push({ location: undefined, key: address, ...step });
  const slotStep = (key: Uint8Array, step: TrieStep) =>
    traces.push({ location: address, key: copyBytes(key), ...step });

  const code = after && (after.codeFields ?? codeFields(hasher, entry, after));
  const removed = prior !== undefined && (after === undefined || destroyed);
  const unchanged = prior !== undefined && !removed && isUnchanged(change, prior, code!);
  // A, A'
  if (unchanged || (prior === undefined && after === undefined)) account(state.accounts.read(hkey));
  // B
  const read = prior === undefined ? [] : slots.filter(({ slot }) => isRead(change, slot));
  for (const { slot, hkey: slotKey } of read) {
    slotStep(slot.key, state.storageAt(entry.position, prior!).read(slotKey));
  }
  // C
  if (removed) account(state.accounts.remove(hkey));
  // D
  if (after === undefined || unchanged) return;
  // E, F1
  const kept = removed ? undefined : prior;
  const position = kept === undefined ? state.accounts.nextFreeNode : entry.position;
  const storage = kept === undefined ? state.startStorage(position) : undefined;
  let storageRoot = prior?.storageRoot ?? schemeFormat(hasher.scheme).emptyRoot;
  if (slots.length > 0) {
    const trie = storage ?? state.storageAt(position, prior!);
    // F2, F3
    for (const { slot, hkey: slotKey } of slots) {
      for (const step of writeSlot(hasher, trie, slotKey, slot, valueBefore(change, slot))) slotStep(slot.key, step);
    }
    // G
    storageRoot = trie.topRoot;
  }
  // H
  const value = encodeAccountValue({ nonce: after.nonce, balance: after.balance, storageRoot, ...codeOnly(code!) });
  account(state.accounts.put({ hkey, hval: hashAccountValue(hasher, value), value }));
}

function* writeSlot(hasher: Hasher, trie: StepTrie, hkey: Uint8Array, slot: SlotChange, before: Uint8Array) {
  const isSet = !isZeroBytes(slot.after);
  if (!isZeroBytes(before) && (!isSet || slot.cleared === true)) yield trie.remove(hkey);
  if (isSet && !equalBytes(before, slot.after)) {
    yield trie.put({ hkey, hval: hashWord(hasher, slot.after), value: copyBytes(slot.after) });
  }
}

/** Slots of a destroyed account count as empty before, because it gets a new storage trie. */
function valueBefore({ destroyed }: TracedChange, slot: SlotChange): Uint8Array {
  return destroyed ? ZERO_HASH : slot.before;
}

/** Step B: a slot that stays unchanged, or will be removed. */
function isRead(change: TracedChange, slot: SlotChange): boolean {
  const before = valueBefore(change, slot);
  if (equalBytes(before, slot.after)) return true;
  return !isZeroBytes(before) && (isZeroBytes(slot.after) || slot.cleared === true);
}

function isUnchanged({ after, slots }: TracedChange, prior: AccountValue, code: CodeFields): boolean {
  const same = after!.nonce === prior.nonce && after!.balance === prior.balance && sameCode(code, prior);
  return same && slots.every((slot) => equalBytes(slot.before, slot.after));
}

function codeOnly({ zkCodeHash, keccakCodeHash, codeSize }: CodeFields): CodeFields {
  return { zkCodeHash, keccakCodeHash, codeSize };
}

function entriesOf({ keys }: TraceHashing, state: TracedState, changes: readonly TracedChange[]): Entry[] {
  const hkeys = keys.ofAddresses(changes.map(({ address }) => address));
  const entries = changes.map((change, i): Entry => {
    const slotHashes = keys.ofSlots(change.slots.map(({ key }) => key));
    const slots = change.slots.map((slot, s) => ({ slot, hkey: slotHashes[s]! }));
    const held = state.accounts.read(hkeys[i]!);
    const exists = held.type === 'read';
    return {
      hkey: hkeys[i]!,
      change,
      slots: ascending('slot', slots),
      prior: exists ? decodeAccountValue(held.value) : undefined,
      position: exists ? held.proof.leafIndex : 0,
    };
  });
  return ascending('address', entries);
}

/** Value of a slot of the account, 32 bytes. @param hkey - hash of the slot's key */
function heldSlot(state: TracedState, { prior, position }: Entry, hkey: Uint8Array): Uint8Array {
  const held = prior && state.storageAt(position, prior).read(hkey);
  return held?.type === 'read' ? held.value : ZERO_HASH;
}
