import { FLAGS, NEXT_FREE, NEXT_FREE_CHANGED, RECORD_BYTES, TOP_CHANGED } from './chunks';
import { HASH_BYTES } from './format';
import { defineKind, give, JOURNAL_PAGES, LARGEST_BLOCK, reserve, take } from './pages';

/**
 * Previous content, in two journals. That of leaves has an entry for the first change of a position after a commit, in
 * the order of the changes: restoring the entries, last to first, restores the tries. That of nodes has an entry for
 * each hash that a commit replaced.
 *
 *   page:  next page u32 | bytes of entries u32 | page before u32 | unused u32 | entries
 *   leaf:  trie u32 | position u32 | prevLeaf u32 | nextLeaf u32 | hkey 32 | hval 32
 *   node:  trie u32 | level u32 | index u32 | hash 32
 *
 * A position that was unused has prevLeaf 2^32 - 1. Position 2^32 - 1 means the trie itself: prevLeaf is then its
 * nextFreeNode. Level 40 is the sub root.
 */

export const NONE: u32 = 0xffffffff;
export const LEAF_JOURNAL: i32 = 0;
export const NODE_JOURNAL: i32 = 1;
export const LEAF_ENTRY: u32 = 80;
const NODE_ENTRY: u32 = 44;
const PAGE_HEADER: u32 = 16;
/** Offset of the link to the previous page; 0 in the first page. */
const BEFORE: usize = 8;

// First and last page of each journal, u32 each; 0 if it is empty.
const firsts: usize = memory.data(8, 8);
const lasts: usize = memory.data(8, 8);

let recordsLeaves: bool = false;
let recordsNodes: bool = false;
let isPaused: bool = false;

export function defineJournals(): void {
  defineKind(JOURNAL_PAGES, LARGEST_BLOCK);
}

/** Chooses what is recorded from now on. */
export function recordJournals(leaves: bool, nodes: bool): void {
  recordsLeaves = leaves;
  recordsNodes = nodes;
}

/** Pauses or resumes recording. */
export function pauseJournals(paused: bool): void {
  isPaused = paused;
}

export function recordsReplaced(): bool {
  return recordsNodes && !isPaused;
}

/** Reserves memory to record this many hashes. @returns false if the engine gives no more memory */
export function reserveNodes(count: u32): bool {
  return reserve(<i32>(count / ((LARGEST_BLOCK - PAGE_HEADER) / NODE_ENTRY)) + 1);
}

/** First page of a journal; 0 if it is empty. */
export function journalPages(journal: i32): usize {
  return load<u32>(firsts + ((<usize>journal) << 2));
}

/** @param leaf - record of the position; 0 if it is unused */
export function journalLeaf(trie: usize, position: u32, leaf: usize): void {
  if (!recordsLeaves || isPaused) return;
  const entry = nextEntry(LEAF_JOURNAL, LEAF_ENTRY);
  store<u32>(entry, <u32>trie);
  store<u32>(entry, position, 4);
  if (leaf === 0) store<u32>(entry, NONE, 8);
  else memory.copy(entry + 8, leaf, RECORD_BYTES);
}

/** Call it before a trie's nextFreeNode changes. */
export function journalNextFree(trie: usize): void {
  const flags = load<u32>(trie, FLAGS);
  store<u32>(trie, flags | NEXT_FREE_CHANGED | TOP_CHANGED, FLAGS);
  if (!recordsLeaves || isPaused || (flags & NEXT_FREE_CHANGED) !== 0) return;
  const entry = nextEntry(LEAF_JOURNAL, LEAF_ENTRY);
  store<u32>(entry, <u32>trie);
  store<u32>(entry, NONE, 4);
  store<u32>(entry, load<u32>(trie, NEXT_FREE), 8);
}

/** Call it before the hash of a node is replaced. */
export function journalNode(trie: usize, level: i32, index: u32, hash: usize): void {
  if (!recordsReplaced()) return;
  const entry = nextEntry(NODE_JOURNAL, NODE_ENTRY);
  store<u32>(entry, <u32>trie);
  store<u32>(entry, level, 4);
  store<u32>(entry, index, 8);
  memory.copy(entry + 12, hash, HASH_BYTES);
}

function nextEntry(journal: i32, bytes: u32): usize {
  const at = (<usize>journal) << 2;
  let last: usize = load<u32>(lasts + at);
  if (last === 0 || load<u32>(last, 4) + PAGE_HEADER + bytes > LARGEST_BLOCK) {
    const page = take(JOURNAL_PAGES);
    store<u32>(page, 0);
    store<u32>(page, 0, 4);
    store<u32>(page, <u32>last, BEFORE);
    store<u32>(last === 0 ? firsts + at : last, <u32>page);
    store<u32>(lasts + at, <u32>page);
    last = page;
  }
  const used = load<u32>(last, 4);
  store<u32>(last, used + bytes, 4);
  return last + PAGE_HEADER + used;
}

export function clearJournal(journal: i32): void {
  const at = (<usize>journal) << 2;
  for (let page: usize = load<u32>(firsts + at); page !== 0; ) {
    const next: usize = load<u32>(page);
    give(page);
    page = next;
  }
  store<u32>(firsts + at, 0);
  store<u32>(lasts + at, 0);
}

/**
 * Removes the last entry of the journal of leaves and returns it; valid until the next call. 0 if the journal is empty.
 */
export function popLeafEntry(): usize {
  let last: usize = load<u32>(lasts);
  if (last !== 0 && load<u32>(last, 4) === 0) {
    const before: usize = load<u32>(last, BEFORE);
    give(last);
    store<u32>(lasts, <u32>before);
    if (before === 0) store<u32>(firsts, 0);
    else store<u32>(before, 0);
    last = before;
  }
  if (last === 0) return 0;
  const used = load<u32>(last, 4) - LEAF_ENTRY;
  store<u32>(last, used, 4);
  return last + PAGE_HEADER + used;
}
