import { bls12_381 } from '@noble/curves/bls12-381.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bigIntToBytes, concatBytes } from '../../src/primitives/bytes.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { seededRandom } from './random.js';
import { randomBytes } from './random-programs.js';

let known: readonly (readonly [precompile: number, data: Uint8Array])[] | undefined;

/** Inputs by precompile: good ones made by other libraries, damaged ones, empty ones, ones of a wrong length. */
export function precompileInputs(): readonly (readonly [number, Uint8Array])[] {
  if (known !== undefined) return known;
  const below = seededRandom(77);
  const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);
  const hash = randomBytes(below, 32);
  const secret = randomBytes(below, 32);
  const recovered = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
  const p256Point = p256.Point.fromBytes(p256.getPublicKey(secret)).toBytes(false).subarray(1);
  const g1 = concatBytes(word(1), word(2));
  const field = (value: bigint) => bigIntToBytes(value, 64);
  const blsPoint = (times: bigint) => {
    const { x, y } = bls12_381.G1.Point.BASE.multiply(times).toAffine();
    return concatBytes(field(x), field(y));
  };
  const { x, y } = bls12_381.G2.Point.BASE.toAffine();
  const bls2 = concatBytes(field(x.c0), field(x.c1), field(y.c0), field(y.c1));
  const blake = (rounds: number, last: number) =>
    concatBytes(bigIntToBytes(BigInt(rounds), 4), randomBytes(below, 208), Uint8Array.of(last));
  const good: [number, Uint8Array][] = [
    [0x01, concatBytes(hash, word(27 + recovered[0]!), recovered.subarray(1))],
    [0x01, concatBytes(hash, word(29), recovered.subarray(1))],
    [0x02, randomBytes(below, 100)],
    [0x03, randomBytes(below, 100)],
    [0x04, randomBytes(below, 100)],
    [0x05, concatBytes(word(1), word(2), word(3), randomBytes(below, 6))],
    [0x05, concatBytes(word(70), word(33), word(64), randomBytes(below, 167))],
    [0x05, concatBytes(word(1025), word(1), word(1), randomBytes(below, 1027))],
    [0x05, concatBytes(word(0), word(0), word(0))],
    [0x06, concatBytes(g1, g1)],
    [0x07, concatBytes(g1, word(9))],
    [0x08, concatBytes(g1, BN254_G2, g1, BN254_G2)],
    [0x08, concatBytes(new Uint8Array(64), BN254_G2)],
    [0x09, blake(12, 1)],
    [0x09, blake(3, 2)],
    [0x0a, randomBytes(below, 192)],
    [0x0a, concatBytes(KZG_ZERO_HASH, word(5), word(0), KZG_ZERO, KZG_ZERO)],
    [0x0b, concatBytes(blsPoint(1n), blsPoint(5n))],
    [0x0c, concatBytes(blsPoint(1n), word(7), blsPoint(3n), word(11))],
    [0x0d, concatBytes(bls2, bls2)],
    [0x0e, concatBytes(bls2, word(5))],
    [0x0f, concatBytes(blsPoint(2n), bls2)],
    [0x0f, concatBytes(new Uint8Array(128), bls2)],
    [0x10, field(123n)],
    [0x11, concatBytes(field(5n), field(6n))],
    [0x12, randomBytes(below, 10)],
    [0x100, concatBytes(hash, p256.sign(hash, secret, { prehash: false }), p256Point)],
  ];
  known = good.flatMap(([at, data]) => {
    const damaged = data.slice();
    if (damaged.length > 0) damaged[below(damaged.length)]! ^= 1 + below(255);
    return [data, damaged, data.subarray(0, -1), concatBytes(data, word(1))].map((input) => [at, input] as const);
  });
  known = [...known, ...[...Array(0x13).keys(), 0x100].map((at) => [at, new Uint8Array(0)] as const)];
  return known;
}

/** Commitment to the zero polynomial, which is also the proof that it is zero at any point; and its versioned hash. */
const KZG_ZERO = concatBytes(Uint8Array.of(0xc0), new Uint8Array(47));
const KZG_ZERO_HASH = concatBytes(Uint8Array.of(1), sha256(KZG_ZERO).subarray(1));

/** Generator of the second group of the curve of EIP-197. */
const BN254_G2 = hexToBytes(
  '0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2' +
    '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed' +
    '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b' +
    '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa',
);
