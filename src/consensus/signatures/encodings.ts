import { compareBytes } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';

/** The modulus of the base field of BLS12-381, 48 bytes. @source IETF draft-irtf-cfrg-pairing-friendly-curves, section 4.2.1 */
const MODULUS = hexToBytes(
  '0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab',
);

/** Flags of the first byte: compressed, at infinity, the greater of both y. */
const COMPRESSED = 0x80;
const INFINITY = 0x40;
const FLAGS = 0xe0;

function isBelowModulus(bytes: Uint8Array, first: number): boolean {
  if (first !== MODULUS[0]) return first < MODULUS[0]!;
  return compareBytes(bytes.subarray(1), MODULUS.subarray(1)) < 0;
}

/** Whether the flags say a compressed point other than infinity. Nothing is said of the curve. */
const isFinitePoint = (first: number) => (first & (COMPRESSED | INFINITY)) === COMPRESSED;

/** Whether 48 bytes can be a public key: compressed, not at infinity, x below the modulus. No curve arithmetic. */
export function hasKeyEncoding(key: Uint8Array): boolean {
  return isFinitePoint(key[0]!) && isBelowModulus(key, key[0]! & ~FLAGS);
}

/** As `hasKeyEncoding`, for a signature of 96 bytes, whose x has two coordinates. */
export function hasSignatureEncoding(signature: Uint8Array): boolean {
  const [high, low] = [signature.subarray(0, 48), signature.subarray(48)];
  return isFinitePoint(high[0]!) && isBelowModulus(high, high[0]! & ~FLAGS) && isBelowModulus(low, low[0]!);
}
