/**
 * Sorts all suffixes of a text by their first 256 bytes, by prefix doubling: by 2 bytes, then by 4, 8, ... 256. No
 * match is longer than 256, so a full suffix array would not help, and seven rounds bound the work for any text.
 */
import { PAIR_ENTRIES } from './memory';

const ORDERED_BYTES: i32 = 256;

/** First two bytes as a sort key. The end of the text comes before every byte. */
export function pairKey(text: usize, at: i32, n: i32): i32 {
  const second: i32 = at + 1 < n ? <i32>load<u8>(text + at + 1) + 1 : 0;
  return <i32>load<u8>(text + at) * 257 + second;
}

function word(table: usize, index: i32): i32 {
  return load<i32>(table + ((<usize>index) << 2));
}

function setWord(table: usize, index: i32, value: i32): void {
  store<i32>(table + ((<usize>index) << 2), value);
}

/** Sorts by two bytes. Afterwards the suffixes with key k are at pairs[k] to pairs[k + 1]. */
function sortByPairs(text: usize, n: i32, suffixes: usize, pairs: usize): void {
  memory.fill(pairs, 0, (<usize>PAIR_ENTRIES) << 2);
  for (let i = 0; i < n; i++) {
    const entry = pairKey(text, i, n) + 2;
    setWord(pairs, entry, word(pairs, entry) + 1);
  }
  for (let k = 1; k < PAIR_ENTRIES; k++) setWord(pairs, k, word(pairs, k) + word(pairs, k - 1));
  for (let i = 0; i < n; i++) {
    const entry = pairKey(text, i, n) + 1;
    const place = word(pairs, entry);
    setWord(pairs, entry, place + 1);
    setWord(suffixes, place, i);
  }
}

/**
 * Fills `suffixes` (positions in order) and `pairs` (first index of each two-byte key).
 *
 * @param ranks - n words of scratch memory, and two more areas of the same size; all are overwritten
 */
export function orderSuffixes(
  text: usize,
  n: i32,
  suffixes: usize,
  pairs: usize,
  ranks: usize,
  other: usize,
  next: usize,
): void {
  sortByPairs(text, n, suffixes, pairs);
  // The rank of a suffix is the first index of the group of suffixes that are equal so far.
  for (let i = 0; i < n; i++) setWord(ranks, i, word(pairs, pairKey(text, i, n)));
  for (let known = 2; known < ORDERED_BYTES; known <<= 1) {
    for (let place = 0; place < n; place++) setWord(next, place, place);
    // In the order of their second halves, suffixes go to the next free index of their group. An empty half comes
    // first.
    for (let i = max(n - known, 0); i < n; i++) putNext(i, ranks, next, other);
    for (let place = 0; place < n; place++) {
      const i = word(suffixes, place) - known;
      if (i >= 0) putNext(i, ranks, next, other);
    }
    let group = 0;
    let groups = 0;
    let previous = -1;
    let previousRank = -1;
    let previousHalf = -1;
    for (let place = 0; place < n; place++) {
      const i = word(other, place);
      const rank = word(ranks, i);
      const half = i + known < n ? word(ranks, i + known) : -1;
      if (previous < 0 || rank !== previousRank || half !== previousHalf) {
        group = place;
        groups++;
      }
      previous = i;
      previousRank = rank;
      previousHalf = half;
      setWord(suffixes, place, i);
      setWord(next, i, group);
    }
    const swapped = ranks;
    ranks = next;
    next = swapped;
    if (groups === n) return;
  }
}

function putNext(i: i32, ranks: usize, next: usize, other: usize): void {
  const rank = word(ranks, i);
  const place = word(next, rank);
  setWord(next, rank, place + 1);
  setWord(other, place, i);
}
