import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bytesToBigInt } from '../../primitives/bytes.js';

export type KeyPoint = InstanceType<typeof bls12_381.G1.Point>;

/** Of the first byte: the bits of x, and the flag of the greater y. */
const X_BITS = 0x1f;
const GREATER = 0x20;

/**
 * The point of a public key with a valid encoding. That it is in the subgroup is not checked, which would take ten times as
 * long: the beacon chain accepts a validator's key only with a proof of possession, and the committee was proved into its
 * state.
 *
 * @param key - 48 bytes for which `hasKeyEncoding` holds
 * @throws Error for an x that is not on the curve
 * @source IETF draft-irtf-cfrg-pairing-friendly-curves, appendix C
 */
export function decodeKey(key: Uint8Array): KeyPoint {
  const { Fp } = bls12_381.fields;
  const bytes = key.slice();
  bytes[0]! &= X_BITS;
  const x = bytesToBigInt(bytes);
  const y = Fp.sqrt(Fp.add(Fp.mul(Fp.sqr(x), x), bls12_381.G1.Point.CURVE().b));
  const isGreater = 2n * y > Fp.ORDER;
  return bls12_381.G1.Point.fromAffine({ x, y: isGreater === ((key[0]! & GREATER) !== 0) ? y : Fp.neg(y) });
}
