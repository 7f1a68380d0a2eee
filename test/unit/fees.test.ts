import { describe, expect, it } from 'vitest';
import { FEE_AREAS } from '../../conformance/fees.js';
import { type CallJson, readCall } from '../../conformance/fixture-calls.js';
import { baseVariableCost, congestionCalldata, headerPrices } from '../../src/fees/operator-pricing.js';
import {
  compatibilityPriorityFee,
  payingGasPrice,
  priorityFeePerGas,
  profitability,
  variableCostPriorityFee,
} from '../../src/fees/pricing.js';
import { sizingBytes } from '../../src/fees/transaction-bytes.js';
import { loadCalldataSizer } from '../../src/kernel/calldata-sizer.js';
import { DEVNET_VERIFICATION_COST_PRICING, devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import { runArea } from '../support/area-checks.js';
import { PRICES } from '../support/fee-prices.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../support/fixtures.js';

describe('recorded and independently computed fees', () => {
  const least: Record<string, number> = {
    'fees/priority-fee.json': 18,
    'fees/priority-fee-verification-model.json': 32,
    'fees/compatibility-mode.json': 8,
    'fees/profitability.json': 7,
    'fees/extra-data.json': 16,
    'fees/variable-cost.json': 11,
  };

  it.each(FEE_AREAS.map((area) => [area.name, area] as const))('%s', async (name, area) => {
    const { passed, problems } = await runArea(area);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(least[name]!);
  });

  it.skipIf(!hasFixture('fees/end-to-end.json'))(
    'size and fee of real transactions follow from call and gas limit, in both forms',
    async () => {
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
    },
  );
});

describe('the pricing model of a network profile', () => {
  const use = { gas: 21_000n, compressedTxSize: 64, baseFee: 7n };

  it('extra-data uses the header prices and the margin of estimates', () => {
    // 1e9 * 64 / 21000 = 3047619.04..; (3047619 + 30000000) * 1.2 = 39657142.8
    expect(priorityFeePerGas(linea.pricing, PRICES, use)).toBe(39_657_142n);
    expect(priorityFeePerGas(linea.pricing, PRICES, use, '1.0')).toBe(33_047_619n);
  });

  it('verification-cost uses its own parameters only', () => {
    const { pricing } = devnet({ pricing: 'verification-cost' });
    // 15 * 1200000 * 64 * 1e8 / (21000 * 90000) = 60952380.9.., below the floor of 1e8 - 7
    expect(priorityFeePerGas(pricing, PRICES, use)).toBe(99_999_993n);
    expect(priorityFeePerGas({ ...DEVNET_VERIFICATION_COST_PRICING, floor: false }, PRICES, use)).toBe(60_952_380n);
  });
});

describe('the acceptance rule', () => {
  it('a type 2 transaction pays the lower of its two bounds', () => {
    expect(payingGasPrice({ gasPrice: 9n }, 7n)).toBe(9n);
    expect(payingGasPrice({ maxFeePerGas: 100n, maxPriorityFeePerGas: 50n }, 7n)).toBe(57n);
    expect(payingGasPrice({ maxFeePerGas: 20n, maxPriorityFeePerGas: 50n }, 7n)).toBe(20n);
  });

  it('an estimated price passes pool and block building; one wei below the rule does not', () => {
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

  it('is exact where doubles are not, and uses the printed digits of a number', () => {
    // 1.1 * 10 is 11.000000000000002 in doubles, which would round up to 12.
    expect(compatibilityPriorityFee('1.1', 17n, 7n)).toBe(11n);
    expect(compatibilityPriorityFee(1.1, 17n, 7n)).toBe(11n);
    expect(compatibilityPriorityFee('2e3', 17n, 7n)).toBe(20_000n);
    expect(() => compatibilityPriorityFee('-1', 17n, 7n)).toThrow(expect.objectContaining({ code: 'MARGIN_INVALID' }));
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

  it('computes the prices of a real header', () => {
    // Mainnet block 28279180: 30000 / 1000000 / 41904 in units of 1000 wei.
    expect(headerPrices(1e9, 30e6)).toEqual({
      fixedCostWei: 30_000_000n,
      variableCostWei: 1_000_000_000n,
      minGasPriceWei: 41_904_000n,
    });
  });
});
