import type { Prices } from './prices.js';

/*
 * How the operator's coordinator computes the prices of a header (docs/spec/fees.md 3.1), in doubles and in this order.
 * A node does not need this for estimates. It explains prices, and relation 5 checks them.
 */

/**
 * Mean of `values` weighted by `ratios`, over as many pairs as there are; the plain mean if all ratios are zero; 0 if
 * there are no pairs.
 *
 * @example
 * ```ts
 * import { weightedAverage } from 'plumbline-l2/fees';
 *
 * weightedAverage([10, 20], [3, 1]); // => 12.5
 * ```
 */
export function weightedAverage(values: readonly number[], ratios: readonly number[]): number {
  const count = Math.min(values.length, ratios.length);
  if (count === 0) return 0;
  let weighted = 0;
  let weights = 0;
  let plain = 0;
  for (let i = 0; i < count; i++) {
    weighted += values[i]! * ratios[i]!;
    weights += ratios[i]!;
    plain += values[i]!;
  }
  return weights === 0 ? plain / count : weighted / weights;
}

/** Layer-1 fees, averaged over recent blocks; wei per gas. */
export interface LayerOneFees {
  readonly baseFee: number;
  readonly priorityFee: number;
  readonly blobBaseFee: number;
}

/** Cost factors of one submission to layer 1. */
export interface SubmissionCost {
  readonly executionGas: number;
  readonly blobGas: number;
  readonly bytesPerSubmission: number;
  readonly margin: number;
  /** Bounds of the result, wei per byte; none if left out. */
  readonly lowerBound?: number;
  readonly upperBound?: number;
}

/**
 * Variable cost in wei per compressed byte, before the congestion adjustment.
 *
 * @example
 * ```ts
 * import { baseVariableCost } from 'plumbline-l2/fees';
 *
 * const fees = { baseFee: 10_000_000_000, priorityFee: 1_000_000_000, blobBaseFee: 100 };
 * baseVariableCost(fees, { executionGas: 100_000, blobGas: 131_072, bytesPerSubmission: 120_000, margin: 1.2 }); // => 11_000_000_131.072
 * ```
 */
export function baseVariableCost(fees: LayerOneFees, cost: SubmissionCost): number {
  const execution = (fees.baseFee + fees.priorityFee) * cost.executionGas;
  const perByte = ((execution + fees.blobBaseFee * cost.blobGas) * cost.margin) / cost.bytesPerSubmission;
  const { lowerBound = Number.NEGATIVE_INFINITY, upperBound = Number.POSITIVE_INFINITY } = cost;
  return Math.min(Math.max(perByte, lowerBound), upperBound);
}

/**
 * Sum of the calldata bytes of the newest blocks, less 540 bytes each; 0 if there are too few blocks.
 *
 * @example
 * ```ts
 * import { congestionCalldata } from 'plumbline-l2/fees';
 *
 * congestionCalldata([1_540, 540, 2_540, 540, 540]); // => 3_000
 * congestionCalldata([1_540]); // => 0
 * ```
 */
export function congestionCalldata(calldataBytesPerBlock: readonly number[], blocks = 5): number {
  if (calldataBytesPerBlock.length < blocks) return 0;
  return calldataBytesPerBlock.slice(-blocks).reduce((sum, bytes) => sum + Math.max(0, bytes - 540), 0);
}

/** Parameters of the congestion adjustment. */
export interface CongestionRule {
  /** Maximum calldata bytes of a block. */
  readonly maxBlockCalldata: number;
  readonly blocks: number;
  /** A full change moves the price by one part in this many. */
  readonly denominator: number;
}

export const DEFAULT_CONGESTION_RULE: CongestionRule = { maxBlockCalldata: 109_000, blocks: 5, denominator: 32 };

/**
 * Variable cost adjusted for congestion: it rises while recent blocks are more than half full of calldata, and falls
 * slowly.
 *
 * @param base - from `baseVariableCost`
 * @param previous - the last adjusted cost
 * @param sumCalldata - from `congestionCalldata`
 *
 * @example
 * ```ts
 * import { adjustForCongestion } from 'plumbline-l2/fees';
 *
 * adjustForCongestion(1_000_000, 1_000_000, 0); // => 1_000_000
 * adjustForCongestion(1_000_000, 1_000_000, 600_000); // => 1_031_250
 * ```
 */
export function adjustForCongestion(
  base: number,
  previous: number,
  sumCalldata: number,
  rule: CongestionRule = DEFAULT_CONGESTION_RULE,
): number {
  const target = (rule.maxBlockCalldata * rule.blocks) / 2;
  const delta = Math.min(Math.max((sumCalldata - target) / target, -1), 1);
  return Math.max(base, previous * (1 + delta / rule.denominator));
}

/** The transaction for which the recommended gas price is computed. */
export interface ReferenceTransfer {
  readonly compressedTxSize: number;
  readonly expectedGas: number;
  readonly multiplier: number;
}

/** Values implied by real headers (docs/spec/fees.md 3.1, relation 5). */
export const REFERENCE_TRANSFER: ReferenceTransfer = { compressedTxSize: 250, expectedGas: 21_000, multiplier: 1 };

/**
 * Recommended gas price of a simple transfer, wei per gas, from the other two prices in wei.
 *
 * @example
 * ```ts
 * import { recommendedGasPrice } from 'plumbline-l2/fees';
 *
 * recommendedGasPrice(1_000_000, 30_000_000); // => 30_011_904.76190476
 * ```
 */
export function recommendedGasPrice(
  variableCost: number,
  fixedCost: number,
  transfer: ReferenceTransfer = REFERENCE_TRANSFER,
): number {
  return transfer.multiplier * ((variableCost * transfer.compressedTxSize) / transfer.expectedGas + fixedCost);
}

/**
 * Prices as in a header, each truncated to a multiple of 1000 wei. Costs in wei, at least zero.
 *
 * @example
 * ```ts
 * import { headerPrices } from 'plumbline-l2/fees';
 *
 * headerPrices(1_000_500, 30_000_000).variableCostWei; // => 1_000_000n
 * ```
 */
export function headerPrices(
  variableCost: number,
  fixedCost: number,
  transfer: ReferenceTransfer = REFERENCE_TRANSFER,
): Prices {
  const truncated = (wei: number) => BigInt(Math.trunc(wei / 1000)) * 1000n;
  return {
    fixedCostWei: truncated(fixedCost),
    variableCostWei: truncated(variableCost),
    minGasPriceWei: truncated(recommendedGasPrice(variableCost, fixedCost, transfer)),
  };
}
