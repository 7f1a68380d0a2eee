/**
 * BLS signatures of sync committees: 512 keys, of which those that took part are added up, and one signature for all of them. Several
 * claims are verified together, with random factors, which costs little more than one.
 */

import { bls12_381 } from '@noble/curves/bls12-381.js';
import { pairingsGiveOne } from '../ethereum/pairing.js';
import { copyBytes } from '../primitives/bytes.js';
import type { Pieces } from '../scheduling/pieces.js';
import { isPresent, type SyncCommittee } from './containers.js';

/** What a sync committee is said to have signed. */
export interface SignatureClaim {
  readonly committee: SyncCommittee;
  /** A bit for each member; at least one is set. */
  readonly bits: Uint8Array;
  /** 96 bytes. */
  readonly signature: Uint8Array;
  /** The signing root, 32 bytes. */
  readonly message: Uint8Array;
}

/** Why a signature does not hold: a key that is no point, a signature that is no point of the group, or the equation. */
export type SignatureFailure = 'COMMITTEE_KEY' | 'SIGNATURE_POINT' | 'SIGNATURE';

type SignaturePoint = InstanceType<typeof bls12_381.G2.Point>;

/** A claim as points: the equation is e(key, message) = e(generator, signature). */
interface ClaimPoints {
  readonly key: KeyPoint;
  readonly message: SignaturePoint;
  readonly signature: SignaturePoint;
}

/** @source IETF draft-irtf-cfrg-bls-signature-05, section 4.2.3 */
export const DOMAIN_SEPARATION_TAG = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';

const MINUS_GENERATOR = bls12_381.G1.Point.BASE.negate();

/** Points of keys that were decoded, by the bytes that a committee holds: the same members are absent again and again. */
const decoded = new WeakMap<Uint8Array, KeyPoint>();

function keyPoint(key: Uint8Array): KeyPoint | undefined {
  const known = decoded.get(key);
  if (known !== undefined) return known;
  try {
    const point = decodeKey(key);
    decoded.set(key, point);
    return point;
  } catch {
    return undefined;
  }
}

/**
 * Sum of the keys of those present: the sum of all, which the committee was proved with, less the keys of the absent. With
 * two thirds present that is always less work.
 *
 * @source ethereum/consensus-specs@a08d8a6e specs/altair/beacon-chain.md, get_next_sync_committee
 */
function* keyOfPresent({ committee, bits }: SignatureClaim): Pieces<KeyPoint | undefined> {
  let sum = keyPoint(committee.aggregatePubkey);
  for (const [i, key] of committee.pubkeys.entries()) {
    if (isPresent(bits, i)) continue;
    yield;
    const point = keyPoint(key);
    if (point === undefined) return undefined;
    sum = sum?.subtract(point);
  }
  return sum;
}

/** Decodes the signature, checks that it is in the subgroup, and hashes the message to the curve. */
function* pointsOf(claim: SignatureClaim): Pieces<ClaimPoints | SignatureFailure> {
  let signature: SignaturePoint;
  try {
    // Validates: on the curve, and in the subgroup.
    signature = bls12_381.G2.Point.fromBytes(claim.signature);
  } catch {
    return 'SIGNATURE_POINT';
  }
  if (signature.is0()) return 'SIGNATURE_POINT';
  yield;
  const key = yield* keyOfPresent(claim);
  if (key === undefined) return 'COMMITTEE_KEY';
  if (key.is0()) return 'SIGNATURE';
  yield;
  const message = bls12_381.longSignatures.hash(claim.message, DOMAIN_SEPARATION_TAG);
  yield;
  return { key, message, signature };
}

/**
 * Whether all equations hold, as one: each is raised to a random odd power of 64 bits, and the final exponentiation is
 * done once. False equations pass with a chance below 2^-62, as their maker cannot know the powers.
 */
function* holdTogether(claims: readonly ClaimPoints[]): Pieces<boolean> {
  const powers = crypto.getRandomValues(new BigUint64Array(claims.length)).map((power) => power | 1n);
  const pairs = [];
  let sum = bls12_381.G2.Point.ZERO;
  for (const [i, { key, message, signature }] of claims.entries()) {
    const power = claims.length === 1 ? 1n : powers[i]!;
    pairs.push({ g1: key.multiplyUnsafe(power), g2: message });
    sum = sum.add(signature.multiplyUnsafe(power));
    yield;
  }
  // Chance alone can make the sum zero for several claims; they are then verified one by one.
  if (sum.is0()) return false;
  pairs.push({ g1: MINUS_GENERATOR, g2: sum });
  return (yield* pairingsGiveOne(bls12_381, pairs)) === true;
}

/**
 * Verifies signatures together, and one by one if that fails.
 *
 * @returns the first claim that does not hold; undefined if all hold
 * @source ethereum/consensus-specs@a08d8a6e specs/altair/bls.md, FastAggregateVerify of the IETF draft
 */
export function* firstFalseClaim(
  claims: readonly SignatureClaim[],
): Pieces<{ readonly index: number; readonly failure: SignatureFailure } | undefined> {
  const points: ClaimPoints[] = [];
  let unusable: SignatureFailure | undefined;
  for (const claim of claims) {
    const result = yield* pointsOf(claim);
    if (typeof result === 'string') {
      unusable = result;
      break;
    }
    points.push(result);
  }
  if (points.length > 0 && !(yield* holdTogether(points))) {
    for (const [index, one] of points.entries()) {
      if (points.length === 1 || !(yield* holdTogether([one]))) return { index, failure: 'SIGNATURE' };
    }
  }
  return unusable === undefined ? undefined : { index: points.length, failure: unusable };
}

const { Fp } = bls12_381.fields;

type KeyPoint = InstanceType<typeof bls12_381.G1.Point>;

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
