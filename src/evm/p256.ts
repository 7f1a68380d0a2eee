import { p256 } from '@noble/curves/nist.js';
import { bytesToBigInt } from '../primitives/bytes.js';
import { affinePoint } from './curve-points.js';

const { Point } = p256;
const { Fn } = Point;

/** Length of the input: hash, r, s and the key's x and y, of 32 bytes each. */
const P256_INPUT_BYTES = 160;

/** 32 bytes with the number 1 if the signature is valid, else no bytes. @source EIP-7951 */
export function runP256Verify(input: Uint8Array): Uint8Array {
  const isValid = input.length === P256_INPUT_BYTES && isSignature(input);
  if (!isValid) return new Uint8Array(0);
  const one = new Uint8Array(32);
  one[31] = 1;
  return one;
}

function isSignature(input: Uint8Array): boolean {
  const [hash, r, s, x, y] = [0, 32, 64, 96, 128].map((at) => bytesToBigInt(input.subarray(at, at + 32))) as [
    ...[bigint, bigint, bigint, bigint, bigint],
  ];
  if (!Fn.isValidNot0(r) || !Fn.isValidNot0(s)) return false;
  const key = affinePoint(Point, x, y);
  if (key === undefined || key.is0()) return false;
  const inverse = Fn.inv(s);
  const point = Point.BASE.mulAddUnsafe(Fn.mul(Fn.create(hash), inverse), key, Fn.mul(r, inverse));
  return !point.is0() && Fn.create(point.toAffine().x) === r;
}
