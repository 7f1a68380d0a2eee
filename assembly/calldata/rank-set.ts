/**
 * A set of slots below 2^18 that finds the neighbours of a slot in constant time. Level 0 has one bit per slot, level 1
 * one bit per non-empty 64-bit word, and level 2 is one more word. The address of a set is that of level 0; the other
 * levels follow.
 */
import { setBytes } from './memory';

let level1: usize = 0;
let level2: usize = 0;
let level0: usize = 0;

/** Clears the set at `set` for slots below n. */
export function clearSet(set: usize, n: i32): void {
  memory.fill(set, 0, setBytes(n));
}

/** Chooses the set for the functions below. */
export function useSet(set: usize, n: i32): void {
  level0 = set;
  level1 = set + ((<usize>((n >> 6) + 1)) << 3);
  level2 = level1 + ((<usize>((n >> 12) + 1)) << 3);
}

function bitsAt(level: usize, index: i32): u64 {
  return load<u64>(level + ((<usize>index) << 3));
}

function setBit(level: usize, bit: i32): void {
  const address = level + ((<usize>(bit >> 6)) << 3);
  store<u64>(address, load<u64>(address) | ((<u64>1) << (bit & 63)));
}

/** Clears a bit. @returns whether its word is now empty */
function clearBit(level: usize, bit: i32): bool {
  const address = level + ((<usize>(bit >> 6)) << 3);
  const rest = load<u64>(address) & ~((<u64>1) << (bit & 63));
  store<u64>(address, rest);
  return rest === 0;
}

export function addSlot(slot: i32): void {
  setBit(level0, slot);
  setBit(level1, slot >> 6);
  setBit(level2, slot >> 12);
}

export function removeSlot(slot: i32): void {
  if (clearBit(level0, slot) && clearBit(level1, slot >> 6)) clearBit(level2, slot >> 12);
}

function highest(bits: u64): i32 {
  return 63 - <i32>clz(bits);
}

function lowest(bits: u64): i32 {
  return <i32>ctz(bits);
}

/** Bits below position `bit` of a word. */
function below(bit: i32): u64 {
  return ((<u64>1) << (bit & 63)) - 1;
}

/** Bits above position `bit` of a word. */
function above(bit: i32): u64 {
  return ~(((<u64>2) << (bit & 63)) - 1);
}

/** Largest member below `slot`; -1 if there is none. */
export function memberBefore(slot: i32): i32 {
  let word = slot >> 6;
  let bits = bitsAt(level0, word) & below(slot);
  if (bits !== 0) return (word << 6) | highest(bits);
  let upper = word >> 6;
  bits = bitsAt(level1, upper) & below(word);
  if (bits === 0) {
    bits = bitsAt(level2, 0) & below(upper);
    if (bits === 0) return -1;
    upper = highest(bits);
    bits = bitsAt(level1, upper);
  }
  word = (upper << 6) | highest(bits);
  return (word << 6) | highest(bitsAt(level0, word));
}

/** Smallest member above `slot`; -1 if there is none. */
export function memberAfter(slot: i32): i32 {
  let word = slot >> 6;
  let bits = bitsAt(level0, word) & above(slot);
  if (bits !== 0) return (word << 6) | lowest(bits);
  let upper = word >> 6;
  bits = bitsAt(level1, upper) & above(word);
  if (bits === 0) {
    bits = bitsAt(level2, 0) & above(upper);
    if (bits === 0) return -1;
    upper = lowest(bits);
    bits = bitsAt(level1, upper);
  }
  word = (upper << 6) | lowest(bits);
  return (word << 6) | lowest(bitsAt(level0, word));
}
