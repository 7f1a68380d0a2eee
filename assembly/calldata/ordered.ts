/**
 * Longest match within any input, with bounded work. All suffixes are sorted once. The positions passed so far form a
 * set in that order, and the longest match of a position is with one of its two neighbours in the set. A second set
 * holds only the positions within reach of a short reference.
 */
import { matchLength } from './match-length';
import { input, pairScratch, scratchA, scratchB, slots, suffixes, wholeSet, windowSet } from './memory';
import { addSlot, clearSet, memberAfter, memberBefore, removeSlot, useSet } from './rank-set';
import { orderSuffixes } from './suffix-order';
import { WINDOW } from './symbols';

let length: i32 = 0;
let added: i32 = 0;
let removed: i32 = 0;

export function startOrdered(n: i32): void {
  length = n;
  added = 0;
  removed = 0;
  orderSuffixes(input, n, suffixes, pairScratch, slots, scratchA, scratchB);
  for (let place = 0; place < n; place++) {
    store<i32>(slots + ((<usize>load<i32>(suffixes + ((<usize>place) << 2))) << 2), place);
  }
  clearSet(wholeSet, n);
  clearSet(windowSet, n);
}

function slotOf(position: i32): i32 {
  return load<i32>(slots + ((<usize>position) << 2));
}

/** Updates the sets to the positions before i. Positions only increase. */
export function moveTo(i: i32): void {
  useSet(wholeSet, length);
  for (let p = added; p < i; p++) addSlot(slotOf(p));
  if (length > WINDOW) {
    useSet(windowSet, length);
    for (let p = added; p < i; p++) addSlot(slotOf(p));
    for (; removed < i - WINDOW; removed++) removeSlot(slotOf(removed));
  }
  added = i;
}

/** Longest match of position i with an earlier position, at most `limit`. Call moveTo(i) first. */
export function longestInWhole(i: i32, limit: i32): i32 {
  return longestIn(wholeSet, i, limit);
}

/** Longest match of position i with one of the 16384 positions before it. Call moveTo(i) first. */
export function longestInWindow(i: i32, limit: i32): i32 {
  return longestIn(length > WINDOW ? windowSet : wholeSet, i, limit);
}

function longestIn(set: usize, i: i32, limit: i32): i32 {
  useSet(set, length);
  const slot = slotOf(i);
  const before = memberBefore(slot);
  const after = memberAfter(slot);
  let best = before < 0 ? 0 : matchAt(i, before, limit);
  if (after >= 0 && best < limit) best = max(best, matchAt(i, after, limit));
  return best;
}

function matchAt(i: i32, slot: i32, limit: i32): i32 {
  return matchLength(input + i, input + load<i32>(suffixes + ((<usize>slot) << 2)), limit);
}
