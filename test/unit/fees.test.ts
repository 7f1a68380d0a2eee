import { describe, expect, it } from 'vitest';
import { FEE_AREAS } from '../../conformance/fees.js';
import { type CallJson, readCall } from '../../conformance/fixture-calls.js';
import { nextBaseFee } from '../../src/ethereum/base-fee.js';
import { compatibilityPriorityFee } from '../../src/fees/compatibility-mode.js';
import { parseDecimal, parseMargin, truncateToInteger } from '../../src/fees/decimal.js';
import { baseVariableCost, congestionCalldata, headerPrices } from '../../src/fees/operator-pricing.js';
import { priorityFeePerGas } from '../../src/fees/priority-fee.js';
import { payingGasPrice, profitability } from '../../src/fees/profitability.js';
import { sizingBytes } from '../../src/fees/transaction-bytes.js';
import { variableCostPriorityFee } from '../../src/fees/variable-cost.js';
import { verificationCostPriorityFee } from '../../src/fees/verification-cost.js';
import { loadCalldataSizer } from '../../src/kernel/calldata-sizer.js';
import { DEVNET_VERIFICATION_COST_PRICING, devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import type { VerificationCostPricing } from '../../src/networks/network.js';
import { runArea } from '../support/area-checks.js';
import { fixtureBytes, fixtureJson, fixturesPresent } from '../support/fixtures.js';
import { seededRandom } from '../support/random.js';

const PRICES = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000_000n };

describe.skipIf(!fixturesPresent)('recorded and independently computed fees', () => {
  const least: Record<string, number> = {
    'fees/priority-fee.json': 18,
    'fees/priority-fee-verification-model.json': 33,
    'fees/compatibility-mode.json': 8,
    'fees/profitability.json': 7,
    'fees/extra-data.json': 16,
    'fees/variable-cost.json': 19,
  };

  it.each(FEE_AREAS.map((area) => [area.name, area] as const))('%s', async (name, area) => {
    const { passed, problems } = await runArea(area);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(least[name]!);
  });

  it('size and fee of real transactions follow from call and gas limit, in both forms', async () => {
    interface Figures {
      compressedTxSize: number;
      priorityFeePerGas: string;
    }
    interface Case {
      call: CallJson;
      nonce: string;
      chainId: string;
      pricing: { fixedCostWei: string; variableCostWei: string };
      baseFeePerGas: string;
      results: (Figures & { gasLimit: string; olderForm?: Figures })[];
    }
    const { cases, minMargin } = fixtureJson<{ minMargin: string; cases: Case[] }>('fees/end-to-end.json');
    const sizer = await loadCalldataSizer(fixtureBytes('compression/dict/25-04-21.bin'));
    let older = 0;
    for (const { call, nonce, chainId, pricing, baseFeePerGas, results } of cases) {
      const prices = { fixedCostWei: BigInt(pricing.fixedCostWei), variableCostWei: BigInt(pricing.variableCostWei) };
      for (const { gasLimit, olderForm, ...current } of results) {
        const gas = BigInt(gasLimit);
        const context = {
          gasLimit: gas,
          baseFee: BigInt(baseFeePerGas),
          latestNonce: BigInt(nonce),
          chainId: BigInt(chainId),
        };
        const check = (form: 'current' | 'signed', figures: Figures) => {
          const compressedTxSize = sizer.compressedTxSize(sizingBytes(readCall(call), context, form));
          expect(compressedTxSize).toBe(figures.compressedTxSize);
          const fee = variableCostPriorityFee(prices, { gas, compressedTxSize }, minMargin);
          expect(fee).toBe(BigInt(figures.priorityFeePerGas));
        };
        check('current', current);
        if (olderForm) {
          check('signed', olderForm);
          older++;
        }
      }
    }
    expect(cases.length).toBeGreaterThan(0);
    expect(older).toBeGreaterThan(0);
  });
});

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

  it('reads a margin as text or as a number', () => {
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
    [
      'a size with a fraction',
      () => variableCostPriorityFee(PRICES, { ...use, compressedTxSize: 0.5 }, 1),
      'OUT_OF_RANGE',
    ],
  ])('refuses %s', (_, call, code) => {
    expect(call).toThrow(expect.objectContaining({ code }));
  });
});

describe('decimals', () => {
  it('cuts the shortest digits of a double, not its exact value', () => {
    // The double nearest to 1e23 is 99999999999999991611392; the shortest digits that read back are 1e+23.
    expect(truncateToInteger(1e23)).toBe(10n ** 23n);
    expect(BigInt(1e23)).toBe(99999999999999991611392n);
    expect(truncateToInteger(2 ** 53)).toBe(9007199254740992n);
    expect(truncateToInteger(0.9999999999999999)).toBe(0n);
    expect(truncateToInteger(-0)).toBe(0n);
    expect(() => truncateToInteger(Number.POSITIVE_INFINITY)).toThrow();
    expect(() => truncateToInteger(-1)).toThrow();
  });

  it('keeps a decimal text exact', () => {
    expect(parseDecimal('1.20')).toEqual({ digits: 120n, exponent: -2 });
    expect(parseDecimal('5e-1')).toEqual({ digits: 5n, exponent: -1 });
    expect(parseDecimal(1e21)).toEqual({ digits: 1n, exponent: 21 });
    expect(parseMargin('1.2')).toBe(1.2);
  });
});

describe('verification cost', () => {
  const use = { gas: 53_000n, compressedTxSize: 188, baseFee: 7n };
  const variantA: VerificationCostPricing = { ...DEVNET_VERIFICATION_COST_PRICING, variant: 'A', floor: false };

  it('gives the published sample answer', () => {
    // Linea documentation, linea_estimateGas: gasLimit 0xcf08, baseFeePerGas 0x7, priorityFeePerGas 0x43a82a4.
    expect(BigInt(0xcf08)).toBe(use.gas);
    expect(verificationCostPriorityFee(variantA, use)).toBe(0x43a82a4n);
  });

  it('raises the fee to the floor only where the profile says so', () => {
    expect(verificationCostPriorityFee({ ...variantA, floor: true }, use)).toBe(100_000_000n - 7n);
    const large = { ...use, compressedTxSize: 18_800 };
    expect(verificationCostPriorityFee({ ...variantA, floor: true }, large)).toBe(
      verificationCostPriorityFee(variantA, large),
    );
  });

  it('puts the adjustment outside the margin in B and inside in C', () => {
    const adjusted = { ...variantA, gasPriceAdjustmentWei: 1_000_000n };
    const at = (variant: 'B' | 'C', pricing: VerificationCostPricing) =>
      verificationCostPriorityFee({ ...pricing, variant }, use, 1.5);
    expect(at('B', adjusted) - at('B', variantA)).toBe(1_000_000n);
    expect(at('C', adjusted) - at('C', variantA)).toBe(1_500_000n);
  });

  it('equals the other model with V = R*C*P/K, but for the place of one division', () => {
    // spec/fees.md 8.3: 15 * 1200000 * 100000000 / 90000 wei a byte. 100 gas to a byte leaves no fraction to drop.
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

describe('the model of a network profile', () => {
  const use = { gas: 21_000n, compressedTxSize: 64, baseFee: 7n };

  it('extra-data takes the header prices and the margin of estimates', () => {
    // 1e9 * 64 / 21000 = 3047619.04..; (3047619 + 30000000) * 1.2 = 39657142.8
    expect(priorityFeePerGas(linea.pricing, PRICES, use)).toBe(39_657_142n);
    expect(priorityFeePerGas(linea.pricing, PRICES, use, '1.0')).toBe(33_047_619n);
  });

  it('verification-cost takes its own parameters alone', () => {
    const { pricing } = devnet({ pricing: 'verification-cost' });
    // 15 * 1200000 * 64 * 1e8 / (21000 * 90000) = 60952380.9.., below the floor of 1e8 - 7
    expect(priorityFeePerGas(pricing, PRICES, use)).toBe(99_999_993n);
    expect(priorityFeePerGas({ ...DEVNET_VERIFICATION_COST_PRICING, floor: false }, PRICES, use)).toBe(60_952_380n);
  });
});

describe('acceptance', () => {
  it('a type 2 transaction pays the lower of its two bounds', () => {
    expect(payingGasPrice({ gasPrice: 9n }, 7n)).toBe(9n);
    expect(payingGasPrice({ maxFeePerGas: 100n, maxPriorityFeePerGas: 50n }, 7n)).toBe(57n);
    expect(payingGasPrice({ maxFeePerGas: 20n, maxPriorityFeePerGas: 50n }, 7n)).toBe(20n);
  });

  it('what an estimate asks for passes pool and block building, one wei below the rule does not', () => {
    const use = { gas: 90_000n, compressedTxSize: 128, baseFee: 7n };
    const estimate = variableCostPriorityFee(PRICES, use, 1.2);
    for (const margin of [0.8, 1.0, 1.2]) {
      const { profitable, requiredGasPriceWei } = profitability(estimate + 7n, PRICES, use, margin);
      expect(profitable).toBe(true);
      expect(profitability(requiredGasPriceWei - 1n, PRICES, use, margin).profitable).toBe(false);
    }
  });
});

describe('compatibility mode', () => {
  it('wraps when the minimum is below the base fee', () => {
    expect(compatibilityPriorityFee('1', 6n, 7n)).toBe(2n ** 256n - 1n);
  });

  it('is exact where doubles are not, and takes a number for its digits', () => {
    // 1.1 * 10 is 11.000000000000002 in doubles, which would round up to 12.
    expect(compatibilityPriorityFee('1.1', 17n, 7n)).toBe(11n);
    expect(compatibilityPriorityFee(1.1, 17n, 7n)).toBe(11n);
    expect(() => compatibilityPriorityFee('-1', 17n, 7n)).toThrow(expect.objectContaining({ code: 'MARGIN_INVALID' }));
  });
});

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

  it('stays at 7 below the target, comes down from 8, and rises by at least 1 above', () => {
    for (const used of [0n, 1n, 999_999_999n]) expect(at(7n, used)).toBe(7n);
    expect(at(8n, 0n)).toBe(7n);
    expect(at(7n, 1_000_000_001n)).toBe(8n);
  });

  it('refuses what is no header', () => {
    expect(() => at(7n, 3n, 2n)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
    expect(() => at(7n, 0n, 0n)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
  });
});

describe('operator pricing', () => {
  it('counts calldata only when there are enough blocks, each less 540', () => {
    expect(congestionCalldata([1000, 1000, 1000, 1000])).toBe(0);
    expect(congestionCalldata([1000, 100, 540, 541, 1000])).toBe(460 + 0 + 0 + 1 + 460);
    expect(congestionCalldata([9_999_999, 1000, 100, 540, 541, 1000])).toBe(460 + 0 + 0 + 1 + 460);
  });

  it('keeps the variable cost within its bounds', () => {
    const fees = { baseFee: 1, priorityFee: 2, blobBaseFee: 5 };
    const cost = { executionGas: 120_000, blobGas: 131_000, bytesPerSubmission: 200_000, margin: 1.1 };
    expect(baseVariableCost(fees, { ...cost, lowerBound: 6 })).toBe(6);
    expect(baseVariableCost(fees, { ...cost, upperBound: 5 })).toBe(5);
  });

  it('makes the prices of a real header', () => {
    // Mainnet block 28279180: 30000 / 1000000 / 41904 in units of 1000 wei.
    expect(headerPrices(1e9, 30e6)).toEqual({
      fixedCostWei: 30_000_000n,
      variableCostWei: 1_000_000_000n,
      minGasPriceWei: 41_904_000n,
    });
  });
});
