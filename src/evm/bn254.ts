import { bn254 } from '@noble/curves/bn254.js';
import { type Pair, pairingsGiveOne } from '../ethereum/pairing.js';
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../primitives/bytes.js';
import type { Pieces } from '../scheduling/pieces.js';
import { affinePoint, type Output } from './curve-points.js';

const { fields } = bn254;
const { Point: G1 } = bn254.G1;
const { Point: G2 } = bn254.G2;

const FIELD_BYTES = 32;
const G1_BYTES = 64;
const PAIR_BYTES = 192;

/** Missing bytes read as zeros. */
function numberAt(input: Uint8Array, at: number): bigint {
  const bytes = new Uint8Array(FIELD_BYTES);
  bytes.set(input.subarray(at, at + FIELD_BYTES));
  return bytesToBigInt(bytes);
}

const g1At = (input: Uint8Array, at: number) => affinePoint(G1, numberAt(input, at), numberAt(input, at + FIELD_BYTES));

function encode(point: Pair['g1']): Uint8Array {
  const { x, y } = point.toAffine();
  return concatBytes(bigIntToBytes(x, FIELD_BYTES), bigIntToBytes(y, FIELD_BYTES));
}

/** Sum of two points, 64 bytes each. @source EIP-196 */
export function runAddition(input: Uint8Array): Output {
  const [a, b] = [g1At(input, 0), g1At(input, G1_BYTES)];
  return a === undefined || b === undefined ? undefined : encode(a.add(b));
}

/** A point, 64 bytes, times a number of 32 bytes. @source EIP-196 */
export function runMultiplication(input: Uint8Array): Output {
  const point = g1At(input, 0);
  if (point === undefined) return undefined;
  return encode(point.multiplyUnsafe(fields.Fr.create(numberAt(input, G1_BYTES))));
}

/** A point of the second group; the imaginary part of each coordinate comes first. */
function g2At(input: Uint8Array, at: number): Pair['g2'] | undefined {
  const coordinate = (from: number) => ({ c0: numberAt(input, from + FIELD_BYTES), c1: numberAt(input, from) });
  const point = affinePoint(G2, coordinate(at), coordinate(at + 2 * FIELD_BYTES));
  return point === undefined || point.is0() || point.isTorsionFree() ? point : undefined;
}

function* pairsOf(input: Uint8Array): Iterable<Pair | 'neutral' | undefined> {
  for (let at = 0; at < input.length; at += PAIR_BYTES) {
    const [g1, g2] = [g1At(input, at), g2At(input, at + G1_BYTES)];
    if (g1 === undefined || g2 === undefined) yield undefined;
    else yield g1.is0() || g2.is0() ? 'neutral' : { g1, g2 };
  }
}

/** 32 bytes with the number 1 if the product of the pairings is one, else with 0. @source EIP-197 */
export function* runPairing(input: Uint8Array): Pieces<Output> {
  const isOne = yield* pairingsGiveOne(bn254, pairsOf(input));
  return isOne === undefined ? undefined : bigIntToBytes(isOne ? 1n : 0n, 32);
}
