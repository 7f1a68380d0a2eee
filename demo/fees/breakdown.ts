import type { ExplainedEstimate } from 'plumbline-l2';
import { groups } from '../lib/format.js';

/** One part of the total fee, wei. */
export interface Part {
  readonly name: string;
  readonly wei: bigint;
  /** How it comes about, in figures. */
  readonly note: string;
}

/**
 * Parts of the largest total fee, which add up to it. Under prices from the header a transaction pays the base fee, a fixed
 * cost per gas and its share of the blob on layer 1; what is above these is the margin of estimates.
 */
export function feeParts({ gasLimit, baseFeePerGas, evidence }: ExplainedEstimate): readonly Part[] {
  const gas = BigInt(gasLimit);
  const total = BigInt(evidence.totalFee);
  const base = gas * BigInt(baseFeePerGas);
  const baseNote = `${groups(gas)} gas × ${BigInt(baseFeePerGas)} wei`;
  if (evidence.pricingModel !== 'extra-data') {
    return [
      { name: 'Base fee', wei: base, note: baseNote },
      { name: 'Priority fee', wei: total - base, note: 'cost of verifying on layer 1, margin included' },
    ];
  }
  const fixedCost = BigInt(evidence.prices.fixedCostWei);
  const variableCost = BigInt(evidence.prices.variableCostWei);
  const priority = total - base;
  const least = (value: bigint, limit: bigint) => (value < limit ? value : limit);
  const data = least(variableCost * BigInt(evidence.compressedTxSize), priority);
  const fixed = least(fixedCost * gas, priority - data);
  return [
    { name: 'Data on layer 1', wei: data, note: `${evidence.compressedTxSize} bytes × ${groups(variableCost)} wei` },
    { name: 'Fixed cost', wei: fixed, note: `${groups(gas)} gas × ${groups(fixedCost)} wei` },
    { name: 'Margin', wei: priority - data - fixed, note: `estimates are × ${evidence.margin} of the cost` },
    { name: 'Base fee', wei: base, note: baseNote },
  ];
}

/** Share of a whole in percent, one decimal. */
export function share(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 1000n) / whole) / 10;
}
