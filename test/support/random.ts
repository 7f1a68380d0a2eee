/** A repeatable source of random integers: each call gives one from 0 to `bound - 1`, `bound` at most 2^32 (xorshift32). */
export function seededRandom(seed: number): (bound: number) => number {
  let state = seed >>> 0 || 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * bound);
  };
}
