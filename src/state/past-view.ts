import type { TrieLeaf } from '../kernel/trie-contract.js';
import { readUndo } from '../kernel/trie-undo.js';
import { PastTrie } from './past-trie.js';
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

interface TrieOverlay {
  readonly leaves: Map<number, TrieLeaf | undefined>;
  nextFreeNode: number | undefined;
}

/**
 * The state after an earlier block, through the undo records of the blocks since: where one of them names a position,
 * the oldest says what it held then; everything else is as it is now. It is good until the next block.
 *
 * @param since - undo records of the blocks after it, oldest first
 */
export function pastState(tries: StateTries, since: readonly BlockUndo[]): StateView {
  const overlays = new Map<number, TrieOverlay>();
  const records = new Map<number, AccountRecord | undefined>();
  const slots = new Map<SlotTrie, Map<number, Uint8Array | undefined>>();
  for (const block of since) {
    for (const change of readUndo(block.tries)) {
      const overlay = overlays.get(change.trie) ?? { leaves: new Map(), nextFreeNode: undefined };
      overlays.set(change.trie, overlay);
      if ('nextFreeNode' in change) overlay.nextFreeNode ??= change.nextFreeNode;
      else keepFirst(overlay.leaves, change.position, change.leaf);
    }
    for (const [position, record] of block.accounts) keepFirst(records, position, record);
    for (const [storage, values] of block.slots) {
      const held = slots.get(storage) ?? new Map<number, Uint8Array | undefined>();
      slots.set(storage, held);
      for (const [position, value] of values) keepFirst(held, position, value);
    }
  }
  const present = presentState(tries);
  const past = new Map<number, PastTrie>();
  for (const [handle, { leaves, nextFreeNode }] of overlays) {
    const free = nextFreeNode ?? tries.kernel.nextFreeNode(handle);
    past.set(handle, new PastTrie(tries.hasher, tries.kernel, handle, leaves, free));
  }
  const view: TrieView = {
    nextFreeNode: (trie) => past.get(trie)?.nextFreeNode ?? present.tries.nextFreeNode(trie),
    topRoot: (trie) => past.get(trie)?.topRoot ?? present.tries.topRoot(trie),
    find: (trie, hkey) => past.get(trie)?.find(hkey) ?? present.tries.find(trie, hkey),
    branch: (trie, position) => past.get(trie)?.branch(position) ?? present.tries.branch(trie, position),
  };
  return {
    tries: view,
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
