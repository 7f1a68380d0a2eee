import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import { climbWith, referenceHasher } from '../reference/hasher.js';

const latin1 = new TextDecoder('latin1');

/** The bigint hasher of `test/reference`, which remembers its digests: it is slow, and twins hash the same nodes often. */
export function memoHasher(scheme: HashScheme): Hasher & { readonly size: number } {
  const reference = referenceHasher(scheme);
  const known = new Map<string, Uint8Array>();
  const hash = (input: Uint8Array): Uint8Array => {
    const name = latin1.decode(input);
    let digest = known.get(name);
    if (digest === undefined) {
      digest = reference.hash(input);
      known.set(name, digest);
    }
    return digest;
  };
  return {
    scheme,
    hash,
    hashMany(inputs, inputBytes) {
      const digests = new Uint8Array((inputs.length / inputBytes) * 32);
      for (let i = 0; i * inputBytes < inputs.length; i++) {
        digests.set(hash(inputs.subarray(i * inputBytes, (i + 1) * inputBytes)), 32 * i);
      }
      return digests;
    },
    compress: (state, block) => reference.compress(state, block),
    climb: (leaves, positions, siblings) => climbWith(hash, leaves, positions, siblings),
    /** Digests remembered. */
    get size() {
      return known.size;
    },
  };
}
