import { fold, P, readWord, writeWord } from '../field/koalabear';
import { hashFour } from './poseidon2-lanes';
import { permute, words } from './poseidon2-permutation';

/**
 * Poseidon2 over KoalaBear (docs/spec/hashing.md 2). Words are 4 bytes, big-endian, below p; blocks and digests are 8
 * words. Only `isCanonical` checks that.
 */

const BLOCK_BYTES: usize = 32;
/** log2 of the distance between word slots in bytes, and the offset of the second half of the state. */
const SLOT_SHIFT: usize = 3;
const HALF: usize = 64;

const block: usize = memory.data(64, 16);

/** Whether every word of `length` bytes (a multiple of 4) is below p. */
export function isCanonical(input: usize, length: usize): bool {
  for (const end = input + length; input < end; input += 4) {
    if (bswap(load<u32>(input)) >= P) return false;
  }
  return true;
}

/** Starts a hash. */
export function start(): void {
  memory.fill(words, 0, HALF);
}

/** Sets the state to a digest, to continue from it. */
export function resume(digest: usize): void {
  for (let i: usize = 0; i < 8; i++) store<i64>(words + (i << SLOT_SHIFT), readWord(digest + (i << 2)));
}

/** Absorbs `length` bytes, a multiple of 4. A last partial block gets leading zeros. */
export function absorb(input: usize, length: usize): void {
  for (; length >= BLOCK_BYTES; length -= BLOCK_BYTES, input += BLOCK_BYTES) compress(input, 0);
  if (length > 0) compress(input - (BLOCK_BYTES - length), (BLOCK_BYTES - length) >> 2);
}

/** Writes the state as a digest. */
export function digest(output: usize): void {
  for (let i: usize = 0; i < 8; i++) writeWord(output + (i << 2), load<i64>(words + (i << SLOT_SHIFT)));
}

/** Digest of `length` bytes, a multiple of 4. */
export function hashBytes(input: usize, length: usize, output: usize): void {
  start();
  absorb(input, length);
  digest(output);
}

/**
 * `count` digests of concatenated inputs of `length` bytes each. The digests are concatenated too. With SIMD four
 * hashes are computed at once. A rest of two or three is filled up with the last one, which is still cheaper than
 * hashing them one by one.
 */
export function hashMany(inputs: usize, count: i32, length: usize, outputs: usize): void {
  if (ASC_FEATURE_SIMD) {
    for (; count > 1; count -= 4, inputs += 4 * length, outputs += 4 * BLOCK_BYTES) {
      const third: usize = count > 2 ? 2 : 1;
      const fourth: usize = count > 3 ? 3 : third;
      hashFour(
        inputs,
        inputs + length,
        inputs + third * length,
        inputs + fourth * length,
        length,
        outputs,
        outputs + BLOCK_BYTES,
        outputs + third * BLOCK_BYTES,
        outputs + fourth * BLOCK_BYTES,
      );
    }
  }
  for (; count > 0; count--, inputs += length, outputs += BLOCK_BYTES) hashBytes(inputs, length, outputs);
}

/** The permutation of 16 words, 4 bytes each. */
export function permuteBytes(input: usize, output: usize): void {
  for (let i: usize = 0; i < 16; i++) store<i64>(words + (i << SLOT_SHIFT), readWord(input + (i << 2)));
  permute();
  for (let i: usize = 0; i < 16; i++) writeWord(output + (i << 2), load<i64>(words + (i << SLOT_SHIFT)));
}

/** Absorbs a block whose first `missing` words are zero. */
function compress(input: usize, missing: usize): void {
  for (let i: usize = 0; i < 8; i++) {
    const word = i < missing ? 0 : readWord(input + (i << 2));
    store<i64>(block + (i << SLOT_SHIFT), word);
    store<i64>(words + HALF + (i << SLOT_SHIFT), word);
  }
  permute();
  for (let i: usize = 0; i < HALF; i += 8) {
    store<i64>(words + i, fold(load<i64>(words + HALF + i) + load<i64>(block + i)));
  }
}
