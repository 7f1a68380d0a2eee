import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { type Pair, pairingsGiveOne } from '../ethereum/pairing.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, equalBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import type { Pieces } from '../scheduling/pieces.js';
import type { Output } from './curve-points.js';

const { Fr } = bls12_381.fields;
const { Point: G1 } = bls12_381.G1;
const { Point: G2 } = bls12_381.G2;

/** First byte of a versioned hash, in place of the digest's own. */
const KZG_VERSION = 1;

/**
 * The secret of the trusted setup, times the generator of the second group, compressed.
 *
 * @source ethereum/c-kzg-4844@81a8949f29 src/trusted_setup.txt line 4100: `g2_monomial[1]` of the KZG ceremony of 2023
 */
const SECRET_G2 = hexToBytes(
  '0xb5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72' +
    '185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2',
);

/** What a proof that holds gives: the number of field elements in a blob, and the order of the field. @source EIP-4844 */
const FIELD_ELEMENTS_PER_BLOB = 4_096n;
const SUCCESS = concatBytes(bigIntToBytes(FIELD_ELEMENTS_PER_BLOB, 32), bigIntToBytes(Fr.ORDER, 32));

let secret: Pair['g2'] | undefined;

/**
 * Checks that the polynomial of a commitment has the value y at z.
 *
 * @param input - versioned hash (32 bytes), z (32), y (32), commitment (48), proof (48)
 * @source EIP-4844, `verify_kzg_proof` in ethereum/consensus-specs specs/deneb/polynomial-commitments.md
 */
export function* runPointEvaluation(input: Uint8Array): Pieces<Output> {
  const [z, y] = [bytesToBigInt(input.subarray(32, 64)), bytesToBigInt(input.subarray(64, 96))];
  const commitmentBytes = input.subarray(96, 144);
  const digest = sha256(commitmentBytes);
  digest[0] = KZG_VERSION;
  if (!equalBytes(digest, input.subarray(0, 32)) || !Fr.isValid(z) || !Fr.isValid(y)) return undefined;
  const commitment = decompress(G1, commitmentBytes);
  yield;
  const proof = decompress(G1, input.subarray(144, 192));
  if (commitment === undefined || proof === undefined) return undefined;
  yield;
  secret ??= G2.fromBytes(SECRET_G2);
  // e(commitment − y, 1) = e(proof, secret − z), with all that is known of z on the left: e(…, −1) · e(proof, secret) = 1.
  const left = commitment.subtract(G1.BASE.multiplyUnsafe(y)).add(proof.multiplyUnsafe(z));
  const pairs = [
    { g1: left, g2: G2.BASE.negate() },
    { g1: proof, g2: secret },
  ];
  const isOne = yield* pairingsGiveOne(
    bls12_381,
    pairs.filter(({ g1 }) => !g1.is0()),
  );
  return isOne === true ? SUCCESS.slice() : undefined;
}

/** A point in its compressed form, checked to be in the group. The library throws for bytes that are none. */
function decompress<F>(Point: WeierstrassPointCons<F>, bytes: Uint8Array): WeierstrassPoint<F> | undefined {
  try {
    return Point.fromBytes(bytes);
  } catch {
    return undefined;
  }
}
