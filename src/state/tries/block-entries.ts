import { type AccountValue, decodeAccountValue } from '../../accumulator/account-value.js';
import { invalidParameter, PlumblineError } from '../../errors.js';
import { compareBytes, equalBytes, requireLength } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { KeyHashes } from '../hash-cache.js';
import type { SlotChange, ZkAccountChange } from '../world-state.js';
import type { HeldAccount } from './state-tries.js';

/** A slot the block touched, with its place in the order. */
export interface HashedSlot {
  readonly hkey: Uint8Array;
  readonly slot: SlotChange;
}

/** What the comparison with the held state looks at. */
export interface BeforeEntry {
  readonly change: Omit<ZkAccountChange, 'after'>;
  readonly slots: readonly HashedSlot[];
  /** The account as it is held; undefined when there is none. */
  readonly prior: AccountValue | undefined;
}

/** One account of the block, with what the state holds of it. */
export interface Entry {
  readonly hkey: Uint8Array;
  readonly change: ZkAccountChange;
  /** Ascending by `hkey`. */
  readonly slots: readonly HashedSlot[];
  readonly held: HeldAccount | undefined;
  readonly prior: AccountValue | undefined;
}

/**
 * The accounts of a block in the order of application, `hkey` ascending, each with what the state holds of it.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for an account or slot named twice, `INVALID_LENGTH`
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

/** Sorts items by `hkey`, in place. @throws PlumblineError `INVALID_PARAMETER` for one that stands there twice */
export function ascending<T extends { hkey: Uint8Array }>(what: string, items: T[]): T[] {
  const sorted = items.sort((a, b) => compareBytes(a.hkey, b.hkey));
  const twice = sorted.some((item, i) => i > 0 && equalBytes(item.hkey, sorted[i - 1]!.hkey));
  if (!twice) return sorted;
  throw invalidParameter('changes', `must name each ${what} once`);
}

/**
 * Compares what a block says of before with what is held.
 *
 * @param slotValue - held value of a slot (32 bytes) by the hash of its key
 * @throws PlumblineError `STATE_MISMATCH` when an account or slot is not what the block says it was
 */
export function checkBefore({ change, slots, prior }: BeforeEntry, slotValue: (hkey: Uint8Array) => Uint8Array): void {
  const { before } = change;
  const of = (what: string) => () => `${what} ${bytesToHex(change.address)}`;
  const existence = (account: unknown) => (account === undefined ? 'none' : 'exists');
  compare(of('account'), existence(prior), existence(before));
  if (prior !== undefined && before !== undefined) {
    compare(of('nonce of'), prior.nonce, before.nonce);
    compare(of('balance of'), prior.balance, before.balance);
    compare(of('code hash of'), prior.keccakCodeHash, before.keccakCodeHash ?? prior.keccakCodeHash);
  }
  for (const { hkey, slot } of slots) {
    requireLength('slot value', slot.before, 32);
    requireLength('slot value', slot.after, 32);
    if (change.destroyed) continue;
    compare(() => of(`slot ${bytesToHex(slot.key)} of`)(), slotValue(hkey), slot.before);
  }
}

/**
 * Refuses what is not as it is held.
 *
 * @param what - its name, asked for only when the two differ
 * @throws PlumblineError `STATE_MISMATCH`
 */
export function compare<Value extends Uint8Array | bigint | string>(
  what: () => string,
  held: Value,
  given: Value,
): void {
  const same = typeof held === 'object' && typeof given === 'object' ? equalBytes(held, given) : held === given;
  if (same) return;
  const show = (value: Value) => (typeof value === 'object' ? bytesToHex(value) : String(value));
  const details = { what: what(), expected: show(held), actual: show(given) };
  const text = `${details.what}: the state holds ${details.expected}, the block says ${details.actual}`;
  throw new PlumblineError('STATE_MISMATCH', text, details);
}
