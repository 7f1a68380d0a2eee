import type { Prices } from './prices.js';

/*
 * How the operator's coordinator arrives at the prices of a header (docs/spec/fees.md 3.1), in doubles and in this order.
 * A node does not need it to estimate; it explains prices, and relation 5 checks them.
 */

/**
 * Mean of `values` weighted by `ratios`, over as many pairs as there are; the plain mean when all ratios are zero; 0 of
 * nothing.
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

/** What one submission to layer 1 takes. */
export interface SubmissionCost {
  readonly executionGas: number;
  readonly blobGas: number;
  readonly bytesPerSubmission: number;
  readonly margin: number;
  /** Bounds of the result, wei per byte; none when left out. */
  readonly lowerBound?: number;
  readonly upperBound?: number;
}

/** Variable cost in wei per compressed byte, before any congestion adjustment. */
export function baseVariableCost(fees: LayerOneFees, cost: SubmissionCost): number {
  const execution = (fees.baseFee + fees.priorityFee) * cost.executionGas;
  const perByte = ((execution + fees.blobBaseFee * cost.blobGas) * cost.margin) / cost.bytesPerSubmission;
  const { lowerBound = Number.NEGATIVE_INFINITY, upperBound = Number.POSITIVE_INFINITY } = cost;
  return Math.min(Math.max(perByte, lowerBound), upperBound);
}

/** Calldata bytes of the blocks looked at that count: each less 540, at least 0; none while there are too few blocks. */
export function congestionCalldata(calldataBytesPerBlock: readonly number[], blocks = 5): number {
  if (calldataBytesPerBlock.length < blocks) return 0;
  return calldataBytesPerBlock.slice(-blocks).reduce((sum, bytes) => sum + Math.max(0, bytes - 540), 0);
}

/** Parameters of the congestion adjustment. */
export interface CongestionRule {
  /** Calldata bytes that a block may hold. */
  readonly maxBlockCalldata: number;
  readonly blocks: number;
  /** A full swing moves the price by one part in this many. */
  readonly denominator: number;
}

/** The rule where no other is given. */
export const DEFAULT_CONGESTION_RULE: CongestionRule = { maxBlockCalldata: 109_000, blocks: 5, denominator: 32 };

/**
 * Variable cost raised while recent blocks are more than half full of calldata, and let down slowly.
 *
 * @param base - of `baseVariableCost`
 * @param previous - the last adjusted cost
 * @param sumCalldata - of `congestionCalldata`
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

/** The transaction that the recommended gas price is for. */
export interface ReferenceTransfer {
  readonly compressedTxSize: number;
  readonly expectedGas: number;
  readonly multiplier: number;
}

/** What real headers imply (docs/spec/fees.md 3.1, relation 5). */
export const REFERENCE_TRANSFER: ReferenceTransfer = { compressedTxSize: 250, expectedGas: 21_000, multiplier: 1 };

/** Gas price recommended for a simple transfer, wei per gas, from the other two prices in wei. */
export function recommendedGasPrice(
  variableCost: number,
  fixedCost: number,
  transfer: ReferenceTransfer = REFERENCE_TRANSFER,
): number {
  return transfer.multiplier * ((variableCost * transfer.compressedTxSize) / transfer.expectedGas + fixedCost);
}

/** Prices as a header can say them: each cut to a multiple of 1000 wei. Costs in wei, of zero or above. */
export function headerPrices(
  variableCost: number,
  fixedCost: number,
  transfer: ReferenceTransfer = REFERENCE_TRANSFER,
): Prices {
  const cut = (wei: number) => BigInt(Math.trunc(wei / 1000)) * 1000n;
  return {
    fixedCostWei: cut(fixedCost),
    variableCostWei: cut(variableCost),
    minGasPriceWei: cut(recommendedGasPrice(variableCost, fixedCost, transfer)),
  };
}
