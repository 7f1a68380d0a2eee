import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { type Pair, pairingsGiveOne } from '../ethereum/pairing.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, isZeroBytes } from '../primitives/bytes.js';
import type { Pieces } from '../scheduling/pieces.js';
import { affinePoint, type Output, type Run, weightedSum } from './curve-points.js';

const { fields } = bls12_381;

type Fp2 = typeof fields.Fp2.ONE;

/** An element of the base field: 16 zero bytes and 48 bytes. */
const FIELD_BYTES = 64;
const FIELD_PADDING = 16;
const SCALAR_BYTES = 32;

/** One of the two groups, and how its points are written. */
interface Group<F> {
  readonly Point: WeierstrassPointCons<F>;
  /** Length of a coordinate. */
  readonly bytes: number;
  /** Undefined if it is not an element of the field. */
  read(input: Uint8Array, at: number): F | undefined;
  write(coordinate: F): Uint8Array;
}

function numberAt(input: Uint8Array, at: number): bigint | undefined {
  const value = bytesToBigInt(input.subarray(at + FIELD_PADDING, at + FIELD_BYTES));
  const isPadded = isZeroBytes(input.subarray(at, at + FIELD_PADDING));
  return isPadded && fields.Fp.isValid(value) ? value : undefined;
}

function pairAt(input: Uint8Array, at: number): Fp2 | undefined {
  const [c0, c1] = [numberAt(input, at), numberAt(input, at + FIELD_BYTES)];
  return c0 === undefined || c1 === undefined ? undefined : { c0, c1 };
}

const FIRST: Group<bigint> = {
  Point: bls12_381.G1.Point,
  bytes: FIELD_BYTES,
  read: numberAt,
  write: (value) => bigIntToBytes(value, FIELD_BYTES),
};

const SECOND: Group<Fp2> = {
  Point: bls12_381.G2.Point,
  bytes: 2 * FIELD_BYTES,
  read: pairAt,
  write: ({ c0, c1 }) => concatBytes(bigIntToBytes(c0, FIELD_BYTES), bigIntToBytes(c1, FIELD_BYTES)),
};

/** A point of the curve, perhaps outside of the group. */
function pointAt<F>({ Point, bytes, read }: Group<F>, input: Uint8Array, at: number): WeierstrassPoint<F> | undefined {
  const [x, y] = [read(input, at), read(input, at + bytes)];
  return x === undefined || y === undefined ? undefined : affinePoint(Point, x, y);
}

function memberAt<F>(group: Group<F>, input: Uint8Array, at: number): WeierstrassPoint<F> | undefined {
  const point = pointAt(group, input, at);
  return point === undefined || point.is0() || point.isTorsionFree() ? point : undefined;
}

function encode<F>({ write }: Group<F>, point: WeierstrassPoint<F>): Uint8Array {
  const { x, y } = point.toAffine();
  return concatBytes(write(x), write(y));
}

function addition<F>(group: Group<F>): Run {
  return (input) => {
    const [a, b] = [pointAt(group, input, 0), pointAt(group, input, 2 * group.bytes)];
    return a === undefined || b === undefined ? undefined : encode(group, a.add(b));
  };
}

function multiplication<F>(group: Group<F>): Run {
  return function* (input): Pieces<Output> {
    const points: WeierstrassPoint<F>[] = [];
    const scalars: bigint[] = [];
    const pointBytes = 2 * group.bytes;
    for (let at = 0; at < input.length; at += pointBytes + SCALAR_BYTES) {
      const point = memberAt(group, input, at);
      if (point === undefined) return undefined;
      const scalarAt = at + pointBytes;
      const scalar = fields.Fr.create(bytesToBigInt(input.subarray(scalarAt, scalarAt + SCALAR_BYTES)));
      yield;
      if (point.is0() || scalar === 0n) continue;
      points.push(point);
      scalars.push(scalar);
    }
    return encode(group, yield* weightedSum(group.Point, points, scalars));
  };
}

const G1_BYTES = 2 * FIRST.bytes;
const PAIR_BYTES = G1_BYTES + 2 * SECOND.bytes;

function* pairsOf(input: Uint8Array): Iterable<Pair | 'neutral' | undefined> {
  for (let at = 0; at < input.length; at += PAIR_BYTES) {
    const [g1, g2] = [memberAt(FIRST, input, at), memberAt(SECOND, input, at + G1_BYTES)];
    if (g1 === undefined || g2 === undefined) yield undefined;
    else yield g1.is0() || g2.is0() ? 'neutral' : { g1, g2 };
  }
}

/** Sum of two points. @source EIP-2537 */
export const runG1Addition: Run = addition(FIRST);
export const runG2Addition: Run = addition(SECOND);

/** Sum of points, each times a number of 32 bytes. The points must be in the group. @source EIP-2537 */
export const runG1Multiplication: Run = multiplication(FIRST);
export const runG2Multiplication: Run = multiplication(SECOND);

/** 32 bytes with the number 1 if the product of the pairings is one, else with 0. @source EIP-2537 */
export function* runBlsPairing(input: Uint8Array): Pieces<Output> {
  const isOne = yield* pairingsGiveOne(bls12_381, pairsOf(input));
  return isOne === undefined ? undefined : bigIntToBytes(isOne ? 1n : 0n, 32);
}

// The library's types leave out that these give points, and that the first takes one element, not a list of one.
const mapToG1 = bls12_381.G1.mapToCurve as unknown as (element: bigint) => WeierstrassPoint<bigint>;
const mapToG2 = bls12_381.G2.mapToCurve as unknown as (element: [bigint, bigint]) => WeierstrassPoint<Fp2>;

/** A point of the first group for an element of the base field. @source EIP-2537 */
export const runG1Map: Run = (input) => {
  const element = FIRST.read(input, 0);
  return element === undefined ? undefined : encode(FIRST, mapToG1(element));
};

/** A point of the second group for an element of the quadratic extension. @source EIP-2537 */
export const runG2Map: Run = (input) => {
  const element = SECOND.read(input, 0);
  return element === undefined ? undefined : encode(SECOND, mapToG2([element.c0, element.c1]));
};
