// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

import { ELEMENT_BYTES } from '../field/bls12377';
import { ROUND_CONSTANTS } from './constants/mimc';
import { addSquareMultiply, finish, lower, R0, R1, R2, R3, ROUNDS, read, write } from './mimc-element';
import { hashTwo } from './mimc-lanes';

/**
 * MiMC over the BLS12-377 scalar field (docs/spec/hashing.md 1). Blocks and digests are 32 bytes, big-endian, below the
 * modulus. Only `isCanonical` checks that. With SIMD, pairs of hashes use mimc-lanes.
 */

const BLOCK_BYTES: usize = 32;

// The state, the state with lower limbs, a block and the cipher's value, one element each.
const state: usize = memory.data(36, 16);
const key: usize = memory.data(36, 16);
const block: usize = memory.data(36, 16);
const value: usize = memory.data(36, 16);

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

/** Starts a hash. */
export function start(): void {
  memory.fill(state, 0, ELEMENT_BYTES);
}

/** Sets the state to a digest, to continue from it. */
export function resume(digest: usize): void {
  read(digest, state);
}

/** Absorbs `length` bytes, a multiple of 32. */
export function absorb(input: usize, length: usize): void {
  for (const end = input + length; input < end; input += BLOCK_BYTES) {
    read(input, block);
    compress();
  }
}

/** Writes the state as a digest. */
export function digest(output: usize): void {
  write(state, output);
}

/** Digest of `length` bytes, a multiple of 32. */
export function hashBytes(input: usize, length: usize, output: usize): void {
  start();
  absorb(input, length);
  digest(output);
}

/**
 * `count` digests of concatenated inputs of `length` bytes each. The digests are concatenated too. With SIMD two hashes
 * are computed at once.
 */
export function hashMany(inputs: usize, count: i32, length: usize, outputs: usize): void {
  if (ASC_FEATURE_SIMD) {
    for (; count > 1; count -= 2, inputs += 2 * length, outputs += 2 * BLOCK_BYTES) {
      hashTwo(inputs, inputs + length, length, outputs, outputs + BLOCK_BYTES);
    }
  }
  for (; count > 0; count--, inputs += length, outputs += BLOCK_BYTES) hashBytes(inputs, length, outputs);
}

/** The state absorbs the block. */
function compress(): void {
  lower(state, key);
  addSquareMultiply(block, key, ROUND_CONSTANTS, 4, 0, value, ROUNDS);
  finish(value, block, state);
}
