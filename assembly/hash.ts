import { climb } from './hash/climb';
import * as mimc from './hash/mimc';
import * as poseidon2 from './hash/poseidon2';
import { INPUT, OUTPUT } from './memory';

/**
 * Entry of the hash kernel: exports only. Inputs are at INPUT, results at OUTPUT. Functions that return a boolean
 * return false if a word is not below the modulus; then nothing was hashed. The host checks lengths: a multiple of 32
 * for mimc, of 4 for poseidon2, and within the regions.
 */
export { INPUT, INPUT_BYTES, OUTPUT, OUTPUT_BYTES } from './memory';

/** One hash of `length` bytes. */
export function mimcHash(length: usize): bool {
  if (!mimc.isCanonical(INPUT, length)) return false;
  mimc.hashBytes(INPUT, length, OUTPUT);
  return true;
}

/** `count` hashes of `length` bytes each. */
export function mimcHashMany(count: i32, length: usize): bool {
  if (!mimc.isCanonical(INPUT, <usize>count * length)) return false;
  mimc.hashMany(INPUT, count, length, OUTPUT);
  return true;
}

/** The nodes above leaves of binary trees; input at INPUT as for `climb`. */
export function mimcClimb(count: i32, levels: i32): bool {
  if (!mimc.isCanonical(INPUT, (<usize>(count * (levels + 1))) << 5)) return false;
  climb(INPUT, count, levels, OUTPUT, mimc.hashMany);
  return true;
}

/** One compression: state and block, 32 bytes each. */
export function mimcCompress(): bool {
  if (!mimc.isCanonical(INPUT, 64)) return false;
  mimc.resume(INPUT);
  mimc.absorb(INPUT + 32, 32);
  mimc.digest(OUTPUT);
  return true;
}

/** Hashes an input longer than the region: start, absorb part by part, take the digest. */
export function mimcStart(): void {
  mimc.start();
}

export function mimcAbsorb(length: usize): bool {
  if (!mimc.isCanonical(INPUT, length)) return false;
  mimc.absorb(INPUT, length);
  return true;
}

export function mimcDigest(): void {
  mimc.digest(OUTPUT);
}

/** One hash of `length` bytes. */
export function poseidon2Hash(length: usize): bool {
  if (!poseidon2.isCanonical(INPUT, length)) return false;
  poseidon2.hashBytes(INPUT, length, OUTPUT);
  return true;
}

/** `count` hashes of `length` bytes each. */
export function poseidon2HashMany(count: i32, length: usize): bool {
  if (!poseidon2.isCanonical(INPUT, <usize>count * length)) return false;
  poseidon2.hashMany(INPUT, count, length, OUTPUT);
  return true;
}

/** The nodes above leaves of binary trees; input at INPUT as for `climb`. */
export function poseidon2Climb(count: i32, levels: i32): bool {
  if (!poseidon2.isCanonical(INPUT, (<usize>(count * (levels + 1))) << 5)) return false;
  climb(INPUT, count, levels, OUTPUT, poseidon2.hashMany);
  return true;
}

/** One compression: state and block, 32 bytes each. */
export function poseidon2Compress(): bool {
  if (!poseidon2.isCanonical(INPUT, 64)) return false;
  poseidon2.resume(INPUT);
  poseidon2.absorb(INPUT + 32, 32);
  poseidon2.digest(OUTPUT);
  return true;
}

/** Hashes an input longer than the region. Every part but the last must be a multiple of 32 bytes. */
export function poseidon2Start(): void {
  poseidon2.start();
}

export function poseidon2Absorb(length: usize): bool {
  if (!poseidon2.isCanonical(INPUT, length)) return false;
  poseidon2.absorb(INPUT, length);
  return true;
}

export function poseidon2Digest(): void {
  poseidon2.digest(OUTPUT);
}

/** The permutation of 16 words, 64 bytes. */
export function poseidon2Permute(): bool {
  if (!poseidon2.isCanonical(INPUT, 64)) return false;
  poseidon2.permuteBytes(INPUT, OUTPUT);
  return true;
}
