import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../src/primitives/bytes.js';
import { randomBytes } from './random-programs.js';

type Below = (bound: number) => number;
type Fp2 = typeof bls12_381.fields.Fp2.ONE;

const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);
const field = (value: bigint) => bigIntToBytes(value, 64);
const pick = <T>(below: Below, items: readonly T[]): T => items[below(items.length)]!;

/** A number of 32 bytes: small, large, around the order, or any. */
function scalar(below: Below, order: bigint): bigint {
  const any = bytesToBigInt(randomBytes(below, 32));
  return pick(below, [0n, 1n, 2n, order - 1n, order, order + 1n, 2n ** 256n - 1n, any, any, any]);
}

/** Times the generator, at most 2^32. */
const times = (below: Below) => 1n + BigInt(below(2 ** 32));

/** A point of the curve that is most likely not in the group of prime order, if one is met with the first number. */
function stranger<F>(
  { Point }: { Point: typeof bls12_381.G1.Point | typeof bls12_381.G2.Point },
  x: F,
): { x: F; y: F } | undefined {
  const Fp = Point.Fp as unknown as { sqrt(n: F): F; add(a: F, b: F): F; mul(a: F, b: F): F };
  try {
    return { x, y: Fp.sqrt(Fp.add(Fp.mul(Fp.mul(x, x), x), Point.CURVE().b as unknown as F)) };
  } catch {
    return undefined;
  }
}

const fp2 = (below: Below): Fp2 => ({
  c0: bytesToBigInt(randomBytes(below, 31)),
  c1: bytesToBigInt(randomBytes(below, 31)),
});

const bnG1 = (below: Below) => {
  if (below(8) === 0) return new Uint8Array(64);
  const { x, y } = bn254.G1.Point.BASE.multiply(times(below)).toAffine();
  // A coordinate that is not reduced is not valid.
  return concatBytes(word(below(16) === 0 ? x + bn254.fields.Fp.ORDER : x), word(y));
};
const bnG2 = (below: Below) => {
  if (below(8) === 0) return new Uint8Array(128);
  const inGroup = bn254.G2.Point.BASE.multiply(times(below)).toAffine();
  const { x, y } = (below(8) === 0 ? stranger(bn254.G2, fp2(below)) : undefined) ?? inGroup;
  return concatBytes(word(x.c1), word(x.c0), word(y.c1), word(y.c0));
};
const blsG1 = (below: Below) => {
  if (below(8) === 0) return new Uint8Array(128);
  const inGroup = bls12_381.G1.Point.BASE.multiply(times(below)).toAffine();
  const { x, y } = (below(8) === 0 ? stranger(bls12_381.G1, fp2(below).c0) : undefined) ?? inGroup;
  return concatBytes(field(below(16) === 0 ? x + bls12_381.fields.Fp.ORDER : x), field(y));
};
const blsG2 = (below: Below) => {
  if (below(8) === 0) return new Uint8Array(256);
  const inGroup = bls12_381.G2.Point.BASE.multiply(times(below)).toAffine();
  const { x, y } = (below(8) === 0 ? stranger(bls12_381.G2, fp2(below)) : undefined) ?? inGroup;
  return concatBytes(field(x.c0), field(x.c1), field(y.c0), field(y.c1));
};

/** Pairs of a point and its negation beside the same partner now and then, so that the product is one. */
function pairing(below: Below, first: (below: Below) => Uint8Array, second: (below: Below) => Uint8Array, p: bigint) {
  const count = below(3);
  const pairs = Array.from({ length: count }, () => [first(below), second(below)] as const);
  const [pair] = pairs;
  if (pair === undefined || below(2) === 0) return concatBytes(...pairs.flat());
  const half = pair[0].length / 2;
  const y = bytesToBigInt(pair[0].subarray(half));
  const negated = concatBytes(pair[0].subarray(0, half), bigIntToBytes(y === 0n ? 0n : p - y, half));
  return concatBytes(...pair, negated, pair[1]);
}

const many = (below: Below, item: () => Uint8Array) =>
  concatBytes(...Array.from({ length: pick(below, [1, 1, 2, 3, 4, 6]) }, item));

function modexp(below: Below): Uint8Array {
  const length = () => pick(below, [0, 1, 8, 31, 32, 33, 64, 65, 100, 1024, 1025]);
  const small = () => pick(below, [0, 1, 2, 31, 32, 33, 40]);
  const [base, exponent, modulus] = [length(), small(), length()];
  const number = (bytes: number) => pick(below, [randomBytes(below, bytes), new Uint8Array(bytes)]);
  const parts = concatBytes(number(base), number(exponent), randomBytes(below, modulus));
  // A length that is far larger than the input.
  const huge = pick(below, [0n, 0n, 0n, 0n, 1n << 31n, 1n << 64n, 1n << 255n]);
  const lengths = [base, exponent, modulus].map(BigInt);
  lengths[below(3)]! += huge;
  return concatBytes(...lengths.map(word), parts);
}

const GENERATORS: ReadonlyMap<number, (below: Below) => Uint8Array> = new Map([
  [
    0x01,
    (below) => {
      const hash = pick(below, [randomBytes(below, 32), new Uint8Array(32)]);
      const signature = secp256k1.sign(hash, word(times(below)), { prehash: false, format: 'recovered' });
      const [r, s] = [signature.subarray(1, 33), signature.subarray(33)];
      const order = secp256k1.Point.Fn.ORDER;
      const v = pick(below, [27, 28, 27 + signature[0]!, 27 + signature[0]!, 0, 29]);
      const any = word(scalar(below, order));
      // The other half of the range is valid for the precompile.
      const high = word(order - bytesToBigInt(s));
      return concatBytes(hash, word(v), pick(below, [r, r, r, any]), pick(below, [s, s, high, any]));
    },
  ],
  [0x02, (below) => randomBytes(below, below(300))],
  [0x03, (below) => randomBytes(below, below(300))],
  [0x04, (below) => randomBytes(below, below(300))],
  [0x05, modexp],
  [0x06, (below) => concatBytes(bnG1(below), bnG1(below))],
  [0x07, (below) => concatBytes(bnG1(below), word(scalar(below, bn254.fields.Fr.ORDER)))],
  [0x08, (below) => pairing(below, bnG1, bnG2, bn254.fields.Fp.ORDER)],
  [0x09, (below) => concatBytes(bigIntToBytes(BigInt(below(40)), 4), randomBytes(below, 208), Uint8Array.of(below(3)))],
  [0x0b, (below) => concatBytes(blsG1(below), blsG1(below))],
  [0x0c, (below) => many(below, () => concatBytes(blsG1(below), word(scalar(below, bls12_381.fields.Fr.ORDER))))],
  [0x0d, (below) => concatBytes(blsG2(below), blsG2(below))],
  [0x0e, (below) => many(below, () => concatBytes(blsG2(below), word(scalar(below, bls12_381.fields.Fr.ORDER))))],
  [0x0f, (below) => pairing(below, blsG1, blsG2, bls12_381.fields.Fp.ORDER)],
  [0x10, (below) => field(pick(below, [0n, fp2(below).c0, bls12_381.fields.Fp.ORDER - 1n, bls12_381.fields.Fp.ORDER]))],
  [0x11, (below) => concatBytes(field(pick(below, [0n, fp2(below).c0])), field(fp2(below).c1))],
  [
    0x100,
    (below) => {
      const hash = randomBytes(below, 32);
      const secret = word(times(below));
      const signature = p256.sign(hash, secret, { prehash: false, lowS: pick(below, [true, false]) });
      const [r, s] = [signature.subarray(0, 32), signature.subarray(32)];
      const any = word(scalar(below, p256.Point.Fn.ORDER));
      const key = p256.Point.fromBytes(p256.getPublicKey(secret)).toBytes(false).subarray(1);
      return concatBytes(hash, pick(below, [r, r, r, any]), pick(below, [s, s, s, any]), key);
    },
  ],
]);

/** The precompiles that `randomPrecompileInput` knows: all but point evaluation. */
export const RANDOM_PRECOMPILES: readonly number[] = [...GENERATORS.keys()];

/** Input of a precompile: well formed more often than not, else changed in a byte, cut, extended, or any bytes. */
export function randomPrecompileInput(id: number, below: Below): Uint8Array {
  const input = GENERATORS.get(id)!(below);
  switch (below(12)) {
    case 0: {
      if (input.length > 0) input[below(input.length)]! ^= 1 << below(8);
      return input;
    }
    case 1:
      return input.subarray(0, below(input.length + 1));
    case 2:
      return concatBytes(input, randomBytes(below, 1 + below(40)));
    case 3:
      return randomBytes(below, input.length);
    default:
      return input;
  }
}
