import { keccak_256 } from '@noble/hashes/sha3.js';

/** Modulus of the BLS12-377 scalar field, 253 bits (docs/spec/hashing.md 1.1). */
export const BLS12_377_MODULUS = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n;

/** Modulus of KoalaBear, 2^31 - 2^24 + 1 (docs/spec/hashing.md 2.1). */
export const KOALABEAR_MODULUS = 0x7f000001n;

/**
 * The constants both hash functions draw from a chain of keccak256: hash the seed, then hash on, and reduce each digest.
 * The seed's own hash is not a constant, and the chain goes on from the unreduced digest.
 *
 * @source docs/spec/hashing.md 1.1, 2.2
 */
export function deriveConstants(seed: string, count: number, modulus: bigint): bigint[] {
  let digest = keccak_256(new TextEncoder().encode(seed));
  const constants: bigint[] = [];
  for (let i = 0; i < count; i++) {
    digest = keccak_256(digest);
    constants.push(digest.reduce((number, byte) => number * 256n + BigInt(byte), 0n) % modulus);
  }
  return constants;
}
