import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bytesToNumberBE, numberToBytesBE } from '@noble/curves/utils.js';
import { describe, expect, it } from 'vitest';
import { countParticipants } from '../../../src/consensus/containers.js';
import { decodeKey, firstFalseClaim, hasKeyEncoding, type SignatureClaim } from '../../../src/consensus/signatures.js';
import { finish } from '../../../src/scheduling/pieces.js';

const { longSignatures } = bls12_381;
const POP = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';
const secrets = Array.from({ length: 16 }, (_, i) => new Uint8Array(32).fill(i + 1));
const points = secrets.map((secret) => longSignatures.getPublicKey(secret));
const committee = {
  pubkeys: points.map((point) => point.toBytes()),
  aggregatePubkey: longSignatures.aggregatePublicKeys(points).toBytes(),
};

/**
 * What the members with a set bit sign, by @noble/curves alone. The sum of their signatures is the signature by the sum of their keys.
 */
function claimOf(bits: number, fill: number): SignatureClaim {
  const message = new Uint8Array(32).fill(fill);
  const { Fr } = bls12_381.fields;
  const signers = secrets.filter((_, i) => ((bits >> i) & 1) === 1).map((secret) => Fr.create(bytesToNumberBE(secret)));
  const sum = numberToBytesBE(
    signers.reduce((all, one) => Fr.add(all, one), 0n),
    32,
  );
  const signature = longSignatures.sign(longSignatures.hash(message, POP), sum);
  return { committee, bits: Uint8Array.of(bits & 255, bits >> 8), signature: signature.toBytes(), message };
}

const verify = (claims: readonly SignatureClaim[]) => finish(firstFalseClaim(claims), () => undefined);

describe('keys', () => {
  it('decode to the points of @noble/curves', () => {
    for (const key of [...committee.pubkeys, committee.aggregatePubkey]) {
      expect(decodeKey(key).equals(bls12_381.G1.Point.fromBytes(key))).toBe(true);
    }
  });

  it('are refused off the curve', () => {
    // 3: 27 + 4 is no square of the field, as @noble/curves says, too.
    const key = new Uint8Array(48);
    const offCurve = [...Array(20).keys()].map((x) => {
      const bytes = key.slice();
      bytes[0] = 0x80;
      bytes[47] = x;
      return bytes;
    });
    const theirs = offCurve.map((bytes) => {
      const y2 = bls12_381.fields.Fp.create(BigInt(bytes[47]!) ** 3n + 4n);
      return bls12_381.fields.Fp.pow(y2, (bls12_381.fields.Fp.ORDER - 1n) / 2n) === 1n;
    });
    const ours = offCurve.map((bytes) => {
      try {
        decodeKey(bytes);
        return true;
      } catch {
        return false;
      }
    });
    expect(ours).toEqual(theirs);
    expect(theirs).toContain(false);
  });

  it('have an encoding: compressed, finite, below the modulus', () => {
    const modulus = Buffer.from(bls12_381.fields.Fp.ORDER.toString(16).padStart(96, '0'), 'hex');
    const flagged = (bytes: Uint8Array, flags: number) =>
      Uint8Array.from(bytes, (byte, i) => (i === 0 ? byte | flags : byte));
    const below = Uint8Array.from(modulus, (byte, i) => (i === 47 ? byte - 1 : byte));
    expect(hasKeyEncoding(flagged(below, 0x80))).toBe(true);
    expect(hasKeyEncoding(flagged(below, 0xa0))).toBe(true);
    expect(hasKeyEncoding(flagged(modulus, 0x80))).toBe(false);
    expect(hasKeyEncoding(below)).toBe(false);
    expect(hasKeyEncoding(flagged(new Uint8Array(48), 0xc0))).toBe(false);
  });
});

describe('signatures', () => {
  it.each([0xffff, 0xfffe, 0x7fff, 0xf0f7])('of the members %o hold', (bits) => {
    const claim = claimOf(bits, 1);
    expect(countParticipants(claim.bits)).toBe(bits.toString(2).replaceAll('0', '').length);
    expect(verify([claim])).toBeUndefined();
  });

  it('do not hold for other members', () => {
    expect(verify([{ ...claimOf(0xfffe, 1), bits: Uint8Array.of(0xff, 0xff) }])).toEqual({
      index: 0,
      failure: 'SIGNATURE',
    });
  });

  it('of one whose sum of keys is infinity are refused', () => {
    const [key] = committee.pubkeys;
    const alone = { pubkeys: [key!, ...committee.pubkeys.slice(1)], aggregatePubkey: key! };
    expect(verify([{ ...claimOf(0xffff, 1), committee: alone, bits: Uint8Array.of(0xfe, 0xff) }])).toEqual({
      index: 0,
      failure: 'SIGNATURE',
    });
  });

  it('hold together, and the first that does not is named', () => {
    const claims = [1, 2, 3, 4].map((fill) => claimOf(0xffff - 2 ** fill, fill));
    expect(verify(claims)).toBeUndefined();
    for (const index of claims.keys()) {
      const altered = claims.map((claim, i) =>
        i >= index ? { ...claim, message: new Uint8Array(32).fill(9) } : claim,
      );
      expect(verify(altered)).toEqual({ index, failure: 'SIGNATURE' });
      const noPoint = claims.map((claim, i) => (i === index ? { ...claim, signature: new Uint8Array(96) } : claim));
      expect(verify(noPoint)).toEqual({ index, failure: 'SIGNATURE_POINT' });
    }
  });

  it('that are false, with errors that cancel out in their sum, do not hold together', () => {
    const [one, two] = [claimOf(0xffff, 1), claimOf(0xffff, 2)];
    const error = longSignatures.hash(new Uint8Array(1));
    const shift = (claim: SignatureClaim, by: typeof error) => ({
      ...claim,
      signature: bls12_381.G2.Point.fromBytes(claim.signature).add(by).toBytes(),
    });
    expect(verify([shift(one, error), shift(two, error.negate())])).toEqual({ index: 0, failure: 'SIGNATURE' });
  });

  it('in another encoding are no points', () => {
    const { ORDER } = bls12_381.fields.Fp;
    const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
    // With x + p in place of x, where that leaves the flags alone.
    let claim: SignatureClaim;
    let fill = 0;
    do claim = claimOf(0xffff, fill++);
    while (((number(claim.signature.subarray(0, 48)) % 2n ** 381n) + ORDER) >> 381n !== 0n);
    const withBytes = (at: number, bytes: Uint8Array) => {
      const signature = claim.signature.slice();
      signature.set(bytes, at);
      return signature;
    };
    const raised = (at: number) => {
      const sum = number(claim.signature.subarray(at, at + 48)) + ORDER;
      return withBytes(at, Buffer.from(sum.toString(16).padStart(96, '0'), 'hex'));
    };
    const [first] = claim.signature;
    const infinity = (flags: number) => Uint8Array.of(flags, ...new Uint8Array(95));
    const others = [raised(0), raised(48), withBytes(0, Uint8Array.of(first! & 0x7f)), infinity(0xc0), infinity(0xe0)];
    expect(verify([claim])).toBeUndefined();
    for (const signature of [...others, withBytes(0, Uint8Array.of(first! | 0x40))]) {
      expect(verify([{ ...claim, signature }])).toEqual({ index: 0, failure: 'SIGNATURE_POINT' });
    }
  });

  it('outside the subgroup are no points', () => {
    // x = 1 + u and so on, until one is on the curve; the cofactor is so large that it is not in the subgroup.
    const { Fp2 } = bls12_381.fields;
    for (let c0 = 1n; ; c0++) {
      const x = { c0, c1: 1n };
      const y2 = Fp2.add(Fp2.mul(Fp2.sqr(x), x), { c0: 4n, c1: 4n });
      let isSquare = true;
      try {
        Fp2.sqrt(y2);
      } catch {
        isSquare = false;
      }
      if (!isSquare) continue;
      const signature = new Uint8Array(96);
      signature[0] = 0x80;
      signature[47] = 1;
      signature[95] = Number(c0);
      expect(verify([{ ...claimOf(0xffff, 1), signature }])).toEqual({ index: 0, failure: 'SIGNATURE_POINT' });
      return;
    }
  });
});
