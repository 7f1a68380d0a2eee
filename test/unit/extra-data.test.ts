import { describe, expect, it } from 'vitest';
import { encodeExtraData, parseExtraData } from '../../src/fees/prices.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { fixtureJson, listFixtures } from '../support/fixtures.js';

/** Mainnet block 28279180: a header without a seal. */
const REAL = '0x0100007530000f42400000a3b000000000000000000000000000000000000000';
const REAL_PRICES = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000_000n, minGasPriceWei: 41_904_000n };

describe('extra data', () => {
  it('decodes and encodes the prices of a real header', () => {
    expect(parseExtraData(hexToBytes(REAL))).toEqual({ status: 'prices', prices: REAL_PRICES });
    expect(bytesToHex(encodeExtraData(REAL_PRICES))).toBe(REAL);
  });

  it('decodes 13 bytes or more, and ignores the rest', () => {
    const prices = hexToBytes(REAL).subarray(0, 13);
    const sealed = new Uint8Array(97).fill(0xab);
    sealed.set(prices);
    expect(parseExtraData(prices)).toEqual({ status: 'prices', prices: REAL_PRICES });
    expect(parseExtraData(sealed)).toEqual({ status: 'prices', prices: REAL_PRICES });
  });

  it('distinguishes an empty field from an unknown version', () => {
    expect(parseExtraData(new Uint8Array(0))).toEqual({ status: 'ignored' });
    for (let length = 1; length < 13; length++) {
      const short = new Uint8Array(length);
      short[0] = 1;
      const reason = `${length} bytes are too few for version 1`;
      expect(parseExtraData(short)).toEqual({ status: 'rejected', reason });
    }
    for (const version of [0, 2, 0xd8, 0xd9, 0xff]) {
      const other = new Uint8Array(32);
      other[0] = version;
      expect(parseExtraData(other)).toEqual({ status: 'rejected', reason: `version ${version} is not supported` });
    }
  });

  it('drops fractions of 1000 wei, and refuses prices that are too large', () => {
    const odd = { fixedCostWei: 999n, variableCostWei: 1_999n, minGasPriceWei: 4_294_967_295_999n };
    expect(parseExtraData(encodeExtraData(odd))).toEqual({
      status: 'prices',
      prices: { fixedCostWei: 0n, variableCostWei: 1_000n, minGasPriceWei: 4_294_967_295_000n },
    });
    const limit = '0 to 4294967295999 wei';
    for (const value of [-1n, 4_294_967_296_000n, 2n ** 64n]) {
      for (const what of ['fixedCostWei', 'variableCostWei', 'minGasPriceWei']) {
        expect(() => encodeExtraData({ ...REAL_PRICES, [what]: value })).toThrow(
          expect.objectContaining({
            code: 'OUT_OF_RANGE',
            message: `${what} must be ${limit} to fit into a header, got ${value}`,
            details: { what, value: String(value), limit },
          }),
        );
      }
    }
  });

  it('writes every extra data of today back byte for byte', () => {
    const files = listFixtures('fees', /^extra-data/).map((path) =>
      fixtureJson<{ valid: { extraData: string }[] }>(path),
    );
    const valid = files.flatMap((file) => file.valid);
    const unsealed = valid.filter(({ extraData }) => extraData.length === 66);
    expect(unsealed.length).toBeGreaterThan(4);
    for (const { extraData } of unsealed) {
      const reading = parseExtraData(hexToBytes(extraData));
      expect(reading.status === 'prices' && bytesToHex(encodeExtraData(reading.prices))).toBe(extraData);
    }
  });
});
