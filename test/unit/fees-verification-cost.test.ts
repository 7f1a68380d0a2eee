import { describe, expect, it } from 'vitest';
import { variableCostPriorityFee } from '../../src/fees/variable-cost.js';
import { verificationCostPriorityFee } from '../../src/fees/verification-cost.js';
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

  it.each([
    ['gas of zero', () => verificationCostPriorityFee(variantA, { ...use, gas: 0n }), 'GAS_IS_ZERO'],
    [
      'a capacity of zero',
      () => verificationCostPriorityFee({ ...variantA, verificationCapacity: 0 }, use),
      'INVALID_PARAMETER',
    ],
    [
      'a ratio with a fraction',
      () => verificationCostPriorityFee({ ...variantA, gasPriceRatio: 1.5 }, use),
      'INVALID_PARAMETER',
    ],
    [
      'a size of NaN',
      () => verificationCostPriorityFee(variantA, { ...use, compressedTxSize: Number.NaN }),
      'OUT_OF_RANGE',
    ],
  ])('refuses %s', (_, call, code) => {
    expect(call).toThrow(expect.objectContaining({ code }));
  });
});
