import { encodeLeaf, encodeTop } from '../../accumulator/leaf-opening.js';
import { ZERO_HASH } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { PastTries, readTriesBefore, type TrieFound, type TrieKernel } from '../../kernel/trie.js';
import type { AccountRecord, BlockUndo, SlotTrie, StateTries } from './state-tries.js';

/** Read-only tries after one block, named by the handles of the kernel. */
export interface TrieView {
  /** 32 bytes. */
  topRoot(trie: number): Uint8Array;
  find(trie: number, hkey: Uint8Array): TrieFound;
  /** The 42 preimages for a used position, from the top down (docs/spec/state-trie.md 7.3). */
  branch(trie: number, position: number): readonly Uint8Array[];
}

/** The current tries. Proofs are collected; nothing is hashed. */
function presentView(kernel: TrieKernel): TrieView {
  return {
    topRoot: (trie) => kernel.topRoot(trie),
    find: (trie, hkey) => kernel.find(trie, hkey),
    branch: (trie, position) => kernel.gatherProof(trie, position),
  };
}

/** The state after one block: its tries, and the values of their leaves. */
export interface StateView {
  readonly tries: TrieView;
  record(position: number): AccountRecord | undefined;
  slotValue(storage: SlotTrie, position: number): Uint8Array | undefined;
}

/** The current state. */
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
 * The state after an earlier block, read through the undo records of the later blocks. For a position in several
 * records the oldest one counts; all other positions are unchanged. Valid until the next block.
 *
 * @param since - undo records of the later blocks, oldest first
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
