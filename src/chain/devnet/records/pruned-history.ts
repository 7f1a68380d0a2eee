import { RLP } from '@ethereumjs/rlp';
import { messageOf } from '../../../errors.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import { bigIntToMinimalBytes, bytesToBigInt, bytesToKey, isZeroBytes } from '../../../primitives/bytes.js';
import type { Pruned } from './block-record.js';
import { decodeChanges, encodeChanges } from './changes-codec.js';
import { damaged, sealed, unsealed } from './checkpoint-codec.js';

/** What is left of the history of a devnet that keeps within a budget. */
export interface PrunedHistory {
  /** Blocks after genesis up to this one have lost what they changed; 0 for none. */
  readonly changesTo: number;
  /** And up to this one their bodies. */
  readonly bodiesTo: number;
  /** What the blocks up to `changesTo` changed, as if they were one. */
  readonly changes: readonly AccountChange[];
}

const WHOLE_HISTORY: PrunedHistory = { changesTo: 0, bodiesTo: 0, changes: [] };

/** Where it stands, among the blocks. */
export const HISTORY_KEY = 'pruned';

const int = (value: number) => bigIntToMinimalBytes(BigInt(value));
const number = (bytes: Uint8Array) => Number(bytesToBigInt(bytes));

/** What a block has lost; undefined for nothing. */
export function prunedAt({ changesTo, bodiesTo }: PrunedHistory, number: number): Pruned | undefined {
  if (number === 0 || number > changesTo) return undefined;
  return number > bodiesTo ? 'changes' : 'body';
}

export function encodeHistory({ changesTo, bodiesTo, changes }: PrunedHistory): Uint8Array {
  return sealed(HISTORY_KEY, RLP.encode([int(changesTo), int(bodiesTo), encodeChanges(changes)]));
}

/** @param bytes - undefined where nothing was let go of. @throws PlumblineError `STORE_CORRUPT` */
export function decodeHistory(bytes: Uint8Array | undefined): PrunedHistory {
  if (bytes === undefined) return WHOLE_HISTORY;
  const content = unsealed('blocks', HISTORY_KEY, bytes);
  try {
    const [changesTo, bodiesTo, changes] = RLP.decode(content) as [Uint8Array, Uint8Array, Uint8Array];
    return { changesTo: number(changesTo), bodiesTo: number(bodiesTo), changes: decodeChanges(changes) };
  } catch (cause) {
    throw damaged('blocks', HISTORY_KEY, `does not decode: ${messageOf(cause)}`);
  }
}

/** Changes of blocks one after another, as those of one block. They say what the state is afterwards, and no more. */
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
    // An account that came and went leaves nothing.
    return [...this.accounts.values()].filter(({ before, after }) => before !== undefined || after !== undefined);
  }
}

function merged(first: AccountChange, second: AccountChange): AccountChange {
  const destroyed = first.destroyed || second.destroyed;
  const slots = new Map(second.destroyed ? [] : first.slots.map((slot) => [bytesToKey(slot.key), slot]));
  for (const slot of second.slots) {
    const key = bytesToKey(slot.key);
    // Where all slots went, an empty one need not be named.
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
