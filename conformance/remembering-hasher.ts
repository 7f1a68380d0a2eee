import type { Hasher } from '../src/kernel/contracts.js';

/** Every byte becomes one character of its own. */
const decoder = new TextDecoder('latin1');

/**
 * The same hasher, which remembers its digests: checking traces and making them again hash the same nodes several times,
 * and a recorded file has hundreds of thousands of them.
 */
export function rememberingHasher(hasher: Hasher): Hasher {
  const known = new Map<string, Uint8Array>();
  return {
    scheme: hasher.scheme,
    hash(input) {
      const name = decoder.decode(input);
      let digest = known.get(name);
      if (digest === undefined) {
        digest = hasher.hash(input);
        known.set(name, digest);
      }
      return digest;
    },
    hashMany: (inputs, inputBytes) => hasher.hashMany(inputs, inputBytes),
    compress: (state, block) => hasher.compress(state, block),
    climb: (leaves, positions, siblings) => hasher.climb(leaves, positions, siblings),
  };
}
