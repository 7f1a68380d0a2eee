// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

import { addSquareMultiply, ELEMENT_BYTES, LIMB_BITS, MASK, SUM } from '../field/bls12377';
import { MODULUS, ONE, PLAIN_ONE, RADIX, ROUND_CONSTANTS } from './constants/mimc';

/**
 * MiMC over the BLS12-377 scalar field, spec/hashing.md 1. Blocks and digests are 32 bytes, big-endian, below the modulus;
 * the functions here do not check that, `isCanonical` does. SIMD brings nothing here: both builds run the same code.
 */

const ROUNDS: usize = 62;
const BLOCK_BYTES: usize = 32;

// The running state, a block, the cipher's value and a zero, one element each.
const state: usize = memory.data(36, 16);
const block: usize = memory.data(36, 16);
const value: usize = memory.data(36, 16);
const ZERO: usize = memory.data(36, 16);

// The modulus as four 64-bit words, most significant first.
const R3: u64 = 0x12ab655e9a2ca556;
const R2: u64 = 0x60b44d1e5c37b001;
const R1: u64 = 0x59aa76fed0000001;
const R0: u64 = 0x0a11800000000001;

/** Whether every block of `length` bytes (a multiple of 32) is below the modulus. */
export function isCanonical(input: usize, length: usize): bool {
  for (const end = input + length; input < end; input += BLOCK_BYTES) {
    const w3 = bswap(load<u64>(input));
    if (w3 < R3) continue;
    const w2 = bswap(load<u64>(input, 8));
    const w1 = bswap(load<u64>(input, 16));
    const w0 = bswap(load<u64>(input, 24));
    if (w3 > R3 || w2 > R2) return false;
    if (w2 < R2) continue;
    if (w1 > R1 || (w1 === R1 && w0 >= R0)) return false;
  }
  return true;
}

/** Clears the running state: the start of a hash. */
export function start(): void {
  memory.fill(state, 0, ELEMENT_BYTES);
}

/** Sets the running state to a digest, to go on from it. */
export function resume(digest: usize): void {
  read(digest, state);
}

/** The running state absorbs `length` bytes, a multiple of 32. */
export function absorb(input: usize, length: usize): void {
  for (const end = input + length; input < end; input += BLOCK_BYTES) {
    read(input, block);
    compress();
  }
}

/** Writes the running state as a digest. */
export function digest(output: usize): void {
  // A product with the plain one leaves Montgomery form, above minus the modulus and at most zero.
  addSquareMultiply(state, ZERO, ZERO, 0, PLAIN_ONE, value);
  let carry: i64 = 0;
  for (let at: usize = 0; at < ELEMENT_BYTES; at += 4) {
    carry += <i64>load<i32>(value + at) + load<i32>(MODULUS + at);
    store<i32>(value + at, carry & MASK);
    carry >>= LIMB_BITS;
  }
  const n2: u64 = load<u32>(value, 8);
  const n4: u64 = load<u32>(value, 16);
  const n6: u64 = load<u32>(value, 24);
  const w0 = <u64>load<u32>(value) | ((<u64>load<u32>(value, 4)) << 29) | (n2 << 58);
  const w1 = (n2 >> 6) | ((<u64>load<u32>(value, 12)) << 23) | (n4 << 52);
  const w2 = (n4 >> 12) | ((<u64>load<u32>(value, 20)) << 17) | (n6 << 46);
  const w3 = (n6 >> 18) | ((<u64>load<u32>(value, 28)) << 11) | ((<u64>load<u32>(value, 32)) << 40);
  if (w0 === R0 && w1 === R1 && w2 === R2 && w3 === R3) {
    memory.fill(output, 0, BLOCK_BYTES);
    return;
  }
  store<u64>(output, bswap(w3));
  store<u64>(output, bswap(w2), 8);
  store<u64>(output, bswap(w1), 16);
  store<u64>(output, bswap(w0), 24);
}

/** Digest of `length` bytes, a multiple of 32. */
export function hashBytes(input: usize, length: usize, output: usize): void {
  start();
  absorb(input, length);
  digest(output);
}

/** `count` digests of inputs of `length` bytes each, laid end to end, as the digests are. */
export function hashMany(inputs: usize, count: i32, length: usize, outputs: usize): void {
  for (; count > 0; count--, inputs += length, outputs += BLOCK_BYTES) hashBytes(inputs, length, outputs);
}

/** `state = cipher(block) + state + block`, where the cipher ends by adding the state too (spec/hashing.md 1.2). */
function compress(): void {
  memory.copy(value, block, ELEMENT_BYTES);
  const end = ROUND_CONSTANTS + ROUNDS * ELEMENT_BYTES;
  for (let constant = ROUND_CONSTANTS; constant < end; constant += ELEMENT_BYTES) {
    addSquareMultiply(value, state, constant, 4, SUM, value);
  }
  // Sums of several elements outgrow the state's bounds: the product with one brings them back.
  addSquareMultiply(value, state, block, 0, ONE, value);
  addSquareMultiply(value, state, ZERO, 0, ONE, state);
}

/** The element of 32 big-endian bytes. */
function read(bytes: usize, into: usize): void {
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
