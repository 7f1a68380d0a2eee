import { describe, expect, it } from 'vitest';
import { nextBaseFee } from '../../src/ethereum/base-fee.js';

describe('next base fee', () => {
  const at = (baseFeePerGas: bigint, gasUsed: bigint, gasLimit = 2_000_000_000n) =>
    nextBaseFee({ baseFeePerGas, gasUsed, gasLimit });

  it('follows the three branches of EIP-1559', () => {
    expect(at(1_000_000_000n, 1_000_000_000n)).toBe(1_000_000_000n);
    expect(at(1_000_000_000n, 2_000_000_000n)).toBe(1_125_000_000n);
    expect(at(1_000_000_000n, 0n)).toBe(875_000_000n);
    // The test of the EIP's reference client (go-ethereum consensus/misc TestCalcBaseFee).
    expect(at(1_000_000_000n, 9_000_000n, 20_000_000n)).toBe(987_500_000n);
    expect(at(1_000_000_000n, 11_000_000n, 20_000_000n)).toBe(1_012_500_000n);
  });

  it('stays at 7 wei below the target, falls from 8, and rises by at least 1 above the target', () => {
    for (const used of [0n, 1n, 999_999_999n]) expect(at(7n, used)).toBe(7n);
    expect(at(8n, 0n)).toBe(7n);
    expect(at(7n, 1_000_000_001n)).toBe(8n);
  });

  it('refuses values that cannot be of a header', () => {
    expect(() => at(7n, 3n, 2n)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
    expect(() => at(7n, 0n, 0n)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
  });
});
