import { bls12_381 } from '@noble/curves/bls12-381.js';
import { copyBytes } from '../../primitives/bytes.js';

const { Fp } = bls12_381.fields;

export type KeyPoint = InstanceType<typeof bls12_381.G1.Point>;

/** Flags of the first byte: compressed, at infinity, the greater of both y. */
const COMPRESSED = 0x80;
const INFINITY = 0x40;
const GREATER = 0x20;

/** x of a point, which may be above the modulus. */
function xOf(key: Uint8Array): bigint {
  const bytes = copyBytes(key);
  bytes[0]! &= ~(COMPRESSED | INFINITY | GREATER);
  return Fp.fromBytes(bytes, true);
}

/** Whether 48 bytes can be a public key: compressed, not at infinity, x below the modulus. No curve arithmetic. */
export function hasKeyEncoding(key: Uint8Array): boolean {
  return (key[0]! & (COMPRESSED | INFINITY)) === COMPRESSED && Fp.isValid(xOf(key));
}

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
  const x = xOf(key);
  const y = Fp.sqrt(Fp.add(Fp.mul(Fp.sqr(x), x), bls12_381.G1.Point.CURVE().b));
  const isGreater = 2n * y > Fp.ORDER;
  return bls12_381.G1.Point.fromAffine({ x, y: isGreater === ((key[0]! & GREATER) !== 0) ? y : Fp.neg(y) });
}
