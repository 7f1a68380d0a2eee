/**
 * The dictionary and its index, built once: its suffixes in order, the range of that order for each first two bytes,
 * and a filter of its five-byte strings. The filter avoids the search at most positions: no shorter dictionary match
 * counts, unless the byte is reserved.
 */
import { matchLength } from './match-length';
import { align, growTo, PADDING, PAIR_ENTRIES, placeWork, scratchA, scratchB, slots } from './memory';
import { orderSuffixes } from './suffix-order';
import { MIN_DYNAMIC } from './symbols';

/** Initial capacity for inputs. Longer ones grow the memory. */
const FIRST_CAPACITY: i32 = 4096;
/** Minimum bits of the filter per dictionary byte. */
const FILTER_DENSITY: i32 = 8;

/**
 * 2^64 divided by the golden ratio, a common hash multiplier. In halves, because code formatters read numbers as
 * doubles.
 */
const SPREAD: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;

let bytes: usize = 0;
let length: i32 = 0;
let order: usize = 0;
let pairs: usize = 0;
let filter: usize = 0;
let filterShift: i32 = 0;

/** Address for a dictionary of n bytes. The host writes it once, then calls indexDictionary. */
export function dictionaryPointer(n: i32): usize {
  bytes = align(__heap_base);
  growTo(bytes + n + 2 + PADDING);
  return bytes;
}

/** Indexes the n bytes written. If FE or FF is missing, both are appended (docs/spec/compression.md 4.2). */
export function indexDictionary(n: i32): void {
  length = n;
  if (!holds(0xfe) || !holds(0xff)) {
    store<u8>(bytes + n, 0xfe);
    store<u8>(bytes + n + 1, 0xff);
    length = n + 2;
  }
  let filterBits = 16;
  while (1 << filterBits < length * FILTER_DENSITY) filterBits++;
  filterShift = 64 - filterBits;
  order = align(bytes + length + PADDING);
  pairs = align(order + ((<usize>length) << 2));
  filter = align(pairs + ((<usize>PAIR_ENTRIES) << 2));
  const end = filter + ((<usize>1) << (filterBits - 3));
  placeWork(end, length);
  orderSuffixes(bytes, length, order, pairs, slots, scratchA, scratchB);
  for (let i = 0; i + MIN_DYNAMIC <= length; i++) {
    const bit = fiveByteHash(bytes + i);
    const address = filter + (bit >> 3);
    store<u8>(address, load<u8>(address) | ((<u8>1) << (<u8>bit & 7)));
  }
  placeWork(end, FIRST_CAPACITY);
}

function holds(byte: u8): bool {
  for (let i = 0; i < length; i++) if (load<u8>(bytes + i) === byte) return true;
  return false;
}

function fiveByteHash(address: usize): usize {
  return <usize>(((load<u64>(address) << 24) * SPREAD) >>> filterShift);
}

/** False if the five bytes at `address` are certainly not in the dictionary. */
export function mayHoldFive(address: usize): bool {
  const bit = fiveByteHash(address);
  return ((load<u8>(filter + (bit >> 3)) >> (<u8>bit & 7)) & 1) !== 0;
}

/** Length of the longest match of the bytes at `text` in the dictionary, at most `limit`, which must be above 0. */
export function longestInDictionary(text: usize, limit: i32): i32 {
  const first = <i32>load<u8>(text) * 257;
  if (limit === 1) return pairStart(first) < pairStart(first + 257) ? 1 : 0;
  const key = first + <i32>load<u8>(text + 1) + 1;
  let low = pairStart(key);
  let high = pairStart(key + 1);
  if (low === high) return pairStart(first) < pairStart(first + 257) ? 1 : 0;
  // Binary search. Both neighbours of the text's position in the order are compared; one of them is the longest match.
  let best = 2;
  let lowShared = 2;
  let highShared = 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = load<i32>(order + ((<usize>middle) << 2));
    let shared = min(lowShared, highShared);
    shared += matchLength(text + shared, bytes + at + shared, min(limit, length - at) - shared);
    if (shared > best) best = shared;
    if (shared === limit) return limit;
    if (at + shared === length || load<u8>(bytes + at + shared) < load<u8>(text + shared)) {
      low = middle + 1;
      lowShared = shared;
    } else {
      high = middle;
      highShared = shared;
    }
  }
  return best;
}

function pairStart(key: i32): i32 {
  return load<i32>(pairs + ((<usize>key) << 2));
}
