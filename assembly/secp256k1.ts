import { recover } from './secp256k1/recovery';

/**
 * Entry of the kernel of secp256k1: exports only. All data is public, so the time may depend on it; nothing here is for signing.
 *
 *   INPUT    96 bytes   hash, r and s of a signature, big-endian numbers of 32 bytes
 *   OUTPUT   64 bytes   x and y of a public key, likewise
 */
export const INPUT: usize = memory.data(96, 16);
export const OUTPUT: usize = memory.data(64, 16);

const numbers: usize = memory.data(96, 16);
const key: usize = memory.data(64, 16);

/** Recovers the key that signed. @returns false if there is none */
export function recoverPublicKey(isYOdd: bool): bool {
  for (let i: usize = 0; i < 96; i += 32) turn(INPUT + i, numbers + i);
  if (!recover(numbers, isYOdd, key)) return false;
  for (let i: usize = 0; i < 64; i += 32) turn(key + i, OUTPUT + i);
  return true;
}

/** Turns a big-endian number into words, least first, or back. */
function turn(from: usize, into: usize): void {
  for (let i: usize = 0; i < 32; i += 8) store<u64>(into + 24 - i, bswap(load<u64>(from + i)));
}
