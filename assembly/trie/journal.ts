import { FLAGS, NEXT_FREE, NEXT_FREE_CHANGED, RECORD_BYTES, TOP_CHANGED } from './chunks';
import { defineKind, give, JOURNAL_PAGES, LARGEST_BLOCK, take } from './pages';

/**
 * What changed leaf positions held before: one entry for the first change of a position after a commit, in the order of
 * the changes. Putting the entries back, last to first, restores the tries.
 *
 *   page:   next page u32 | bytes of entries u32 | unused u64 | entries
 *   entry:  trie u32 | position u32 | prevLeaf u32 | nextLeaf u32 | hkey 32 | hval 32
 *
 * A position that was not in use has prevLeaf 2^32 - 1. Position 2^32 - 1 stands for the trie itself: prevLeaf is then its
 * nextFreeNode.
 */

export const NONE: u32 = 0xffffffff;
export const ENTRY_BYTES: usize = 80;
const PAGE_HEADER: usize = 16;

export let journalFirst: usize = 0;
let last: usize = 0;
let recording: bool = false;

export function defineJournal(): void {
  defineKind(JOURNAL_PAGES, LARGEST_BLOCK);
}

export function recordJournal(on: bool): void {
  recording = on;
}

/** @param leaf - record of the position, 0 when it is not in use */
export function journalLeaf(trie: usize, position: u32, leaf: usize): void {
  if (!recording) return;
  const entry = nextEntry();
  store<u32>(entry, <u32>trie);
  store<u32>(entry, position, 4);
  if (leaf === 0) store<u32>(entry, NONE, 8);
  else memory.copy(entry + 8, leaf, RECORD_BYTES);
}

/** To be called before a trie's nextFreeNode changes. */
export function journalNextFree(trie: usize): void {
  const flags = load<u32>(trie, FLAGS);
  store<u32>(trie, flags | NEXT_FREE_CHANGED | TOP_CHANGED, FLAGS);
  if (!recording || (flags & NEXT_FREE_CHANGED) !== 0) return;
  const entry = nextEntry();
  store<u32>(entry, <u32>trie);
  store<u32>(entry, NONE, 4);
  store<u32>(entry, load<u32>(trie, NEXT_FREE), 8);
}

function nextEntry(): usize {
  if (last === 0 || load<u32>(last, 4) + <u32>(PAGE_HEADER + ENTRY_BYTES) > LARGEST_BLOCK) {
    const page = take(JOURNAL_PAGES);
    store<u32>(page, 0);
    store<u32>(page, 0, 4);
    if (last === 0) journalFirst = page;
    else store<u32>(last, <u32>page);
    last = page;
  }
  const used = load<u32>(last, 4);
  store<u32>(last, used + <u32>ENTRY_BYTES, 4);
  return last + PAGE_HEADER + used;
}

export function clearJournal(): void {
  while (journalFirst !== 0) {
    const next = load<u32>(journalFirst);
    give(journalFirst);
    journalFirst = next;
  }
  last = 0;
}
