/**
 * Linear memory. It grows for a dictionary, or for an input longer than all before, but never during a sizing:
 *
 *   static data | dictionary: bytes, suffixes, pair starts, filter | input | order: suffixes, slots, scratch | sets
 *               __heap_base                                        workBase
 *
 * Everything after workBase is rebuilt for each input.
 */

/** Bytes that may be read past the end of a text by loads of whole words. */
export const PADDING: i32 = 16;

/** Entries of a table by first two bytes; see suffix-order. */
export const PAIR_ENTRIES: i32 = 256 * 257 + 2;

let workBase: usize = 0;
let capacity: i32 = 0;

export let input: usize = 0;
/** Positions of the input in the order of their suffixes, u32 each. */
export let suffixes: usize = 0;
/** Rank of each position in that order, u32 each. */
export let slots: usize = 0;
export let scratchA: usize = 0;
export let scratchB: usize = 0;
export let pairScratch: usize = 0;
export let wholeSet: usize = 0;
export let windowSet: usize = 0;

/** Bytes of a set of up to n slots: one bit each, and two levels above (rank-set). */
export function setBytes(n: i32): i32 {
  return ((n >> 6) + 1 + (n >> 12) + 1 + 1) << 3;
}

/** Grows memory up to `end`. */
export function growTo(end: usize): void {
  const pages = <i32>((end + 0xffff) >>> 16);
  if (pages > memory.size() && memory.grow(pages - memory.size()) < 0) unreachable();
}

/** First aligned address at or after `address`. */
export function align(address: usize): usize {
  return (address + 15) & ~15;
}

/** Lays out the work area for texts of up to n bytes at `base`. */
export function placeWork(base: usize, n: i32): void {
  const words = ((<usize>n) << 2) + PADDING;
  workBase = base;
  capacity = n;
  input = align(base);
  suffixes = align(input + n + PADDING);
  slots = align(suffixes + words);
  scratchA = align(slots + words);
  scratchB = align(scratchA + words);
  pairScratch = align(scratchB + words);
  wholeSet = align(pairScratch + ((<usize>PAIR_ENTRIES) << 2));
  windowSet = align(wholeSet + setBytes(n));
  growTo(windowSet + setBytes(n));
}

/** Address for an input of n bytes. May grow the memory, which invalidates earlier views. */
export function inputPointer(n: i32): usize {
  if (n > capacity) placeWork(workBase, n);
  return input;
}
