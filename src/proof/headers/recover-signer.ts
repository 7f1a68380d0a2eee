import { ecrecover } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';

/** Bytes of a signature over secp256k1: r, s, and the parity of y. */
export const SIGNATURE_BYTES = 65;

/**
 * Address, 20 bytes, of the key that made a signature. An `s` of either half is taken: this is for seals, whose bytes
 * identify nothing.
 *
 * @param digest - 32 bytes that were signed, not hashed again
 * @param signature - `r | s | v`, 65 bytes, v 0 or 1
 * @returns undefined when it is a signature of no key
 */
export function recoverSigner(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  const parity = signature[64];
  if (signature.length !== SIGNATURE_BYTES || (parity !== 0 && parity !== 1)) return undefined;
  try {
    const key = ecrecover(digest, BigInt(parity), signature.subarray(0, 32), signature.subarray(32, 64));
    return keccak_256(key).subarray(12);
  } catch {
    return undefined;
  }
}
