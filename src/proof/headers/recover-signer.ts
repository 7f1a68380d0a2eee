import { signerOf } from '../../ethereum/signer.js';

/** Bytes of a signature over secp256k1: r, s, and the parity of y. */
export const SIGNATURE_BYTES = 65;

/**
 * Address, 20 bytes, of the signer. `s` may be in either half of its range: this is for seals, which are not identified by
 * their bytes.
 *
 * @param digest - the signed 32 bytes; they are not hashed again
 * @param signature - `r | s | v`, 65 bytes, v 0 or 1
 * @returns undefined if the signature is not valid
 * @throws PlumblineError `KERNEL_UNAVAILABLE` before `loadSignerRecovery()` has ended
 */
export function recoverSigner(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  const parity = signature[64];
  if (signature.length !== SIGNATURE_BYTES || (parity !== 0 && parity !== 1)) return undefined;
  return signerOf(digest, signature.subarray(0, 32), signature.subarray(32, 64), parity);
}
