import {
  adjustForCongestion,
  baseVariableCost,
  type LayerOneFees,
  recommendedGasPrice,
  type SubmissionCost,
  weightedAverage,
} from '../src/fees/operator-pricing.js';
import { encodeExtraData, parseExtraData } from '../src/fees/prices.js';
import {
  compatibilityPriorityFee,
  priorityFeePerGas,
  profitability,
  variableCostPriorityFee,
} from '../src/fees/pricing.js';
import type { VerificationCostPricing } from '../src/networks/network.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import { type Area, differs, type Material, type Report } from './area.js';

/** An area of one kind of file that uses no kernel. */
function feeArea<T>(file: string, run: (data: T, report: Report) => Promise<void>): Area {
  const path = `fees/${file}.json`;
  return {
    name: path,
    usesKernel: false,
    files: (material: Material) => material.both(path),
    async run(material, report) {
      for (const file of material.both(path)) await run(material.json<T>(file), report);
    },
  };
}

interface VariableCostCase {
  minMargin: string;
  variableCostWei: string;
  fixedCostWei: string;
  gas: string;
  compressedTxSize: number;
}

function readVariableCost(row: VariableCostCase) {
  return {
    prices: { fixedCostWei: BigInt(row.fixedCostWei), variableCostWei: BigInt(row.variableCostWei) },
    gas: BigInt(row.gas),
    compressedTxSize: row.compressedTxSize,
  };
}

const priorityFee = feeArea<{ cases: (VariableCostCase & { name: string; priorityFeePerGas: string })[] }>(
  'priority-fee',
  async ({ cases }, report) => {
    for (const row of cases) {
      const { prices, ...use } = readVariableCost(row);
      await report.check(row.name, () =>
        differs(row.priorityFeePerGas, toQuantity(variableCostPriorityFee(prices, use, row.minMargin))),
      );
    }
  },
);

interface VerificationCase {
  name: string;
  variant: VerificationCostPricing['variant'];
  minMargin: string;
  gasPriceRatio: number;
  verificationGasCost: number;
  verificationCapacity: number;
  gasPriceAdjustmentWei: string;
  compressedTxSize: number;
  minGasPriceWei: string;
  baseFeeWei: string;
  gas: string;
  unbounded: string;
  withMinGasPriceFloor: string;
}

const NO_PRICES = { fixedCostWei: 0n, variableCostWei: 0n };

function verificationFee(row: VerificationCase, floor: boolean): string {
  const pricing: VerificationCostPricing = {
    model: 'verification-cost',
    variant: row.variant,
    verificationGasCost: row.verificationGasCost,
    verificationCapacity: row.verificationCapacity,
    gasPriceRatio: row.gasPriceRatio,
    gasPriceAdjustmentWei: BigInt(row.gasPriceAdjustmentWei),
    minGasPriceWei: BigInt(row.minGasPriceWei),
    estimateMargin: Number(row.minMargin),
    floor,
  };
  const use = { gas: BigInt(row.gas), compressedTxSize: row.compressedTxSize, baseFee: BigInt(row.baseFeeWei) };
  return toQuantity(priorityFeePerGas(pricing, NO_PRICES, use, row.minMargin));
}

const verificationModel = feeArea<{
  docSample?: { gas: string; priorityFeePerGas: string };
  cases: VerificationCase[];
}>('priority-fee-verification-model', async ({ docSample, cases }, report) => {
  for (const row of cases) {
    await report.check(`${row.name}, unbounded`, () => differs(row.unbounded, verificationFee(row, false)));
    await report.check(`${row.name}, floor`, () => differs(row.withMinGasPriceFloor, verificationFee(row, true)));
  }
  if (!docSample) return;
  // The published sample, with the default parameters and 18.8e9 as the product of margin, size and minimum gas price.
  await report.check('published sample', () => {
    const defaults = { gasPriceRatio: 15, verificationGasCost: 1_200_000, verificationCapacity: 90_000 };
    const split = { minMargin: '1.0', compressedTxSize: 188, minGasPriceWei: '100000000' };
    const rest = { name: '', gasPriceAdjustmentWei: '0', baseFeeWei: '7', unbounded: '', withMinGasPriceFloor: '' };
    const row: VerificationCase = { variant: 'A', gas: docSample.gas, ...defaults, ...split, ...rest };
    return differs(docSample.priorityFeePerGas, verificationFee(row, false));
  });
});

const compatibilityMode = feeArea<{
  cases: { multiplier: string; minGasPriceWei: string; baseFeeWei: string; priorityFeePerGas: string }[];
}>('compatibility-mode', async ({ cases }, report) => {
  for (const { multiplier, minGasPriceWei, baseFeeWei, priorityFeePerGas: expected } of cases) {
    await report.check(`${multiplier} times (${minGasPriceWei} - ${baseFeeWei})`, () =>
      differs(expected, toQuantity(compatibilityPriorityFee(multiplier, BigInt(minGasPriceWei), BigInt(baseFeeWei)))),
    );
  }
});

interface ProfitabilityCase extends VariableCostCase {
  name: string;
  baseFeeWei: string;
  payingGasPriceWei: string;
  requiredGasPriceWei: string;
  profitable: boolean;
}

const profitabilityArea = feeArea<{ cases: ProfitabilityCase[] }>('profitability', async ({ cases }, report) => {
  for (const row of cases) {
    const { prices, ...use } = readVariableCost(row);
    await report.check(row.name, () =>
      differs(
        { profitable: row.profitable, requiredGasPriceWei: row.requiredGasPriceWei },
        profitability(
          BigInt(row.payingGasPriceWei),
          prices,
          { ...use, baseFee: BigInt(row.baseFeeWei) },
          row.minMargin,
        ),
      ),
    );
  }
});

interface ExtraDataFile {
  valid: { name: string; extraData: string; fixedCostWei: string; variableCostWei: string; ethGasPriceWei: string }[];
  ignored: { extraData: string; reason: string }[];
  rejected: { extraData: string; reason: string }[];
}

const extraData = feeArea<ExtraDataFile>('extra-data', async ({ valid, ignored, rejected }, report) => {
  for (const row of valid) {
    await report.check(row.name, () => {
      const bytes = hexToBytes(row.extraData);
      const reading = parseExtraData(bytes);
      if (reading.status !== 'prices') return `expected prices, got ${reading.status}`;
      const { fixedCostWei, variableCostWei, ethGasPriceWei: minGasPriceWei } = row;
      return (
        differs({ fixedCostWei, variableCostWei, minGasPriceWei }, reading.prices) ??
        differs(bytesToHex(bytes.subarray(0, 13)), bytesToHex(encodeExtraData(reading.prices).subarray(0, 13)))
      );
    });
  }
  for (const [status, rows] of [
    ['ignored', ignored],
    ['rejected', rejected],
  ] as const) {
    for (const row of rows) {
      await report.check(row.reason, () => differs(status, parseExtraData(hexToBytes(row.extraData)).status));
    }
  }
});

interface VariableCostFile {
  weightedAverage: { values: number[]; ratios: number[]; expected: number }[];
  baseVariableCost: (LayerOneFees & Omit<SubmissionCost, 'bytesPerSubmission'> & { bytes: number; expected: number })[];
  calldataAdjustment: {
    base: number;
    previous: number;
    sumCalldata: number;
    maxBlockCalldata: number;
    blocks: number;
    denominator: number;
    expected: number;
  }[];
  ethGasPriceFromHeader: {
    cases: {
      block: number;
      fixedCostWei: string;
      variableCostWei: string;
      ethGasPriceWei: string;
      compressedTxSize: number;
      expectedGas: number;
      multiplier: number;
    }[];
  };
}

const variableCost = feeArea<VariableCostFile>('variable-cost', async (file, report) => {
  for (const [index, { values, ratios, expected }] of file.weightedAverage.entries()) {
    await report.check(`weighted average ${index}`, () => differs(expected, weightedAverage(values, ratios)));
  }
  for (const [index, { bytes, expected, ...row }] of file.baseVariableCost.entries()) {
    const cost = { ...row, bytesPerSubmission: bytes };
    await report.check(`base variable cost ${index}`, () => differs(expected, baseVariableCost(row, cost)));
  }
  for (const [index, { base, previous, sumCalldata, expected, ...rule }] of file.calldataAdjustment.entries()) {
    await report.check(`calldata adjustment ${index}`, () =>
      differs(expected, adjustForCongestion(base, previous, sumCalldata, rule)),
    );
  }
  for (const row of file.ethGasPriceFromHeader.cases) {
    await report.check(`gas price of block ${row.block}`, () => {
      const wei = recommendedGasPrice(Number(row.variableCostWei), Number(row.fixedCostWei), row);
      return differs(row.ethGasPriceWei, BigInt(Math.trunc(wei / 1000)) * 1000n);
    });
  }
});

/** Everything in the folder `fees` that needs no state. */
export const FEE_AREAS: readonly Area[] = [
  priorityFee,
  verificationModel,
  compatibilityMode,
  profitabilityArea,
  extraData,
  variableCost,
];
