import { RLP } from '@ethereumjs/rlp';
import { messageOf } from '../../../errors.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import { bigIntToMinimalBytes, bytesToBigInt, bytesToKey, isZeroBytes } from '../../../primitives/bytes.js';
import type { Pruned } from './block-record.js';
import { decodeChanges, encodeChanges } from './changes-codec.js';
import { damagedEntry, withChecksum, withoutChecksum } from './checkpoint-codec.js';

/** The history that was pruned to keep a devnet within its storage budget. */
export interface PrunedHistory {
  /** Newest block without state changes; blocks 1 to this one have lost them. 0 if there is none. */
  readonly changesTo: number;
  /** Newest block without body. */
  readonly bodiesTo: number;
  /** State changes of blocks 1 to `changesTo`, merged into one list. */
  readonly changes: readonly AccountChange[];
}

const NOTHING_PRUNED: PrunedHistory = { changesTo: 0, bodiesTo: 0, changes: [] };

/** Key in table `blocks`. */
export const HISTORY_KEY = 'pruned';

const int = (value: number) => bigIntToMinimalBytes(BigInt(value));
const number = (bytes: Uint8Array) => Number(bytesToBigInt(bytes));

/** The parts that were pruned from a block; undefined if none were. */
export function prunedAt({ changesTo, bodiesTo }: PrunedHistory, number: number): Pruned | undefined {
  if (number === 0 || number > changesTo) return undefined;
  return number > bodiesTo ? 'changes' : 'body';
}

export function encodeHistory({ changesTo, bodiesTo, changes }: PrunedHistory): Uint8Array {
  return withChecksum(HISTORY_KEY, RLP.encode([int(changesTo), int(bodiesTo), encodeChanges(changes)]));
}

/**
 * @param bytes - undefined if nothing was pruned.
 * @throws PlumblineError `STORE_CORRUPT`
 */
export function decodeHistory(bytes: Uint8Array | undefined): PrunedHistory {
  if (bytes === undefined) return NOTHING_PRUNED;
  const content = withoutChecksum('blocks', HISTORY_KEY, bytes);
  try {
    const [changesTo, bodiesTo, changes] = RLP.decode(content) as [Uint8Array, Uint8Array, Uint8Array];
    return { changesTo: number(changesTo), bodiesTo: number(bodiesTo), changes: decodeChanges(changes) };
  } catch (cause) {
    throw damagedEntry('blocks', HISTORY_KEY, `does not decode: ${messageOf(cause)}`);
  }
}

/** Merges the changes of consecutive blocks. The result gives the state after the last one only. */
export class MergedChanges {
  private readonly accounts = new Map<string, AccountChange>();

  constructor(changes: readonly AccountChange[] = []) {
    this.add(changes);
  }

  add(changes: readonly AccountChange[]): void {
    for (const change of changes) {
      const key = bytesToKey(change.address);
      const before = this.accounts.get(key);
      this.accounts.set(key, before === undefined ? change : merged(before, change));
    }
  }

  get changes(): AccountChange[] {
    // An account that was created and destroyed leaves no change.
    return [...this.accounts.values()].filter(({ before, after }) => before !== undefined || after !== undefined);
  }
}

function merged(first: AccountChange, second: AccountChange): AccountChange {
  const destroyed = first.destroyed || second.destroyed;
  const slots = new Map(second.destroyed ? [] : first.slots.map((slot) => [bytesToKey(slot.key), slot]));
  for (const slot of second.slots) {
    const key = bytesToKey(slot.key);
    // If the storage was cleared, zero slots are not listed.
    if (destroyed && isZeroBytes(slot.after)) slots.delete(key);
    else slots.set(key, { ...slot, before: slots.get(key)?.before ?? slot.before });
  }
  return {
    address: first.address,
    before: first.before,
    after: second.after,
    destroyed,
    code: second.after === undefined ? undefined : (second.code ?? first.code),
    slots: [...slots.values()],
  };
}
