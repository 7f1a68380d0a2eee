import { type AccountValue, decodeAccountValue } from '../../accumulator/account-value.js';
import { invalidParameter, PlumblineError } from '../../errors.js';
import { compareBytes, equalBytes, requireLength } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { KeyHashes } from '../hash-cache.js';
import type { SlotChange, ZkAccountChange } from '../world-state.js';
import type { HeldAccount } from './state-tries.js';

/** A slot that the block touched, with the hash of its key. */
export interface HashedSlot {
  readonly hkey: Uint8Array;
  readonly slot: SlotChange;
}

/** The part of an entry that is compared with the state. */
export interface BeforeEntry {
  readonly change: Omit<ZkAccountChange, 'after'>;
  readonly slots: readonly HashedSlot[];
  /** The account in the state; undefined if it does not exist. */
  readonly prior: AccountValue | undefined;
}

/** One account of the block, with its current state. */
export interface Entry {
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
export function sortedEntries(
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
