/** What the precompiles of curves share: points from coordinates, sums of multiples, and the form of a calculation. */

import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import type { Pieces } from '../scheduling/pieces.js';

/** The point with these coordinates; both zero give the point at infinity. Undefined if they are not on the curve. */
export function affinePoint<F>(Point: WeierstrassPointCons<F>, x: F, y: F): WeierstrassPoint<F> | undefined {
  const { Fp } = Point;
  if (!Fp.isValid(x) || !Fp.isValid(y)) return undefined;
  if (Fp.is0(x) && Fp.is0(y)) return Point.ZERO;
  const { a, b } = Point.CURVE();
  const right = Fp.add(Fp.mul(Fp.add(Fp.sqr(x), a), x), b);
  return Fp.eql(Fp.sqr(y), right) ? Point.fromAffine({ x, y }) : undefined;
}

/** Additions that take a few milliseconds on the slowest curve. */
const PIECE_ADDITIONS = 64;
/** Up to this number of points, each is multiplied on its own. */
const FEW_POINTS = 3;

/**
 * The sum of the points, each multiplied by its scalar, by the bucket method of Pippenger.
 *
 * @param scalars - one for each point, below the order of the group
 */
export function* weightedSum<F>(
  Point: WeierstrassPointCons<F>,
  points: readonly WeierstrassPoint<F>[],
  scalars: readonly bigint[],
): Pieces<WeierstrassPoint<F>> {
  let sum = Point.ZERO;
  if (points.length <= FEW_POINTS) {
    for (const [i, point] of points.entries()) {
      sum = sum.add(point.multiplyUnsafe(scalars[i]!));
      yield;
    }
    return sum;
  }
  const width = Math.max(2, Math.floor(Math.log2(points.length)) - 2);
  const mask = (1n << BigInt(width)) - 1n;
  for (let window = Math.ceil(Point.Fn.BITS / width) - 1; window >= 0; window--) {
    for (let i = 0; i < width; i++) sum = sum.double();
    /** Sum of the points by their digit in this window. */
    const buckets: (WeierstrassPoint<F> | undefined)[] = new Array(1 << width).fill(undefined);
    const shift = BigInt(window * width);
    for (const [i, point] of points.entries()) {
      const digit = Number((scalars[i]! >> shift) & mask);
      if (digit !== 0) buckets[digit] = buckets[digit]?.add(point) ?? point;
      if (i % PIECE_ADDITIONS === PIECE_ADDITIONS - 1) yield;
    }
    /** Sum of the buckets from `digit` on; added once for each digit, a bucket counts as often as its digit says. */
    let running = Point.ZERO;
    for (let digit = buckets.length - 1; digit > 0; digit--) {
      const bucket = buckets[digit];
      if (bucket !== undefined) running = running.add(bucket);
      if (!running.is0()) sum = sum.add(running);
      if (digit % PIECE_ADDITIONS === 0) yield;
    }
    yield;
  }
  return sum;
}

/** Output of a precompile; undefined when the call fails. */
export type Output = Uint8Array | undefined;

/** Calculates the output from input whose length was checked and whose gas is paid. */
export type Run = (input: Uint8Array) => Output | Pieces<Output>;
