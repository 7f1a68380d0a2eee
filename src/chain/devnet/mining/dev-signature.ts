import { secp256k1 } from '@noble/curves/secp256k1.js';

/*
 * A chunk of its own: the curve is large, and few nodes sign. Imported here by name, because an `import()` of the package itself brings all of
 * it into a bundle, with a method named `eval` that a Compartment of SES refuses.
 */

/** A signature over secp256k1, with the parity of its point's y coordinate. */
export interface RecoverableSignature {
  readonly yParity: number;
  readonly r: bigint;
  readonly s: bigint;
}

/** Signs a hash. @param key - 32 bytes, as the hash */
export function sign(hash: Uint8Array, key: Uint8Array): RecoverableSignature {
  const bytes = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
  const { recovery, r, s } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  return { yParity: recovery!, r, s };
}
