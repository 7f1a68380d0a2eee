import { describe, expect, it } from 'vitest';
import { variableCostPriorityFee, verificationCostPriorityFee } from '../../src/fees/pricing.js';
import { DEVNET_VERIFICATION_COST_PRICING } from '../../src/networks/devnet.js';
import type { VerificationCostPricing } from '../../src/networks/network.js';

describe('verification cost', () => {
  const use = { gas: 53_000n, compressedTxSize: 188, baseFee: 7n };
  const variantA: VerificationCostPricing = { ...DEVNET_VERIFICATION_COST_PRICING, variant: 'A', floor: false };

  it('gives the published sample answer', () => {
    // Linea documentation, linea_estimateGas: gasLimit 0xcf08, baseFeePerGas 0x7, priorityFeePerGas 0x43a82a4.
    expect(BigInt(0xcf08)).toBe(use.gas);
    expect(verificationCostPriorityFee(variantA, use)).toBe(0x43a82a4n);
  });

  it('raises the fee to the floor only if the profile has one', () => {
    expect(verificationCostPriorityFee({ ...variantA, floor: true }, use)).toBe(100_000_000n - 7n);
    const large = { ...use, compressedTxSize: 18_800 };
    expect(verificationCostPriorityFee({ ...variantA, floor: true }, large)).toBe(
      verificationCostPriorityFee(variantA, large),
    );
  });

  it('adds the adjustment outside the margin in B and inside in C', () => {
    const adjusted = { ...variantA, gasPriceAdjustmentWei: 1_000_000n };
    const at = (variant: 'B' | 'C', pricing: VerificationCostPricing) =>
      verificationCostPriorityFee({ ...pricing, variant }, use, 1.5);
    expect(at('B', adjusted) - at('B', variantA)).toBe(1_000_000n);
    expect(at('C', adjusted) - at('C', variantA)).toBe(1_500_000n);
  });

  it('equals the other model with V = R*C*P/K, except for the position of one division', () => {
    // docs/spec/fees.md 8.3: 15 * 1200000 * 100000000 / 90000 wei a byte. 100 gas to a byte leaves no fraction to drop.
    const prices = { fixedCostWei: 0n, variableCostWei: 20_000_000_000n };
    const even = { ...use, gas: 100n, compressedTxSize: 64 };
    expect(verificationCostPriorityFee({ ...variantA, variant: 'C' }, even, 1.25)).toBe(
      variableCostPriorityFee(prices, even, 1.25),
    );
  });

  it.each([['gas of zero', () => verificationCostPriorityFee(variantA, { ...use, gas: 0n }), 'GAS_IS_ZERO']])(
    'refuses %s',
    (_, call, code) => {
      expect(call).toThrow(expect.objectContaining({ code }));
    },
  );

  it.each(['gasPriceRatio', 'verificationGasCost', 'verificationCapacity'] as const)(
    'refuses %s of 0, -1 or 1.5',
    (parameter) => {
      for (const value of [0, -1, 1.5]) {
        expect(() => verificationCostPriorityFee({ ...variantA, [parameter]: value }, use)).toThrow(
          expect.objectContaining({
            code: 'INVALID_PARAMETER',
            details: { parameter, reason: 'must be a whole number above zero' },
          }),
        );
      }
    },
  );

  it('takes any size from zero on, also with a fraction', () => {
    expect(verificationCostPriorityFee(variantA, { ...use, compressedTxSize: 0 })).toBe(0n);
    // Half of the size that the sample answer is for, 94, in a fee half as high: 0x43a82a4 / 2.
    const half = (size: number) => verificationCostPriorityFee(variantA, { ...use, compressedTxSize: size });
    expect(half(94)).toBe(0x43a82a4n / 2n);
    expect(half(93.5)).toBeLessThan(half(94));
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => half(value)).toThrow(
        expect.objectContaining({
          code: 'OUT_OF_RANGE',
          message: 'compressedTxSize is out of range',
          details: { what: 'compressedTxSize', value: String(value), limit: 'zero or above, finite' },
        }),
      );
    }
  });
});
