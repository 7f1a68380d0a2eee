/** The parse of docs/spec/compression.md 4.4. Only the number of bits is kept. */
import { CHAIN_INPUT, longestInChain, startChains } from './chains';
import { longestInDictionary, mayHoldFive } from './dictionary';
import { input } from './memory';
import { longestInWhole, longestInWindow, moveTo, startOrdered } from './ordered';
import {
  DYNAMIC_BITS,
  isReserved,
  LITERAL_BITS,
  MAX_MATCH,
  MIN_DYNAMIC,
  MIN_SHORT,
  SHORT_BITS,
  WINDOW,
} from './symbols';

const RUN_THRESHOLD: i32 = 160;
/** Saving of a missing reference. */
const ABSENT: i32 = -0x10000;

let length: i32 = 0;
let ordered: bool = false;

/** The last references looked up: position and `length << 1 | dynamic`, by the lowest two bits of the position. */
const cachedAt: usize = memory.data(16, 16);
const cachedReference: usize = memory.data(16, 16);

/** Number of bits of the phrases for the n bytes at inputPointer(n); n is at most 262144. */
export function lzssBits(n: i32): i32 {
  length = n;
  ordered = n > CHAIN_INPUT;
  if (ordered) startOrdered(n);
  else startChains(n);
  for (let k = 0; k < 16; k += 4) store<i32>(cachedAt + k, -1);

  let bits = 0;
  let i = 0;
  let runEnd = 0;
  while (i < n) {
    const byte = <i32>load<u8>(input + i);
    if (runEnd <= i) {
      runEnd = i + 1;
      while (runEnd < n && load<u8>(input + runEnd) === byte) runEnd++;
    }
    const run = min(runEnd - i, MAX_MATCH);
    if (run >= RUN_THRESHOLD) {
      if (i === 0 || load<u8>(input + i - 1) !== byte) bits += isReserved(byte) ? DYNAMIC_BITS : LITERAL_BITS;
      bits += SHORT_BITS;
      i += run;
      continue;
    }
    const here = bestReference(i);
    const saving = savingOf(here);
    if (!isReserved(byte)) {
      if (saving < 0) {
        bits += LITERAL_BITS;
        i += 1;
        continue;
      }
      if (i + 1 < n && savingOf(bestReference(i + 1)) > saving + 1) {
        bits += LITERAL_BITS;
        i += 1;
        continue;
      }
      if (i + 2 < n && !isReserved(load<u8>(input + i + 1)) && savingOf(bestReference(i + 2)) > saving + 2) {
        bits += 2 * LITERAL_BITS;
        i += 2;
        continue;
      }
    }
    bits += bitsOf(here);
    i += here >> 1;
  }
  return bits;
}

function bitsOf(reference: i32): i32 {
  return (reference & 1) !== 0 ? DYNAMIC_BITS : SHORT_BITS;
}

function savingOf(reference: i32): i32 {
  return reference === 0 ? ABSENT : ((reference >> 1) << 3) - bitsOf(reference);
}

/** `length << 1 | dynamic` of the reference with the largest saving at i; 0 if there is none. */
function bestReference(i: i32): i32 {
  const entry = (<usize>(i & 3)) << 2;
  if (load<i32>(cachedAt + entry) === i) return load<i32>(cachedReference + entry);
  const reference = findReference(i);
  store<i32>(cachedAt + entry, i);
  store<i32>(cachedReference + entry, reference);
  return reference;
}

function findReference(i: i32): i32 {
  const limit = min(MAX_MATCH, length - i);
  const text = input + i;
  const reserved = isReserved(load<u8>(text));
  if (!reserved && limit < MIN_SHORT) return 0;

  let short = 0;
  let dynamic = 0;
  if (!ordered) {
    short = longestInChain(i, limit);
    if (short < 0) {
      startOrdered(length);
      ordered = true;
    }
  }
  if (ordered) {
    moveTo(i);
    short = longestInWindow(i, limit);
    if (length > WINDOW && short < limit) dynamic = longestInWhole(i, limit);
  }
  dynamic = max(dynamic, short);
  if (dynamic < limit) {
    // A longer dictionary match must contain its first five bytes, and the five bytes that end one byte after the
    // dynamic match.
    const worth =
      reserved || (limit >= MIN_DYNAMIC && mayHoldFive(text) && mayHoldFive(text + max(dynamic + 1 - MIN_DYNAMIC, 0)));
    if (worth) dynamic = max(dynamic, longestInDictionary(text, limit));
  }
  if (!reserved && short < MIN_SHORT) short = 0;
  if (!reserved && dynamic < MIN_DYNAMIC) dynamic = 0;
  const shortReference = short << 1;
  const dynamicReference = dynamic === 0 ? 0 : (dynamic << 1) | 1;
  return savingOf(shortReference) > savingOf(dynamicReference) ? shortReference : dynamicReference;
}
