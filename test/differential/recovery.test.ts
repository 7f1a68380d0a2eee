import { secp256k1 } from '@noble/curves/secp256k1.js';
import { describe, expect, test } from 'vitest';
import { loadRecovery } from '../../src/kernel/recovery.js';
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

const { Point } = secp256k1;
const ORDER = Point.Fn.ORDER;
const PRIME = Point.Fp.ORDER;
/** A number whose products with points are cheap (assembly/secp256k1/scalar.ts divides scalars by it). */
const LAMBDA = 0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72n;
const SEED = 0x5ec9;

const kernel = await loadRecovery();
const below = seededRandom(SEED);
const randomWord = () => bytesToBigInt(Uint8Array.from({ length: 32 }, () => below(256)));
const modOrder = (value: bigint) => ((value % ORDER) + ORDER) % ORDER;

/** Numbers of 256 bits at the edges: runs of zero and of one bits, and what lies beside the moduli and lambda. */
const EDGES: readonly bigint[] = [
  ...Array.from({ length: 256 }, (_, i) => [2n ** BigInt(i), 2n ** BigInt(i) - 1n, ORDER - 2n ** BigInt(i)]).flat(),
  ...[ORDER, PRIME, ORDER / 2n, LAMBDA, ORDER - LAMBDA, LAMBDA * LAMBDA].flatMap((value) => [
    value - 1n,
    value,
    value + 1n,
  ]),
].filter((value) => value >= 0n && value < 2n ** 256n);
const edge = () => EDGES[below(EDGES.length)]!;
const edgeOrRandom = () => (below(2) === 0 ? edge() : randomWord());

function expected(hash: Uint8Array, r: Uint8Array, s: Uint8Array, yParity: 0 | 1): string | undefined {
  try {
    const signature = secp256k1.Signature.fromBytes(concatBytes(r, s)).addRecoveryBit(yParity);
    return bytesToHex(signature.recoverPublicKey(hash).toBytes(false).subarray(1));
  } catch {
    return undefined;
  }
}

/** Compares both. @returns whether there is a key */
function compare(hash: bigint, r: bigint, s: bigint, yParity: 0 | 1): boolean {
  const [hashBytes, rBytes, sBytes] = [bigIntToBytes(hash, 32), bigIntToBytes(r, 32), bigIntToBytes(s, 32)];
  const key = kernel(hashBytes, rBytes, sBytes, yParity);
  const text = `seed ${SEED}: hash ${hash}, r ${r}, s ${s}, parity ${yParity}`;
  expect(key && bytesToHex(key), text).toBe(expected(hashBytes, rBytes, sBytes, yParity));
  return key !== undefined;
}

const parity = () => below(2) as 0 | 1;

describe('the kernel beside @noble/curves', () => {
  test('signatures of random keys', () => {
    for (let i = 0; i < 700; i++) {
      const [secret, hash] = [bigIntToBytes(modOrder(randomWord()), 32), bigIntToBytes(randomWord(), 32)];
      const signed = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered', lowS: below(2) === 0 });
      // A recovery id of 2 or 3 means an r above the order: one in 2^128.
      const key = kernel(hash, signed.subarray(1, 33), signed.subarray(33), signed[0] as 0 | 1);
      expect(key && bytesToHex(key)).toBe(bytesToHex(secp256k1.getPublicKey(secret, false).subarray(1)));
    }
  });

  test('any numbers for hash, r and s, with edges', () => {
    let keys = 0;
    for (let i = 0; i < 1_500; i++) if (compare(edgeOrRandom(), edgeOrRandom(), edgeOrRandom(), parity())) keys++;
    // About half of all r are the x of a point.
    expect(keys).toBeGreaterThan(500);
    expect(keys).toBeLessThan(1_000);
  });

  test('any factors of both points, with edges, of small multiples of the base point', () => {
    for (let i = 0; i < 800; i++) {
      const nonce = [BigInt(1 + below(300)), LAMBDA, edgeOrRandom()][below(3)]!;
      const point = Point.BASE.multiply(modOrder(nonce) || 1n).toAffine();
      const [ofBase, ofPoint] = [edgeOrRandom(), edgeOrRandom()];
      // The key is ofPoint R + ofBase G, with s = ofPoint r and hash = -ofBase r.
      const isPoint = below(4) > 0;
      const yParity = isPoint ? (Number(point.y & 1n) as 0 | 1) : parity();
      compare(modOrder(-ofBase * point.x), modOrder(point.x), modOrder(ofPoint * point.x), yParity);
    }
  });
});
