import { describe, expect, it } from 'vitest';
import { parseDecimal, parseMargin, truncateToInteger, variableCostPriorityFee } from '../../src/fees/pricing.js';
import { PRICES } from '../support/fee-prices.js';
import { seededRandom } from '../support/random.js';

describe('variable cost', () => {
  const use = { gas: 21_000n, compressedTxSize: 96 };
  const fee = (margin: number | string, gas = 21_000n) => variableCostPriorityFee(PRICES, { ...use, gas }, margin);

  it('drops the fraction of a wei before the margin multiplies it', () => {
    const oneWeiPerByte = { fixedCostWei: 0n, variableCostWei: 1n };
    // 41999 / 21000 is 1.99995: one wei, then 2.75 of it. Multiplying first would give 5.
    expect(variableCostPriorityFee(oneWeiPerByte, { gas: 21_000n, compressedTxSize: 41_999 }, 2.75)).toBe(2n);
    expect(variableCostPriorityFee(oneWeiPerByte, { gas: 21_000n, compressedTxSize: 42_000 }, 2.75)).toBe(5n);
  });

  it('rises with margin and size, and falls with gas', () => {
    const random = seededRandom(7);
    for (let round = 0; round < 2_000; round++) {
      const prices = {
        fixedCostWei: BigInt(random(2 ** 32)) * 1000n,
        variableCostWei: BigInt(random(2 ** 32)) * 1000n,
      };
      const some = { gas: BigInt(21_000 + random(16_000_000)), compressedTxSize: 32 * (1 + random(4_000)) };
      const margin = random(3_000) / 1000;
      const base = variableCostPriorityFee(prices, some, margin);
      expect(variableCostPriorityFee(prices, some, margin + 0.001)).toBeGreaterThanOrEqual(base);
      const larger = { ...some, compressedTxSize: some.compressedTxSize + 32 };
      expect(variableCostPriorityFee(prices, larger, margin)).toBeGreaterThanOrEqual(base);
      const moreGas = { ...some, gas: some.gas + 1n };
      expect(variableCostPriorityFee(prices, moreGas, margin)).toBeLessThanOrEqual(base);
      // With margin 1 it is integer arithmetic alone, while that fits a double.
      const exact = (prices.variableCostWei * BigInt(some.compressedTxSize)) / some.gas + prices.fixedCostWei;
      expect(variableCostPriorityFee(prices, some, 1)).toBe(exact);
    }
  });

  it('accepts a margin as text or as a number', () => {
    expect(fee('1.2')).toBe(fee(1.2));
    expect(fee('0.8')).toBeLessThan(fee('1.0'));
  });

  it('wraps its product in 64 bits, as the node does', () => {
    const prices = { fixedCostWei: 0n, variableCostWei: 1n << 62n };
    expect(variableCostPriorityFee(prices, { gas: 4n, compressedTxSize: 4 }, 1)).toBe(0n);
    expect(variableCostPriorityFee(prices, { gas: 2n ** 20n, compressedTxSize: 5 }, 1)).toBe(2n ** 42n);
    // 3 * 2^62 is negative as a signed integer, and no fee.
    expect(() => variableCostPriorityFee(prices, { gas: 1n, compressedTxSize: 3 }, 1)).toThrow(
      expect.objectContaining({ code: 'OUT_OF_RANGE' }),
    );
  });

  it.each([
    ['gas of zero', () => fee('1.2', 0n), 'GAS_IS_ZERO'],
    ['negative gas', () => fee('1.2', -1n), 'OUT_OF_RANGE'],
    ['gas beyond 64 bits', () => fee('1.2', 1n << 63n), 'OUT_OF_RANGE'],
    ['a margin that is no number', () => fee('1,2'), 'MARGIN_INVALID'],
    ['an empty margin', () => fee(''), 'MARGIN_INVALID'],
    ['a negative margin', () => fee(-1), 'MARGIN_INVALID'],
    ['a margin of NaN', () => fee(Number.NaN), 'MARGIN_INVALID'],
    ['an infinite margin', () => fee('1e999'), 'MARGIN_INVALID'],
  ])('refuses %s, and says why', (_, call, code) => {
    expect(call).toThrow(expect.objectContaining({ code, message: expect.stringMatching(/gas|margin|fee/) }));
  });

  // docs/spec/fees.md 2: V, F and g are signed 64-bit numbers, s a signed 32-bit one.
  it.each([
    ['variableCostWei', -1n, '0 to 2^63 - 1'],
    ['variableCostWei', 1n << 63n, '0 to 2^63 - 1'],
    ['fixedCostWei', -1n, '0 to 2^63 - 1'],
    ['gas', -1n, '0 to 2^63 - 1'],
    ['compressedTxSize', 0.5, 'an integer from 0 to 2^31 - 1'],
    ['compressedTxSize', -1, 'an integer from 0 to 2^31 - 1'],
    ['compressedTxSize', 2 ** 31, 'an integer from 0 to 2^31 - 1'],
  ])('refuses %s of %s, and says which values it may have', (what, value, limit) => {
    const given = { ...PRICES, ...use, [what]: value };
    expect(() => variableCostPriorityFee(given, given, 1)).toThrow(
      expect.objectContaining({
        code: 'OUT_OF_RANGE',
        message: `${what} must be ${limit}, got ${value}`,
        details: { what, value: String(value), limit },
      }),
    );
  });

  it('takes the largest values', () => {
    const free = { fixedCostWei: 2n ** 63n - 1n, variableCostWei: 0n };
    expect(variableCostPriorityFee(free, { gas: 2n ** 63n - 1n, compressedTxSize: 2 ** 31 - 1 }, 0)).toBe(0n);
    const dear = { fixedCostWei: 0n, variableCostWei: 2n ** 32n };
    expect(variableCostPriorityFee(dear, { gas: 2n ** 32n, compressedTxSize: 2 ** 31 - 1 }, 1)).toBe(2n ** 31n - 1n);
    expect(variableCostPriorityFee(dear, { gas: 1n, compressedTxSize: 0 }, 1)).toBe(0n);
  });
});

describe('decimals', () => {
  it('truncates the shortest digits of a double, not its exact value', () => {
    // The double nearest to 1e23 is 99999999999999991611392; the shortest digits that read back are 1e+23.
    expect(truncateToInteger(1e23)).toBe(10n ** 23n);
    expect(BigInt(1e23)).toBe(99999999999999991611392n);
    expect(truncateToInteger(2 ** 53)).toBe(9007199254740992n);
    expect(truncateToInteger(0.9999999999999999)).toBe(0n);
    expect(truncateToInteger(-0)).toBe(0n);
  });

  it.each([Number.POSITIVE_INFINITY, -1, Number.NaN])('has no integer part of %s', (value) => {
    const details = { what: 'fee', value: String(value), limit: 'zero or above, finite' };
    expect(() => truncateToInteger(value)).toThrow(
      expect.objectContaining({
        code: 'OUT_OF_RANGE',
        message: 'the fee must be a finite number of at least zero',
        details,
      }),
    );
  });

  it.each([
    ['1,2', '1,2'],
    [-1, '-1'],
    ['1e999', '1e999'],
    ['x'.repeat(200), 'x'.repeat(80)],
  ])('refuses %s as a margin, and repeats at most 80 characters of it', (margin, shown) => {
    expect(() => parseMargin(margin)).toThrow(
      expect.objectContaining({
        code: 'MARGIN_INVALID',
        message: `the margin must be a number of at least zero, such as 1.2, got ${shown}`,
        details: { value: shown },
      }),
    );
  });

  it('keeps a decimal text exact', () => {
    expect(parseDecimal('1.20')).toEqual({ digits: 120n, exponent: -2 });
    expect(parseDecimal('5e-1')).toEqual({ digits: 5n, exponent: -1 });
    expect(parseDecimal(1e21)).toEqual({ digits: 1n, exponent: 21 });
    expect(parseMargin('1.2')).toBe(1.2);
  });
});
