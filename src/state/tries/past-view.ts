import { encodeLeaf, encodeTop } from '../../accumulator/leaf-opening.js';
import { ZERO_HASH } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { PastTries, readTriesBefore } from '../../kernel/trie-past.js';
import type { AccountRecord, BlockUndo, SlotTrie, StateTries } from './state-tries.js';
import { presentView, type TrieView } from './trie-view.js';

/** A state as it was after one block: its tries, and the values behind their leaves. */
export interface StateView {
  readonly tries: TrieView;
  record(position: number): AccountRecord | undefined;
  slotValue(storage: SlotTrie, position: number): Uint8Array | undefined;
}

/** The state as it is now. */
export function presentState(tries: StateTries): StateView {
  return {
    tries: presentView(tries.kernel),
    record: (position) => tries.records.get(position),
    slotValue: (storage, position) => storage.values.get(position),
  };
}

function pastView(hasher: Hasher, past: PastTries): TrieView {
  const { scheme } = hasher;
  const top = (trie: number) => encodeTop(scheme, past.nextFreeNode(trie), past.subRoot(trie));
  return {
    nextFreeNode: (trie) => past.nextFreeNode(trie),
    topRoot: (trie) => hasher.hash(top(trie)),
    find: (trie, hkey) => past.find(trie, hkey),
    branch(trie, position) {
      const { pairs, beside, leaf } = past.branch(trie, position)!;
      const besideEntry = beside === undefined ? ZERO_HASH : encodeLeaf(scheme, beside);
      return [top(trie), ...pairs, besideEntry, encodeLeaf(scheme, leaf)];
    },
  };
}

/**
 * The state after an earlier block, through the undo records of the blocks since: where one of them names a position,
 * the oldest says what it held then; everything else is as it is now. It is good until the next block.
 *
 * @param since - undo records of the blocks after it, oldest first
 */
export function pastState(tries: StateTries, since: readonly BlockUndo[]): StateView {
  const records = new Map<number, AccountRecord | undefined>();
  const slots = new Map<SlotTrie, Map<number, Uint8Array | undefined>>();
  for (const block of since) {
    for (const [position, record] of block.accounts) keepFirst(records, position, record);
    for (const [storage, values] of block.slots) {
      const held = slots.get(storage) ?? new Map<number, Uint8Array | undefined>();
      slots.set(storage, held);
      for (const [position, value] of values) keepFirst(held, position, value);
    }
  }
  const present = presentState(tries);
  const past = new PastTries(
    tries.kernel,
    since.map((block) => readTriesBefore(block.tries, block.nodes)),
  );
  return {
    tries: pastView(tries.hasher, past),
    record: (position) => (records.has(position) ? records.get(position) : present.record(position)),
    slotValue(storage, position) {
      const held = slots.get(storage);
      return held?.has(position) ? held.get(position) : present.slotValue(storage, position);
    },
  };
}

function keepFirst<Value>(map: Map<number, Value>, position: number, value: Value): void {
  if (!map.has(position)) map.set(position, value);
}
