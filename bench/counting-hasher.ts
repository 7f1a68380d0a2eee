import type { Hasher } from '../src/kernel/contracts.js';

/** The same hasher, which counts compressions: one for each block of 32 bytes. */
export function countingHasher(hasher: Hasher): Hasher & { compressions: number } {
  return {
    scheme: hasher.scheme,
    compressions: 0,
    hash(input) {
      this.compressions += Math.ceil(input.length / 32);
      return hasher.hash(input);
    },
    hashMany(inputs, inputBytes) {
      this.compressions += (inputs.length / inputBytes) * Math.ceil(inputBytes / 32);
      return hasher.hashMany(inputs, inputBytes);
    },
    compress(state, block) {
      this.compressions++;
      return hasher.compress(state, block);
    },
    climb(leaves, positions, siblings) {
      this.compressions += siblings.length / 16;
      return hasher.climb(leaves, positions, siblings);
    },
  };
}
