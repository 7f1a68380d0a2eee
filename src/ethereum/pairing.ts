import type { BlsCurvePair } from '@noble/curves/abstract/bls.js';
import type { Pieces } from '../scheduling/pieces.js';

/** A point of each group; neither is the point at infinity. */
export interface Pair {
  readonly g1: InstanceType<BlsCurvePair['G1']['Point']>;
  readonly g2: InstanceType<BlsCurvePair['G2']['Point']>;
}

type Lines = ReturnType<BlsCurvePair['utils']['calcPairingPrecomputes']>;
type Prepared = Parameters<BlsCurvePair['millerLoopBatch']>[0][number];

/** Pairs whose loops run side by side. They share the squarings; the lines of each take 40 KB. */
const GROUP = 16;

/**
 * Whether the product of the pairings is one: the loop of Miller in groups, one final exponentiation.
 *
 * @param pairs - read one after another, with a pause after each; undefined stands for an invalid pair
 * @returns undefined if a pair is invalid
 */
export function* pairingsGiveOne(
  curve: BlsCurvePair,
  pairs: Iterable<Pair | 'neutral' | undefined>,
): Pieces<boolean | undefined> {
  const { Fp12 } = curve.fields;
  let product = Fp12.ONE;
  let group: Prepared[] = [];
  for (const pair of pairs) {
    if (pair === undefined) return undefined;
    yield;
    if (pair === 'neutral') continue;
    const { x, y } = pair.g1.toAffine();
    group.push([curve.utils.calcPairingPrecomputes(pair.g2), x, y]);
    yield;
    if (group.length < GROUP) continue;
    product = Fp12.mul(product, yield* millerLoop(curve, group));
    group = [];
  }
  if (group.length > 0) product = Fp12.mul(product, yield* millerLoop(curve, group));
  if (Fp12.eql(product, Fp12.ONE)) return true;
  return Fp12.eql(Fp12.finalExponentiate(product), Fp12.ONE);
}

/**
 * The library's loop, step by step. It conjugates the result on curves with a negative parameter; as conjugation keeps
 * products, that may as well be done to the factor of each step.
 */
function* millerLoop(curve: BlsCurvePair, group: readonly Prepared[]) {
  const { Fp12 } = curve.fields;
  let product = Fp12.ONE;
  const steps = group[0]![0].length;
  for (let step = 0; step < steps; step++) {
    const factor = curve.millerLoopBatch(group.map(([lines, x, y]) => [[lines[step]!] as Lines, x, y]));
    product = Fp12.mul(Fp12.sqr(product), factor);
    yield;
  }
  return product;
}
