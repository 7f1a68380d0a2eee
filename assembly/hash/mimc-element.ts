// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

import * as field from '../field/bls12377';
import { ELEMENT_BYTES, LIMB_BITS, MASK } from '../field/bls12377';
import * as mixed from '../field/bls12377-mixed';
import { MODULUS, ONE, PLAIN_ONE, RADIX, ROUND_CONSTANTS } from './constants/mimc';

/**
 * The steps before and after the rounds of MiMC's cipher (docs/spec/hashing.md 1), one element at a time in both
 * builds.
 */

export const ROUNDS: i32 = 62;
const BLOCK_BYTES: usize = 32;
const HALF: i64 = 1 << 28;
/** End of the round constants. */
export const ROUND_CONSTANTS_END: usize = ROUND_CONSTANTS + <usize>ROUNDS * ELEMENT_BYTES;

const element: usize = memory.data(36, 16);
const ZERO: usize = memory.data(36, 16);

// The modulus as four 64-bit words, most significant first.
export const R3: u64 = 0x12ab655e9a2ca556;
export const R2: u64 = 0x60b44d1e5c37b001;
export const R1: u64 = 0x59aa76fed0000001;
export const R0: u64 = 0x0a11800000000001;

/** `addSquareMultiply` of the field, in the faster form for the build: a fifth less time with SIMD. */
export function addSquareMultiply(
  a: usize,
  b: usize,
  c: usize,
  squarings: i32,
  factor: usize,
  into: usize,
  rounds: i32 = 1,
): void {
  if (ASC_FEATURE_SIMD) mixed.addSquareMultiply(a, b, c, squarings, factor, into, rounds);
  else field.addSquareMultiply(a, b, c, squarings, factor, into, rounds);
}

/** Reads an element from 32 big-endian bytes. */
export function read(bytes: usize, into: usize): void {
  const w3 = bswap(load<u64>(bytes));
  const w2 = bswap(load<u64>(bytes, 8));
  const w1 = bswap(load<u64>(bytes, 16));
  const w0 = bswap(load<u64>(bytes, 24));
  store<u32>(into, w0 & MASK);
  store<u32>(into, (w0 >> 29) & MASK, 4);
  store<u32>(into, ((w0 >> 58) | (w1 << 6)) & MASK, 8);
  store<u32>(into, (w1 >> 23) & MASK, 12);
  store<u32>(into, ((w1 >> 52) | (w2 << 12)) & MASK, 16);
  store<u32>(into, (w2 >> 17) & MASK, 20);
  store<u32>(into, ((w2 >> 46) | (w3 << 18)) & MASK, 24);
  store<u32>(into, (w3 >> 11) & MASK, 28);
  store<u32>(into, w3 >> 40, 32);
  addSquareMultiply(into, ZERO, ZERO, 0, RADIX, into);
}

/** Writes an element as 32 big-endian bytes. */
export function write(state: usize, output: usize): void {
  // Multiplying by the plain one leaves Montgomery form. The result is above minus the modulus and at most zero.
  addSquareMultiply(state, ZERO, ZERO, 0, PLAIN_ONE, element);
  let carry: i64 = 0;
  for (let at: usize = 0; at < ELEMENT_BYTES; at += 4) {
    carry += <i64>load<i32>(element + at) + load<i32>(MODULUS + at);
    store<i32>(element + at, carry & MASK);
    carry >>= LIMB_BITS;
  }
  const n2: u64 = load<u32>(element, 8);
  const n4: u64 = load<u32>(element, 16);
  const n6: u64 = load<u32>(element, 24);
  const w0 = <u64>load<u32>(element) | ((<u64>load<u32>(element, 4)) << 29) | (n2 << 58);
  const w1 = (n2 >> 6) | ((<u64>load<u32>(element, 12)) << 23) | (n4 << 52);
  const w2 = (n4 >> 12) | ((<u64>load<u32>(element, 20)) << 17) | (n6 << 46);
  const w3 = (n6 >> 18) | ((<u64>load<u32>(element, 28)) << 11) | ((<u64>load<u32>(element, 32)) << 40);
  if (w0 === R0 && w1 === R1 && w2 === R2 && w3 === R3) {
    memory.fill(output, 0, BLOCK_BYTES);
    return;
  }
  store<u64>(output, bswap(w3));
  store<u64>(output, bswap(w2), 8);
  store<u64>(output, bswap(w1), 16);
  store<u64>(output, bswap(w0), 24);
}

/**
 * The same number with eight limbs between -3 2^28 and -2^28. The rounds need this for the term that does not change:
 * its sum with two limbs below 2^29 is below 3 2^28 in absolute value, and needs no carries
 * (assembly/field/bls12377.ts).
 */
export function lower(from: usize, into: usize): void {
  let carry: i64 = 0;
  for (let at: usize = 0; at < ELEMENT_BYTES - 4; at += 4) {
    carry += <i64>load<i32>(from + at) + HALF;
    store<i32>(into + at, (carry & MASK) - 3 * HALF);
    // Undo the offset added before; the limb is one whole limb too low.
    carry = (carry >> LIMB_BITS) + 1;
  }
  store<i32>(into, carry + load<i32>(from, 32), 32);
}

/**
 * The end of a compression: `state = value + 2 state + block`, where `value` is the result of the cipher's rounds
 * (docs/spec/hashing.md 1.2). The product with one brings the sum of four elements back into the state's bounds.
 * Overwrites the block.
 */
export function finish(value: usize, block: usize, state: usize): void {
  for (let at: usize = 0; at < ELEMENT_BYTES; at += 4)
    store<i32>(block + at, load<i32>(block + at) + load<i32>(state + at));
  addSquareMultiply(value, state, block, 0, ONE, state);
}
