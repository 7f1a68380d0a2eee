import { PlumblineError } from '../errors.js';

/** Ratio of a block's gas limit to its gas target (EIP-1559). */
export const ELASTICITY = 2n;
const CHANGE_DENOMINATOR = 8n;

/** Base fee of the first block of London, wei per gas (EIP-1559). */
export const INITIAL_BASE_FEE: bigint = 1_000_000_000n;

/** Header fields that determine the next base fee. */
export interface BaseFeeParent {
  /** Wei per gas. */
  readonly baseFeePerGas: bigint;
  readonly gasUsed: bigint;
  readonly gasLimit: bigint;
}

/**
 * Base fee of the block after `parent`, wei per gas.
 *
 * @throws PlumblineError `OUT_OF_RANGE` for a gas limit below 2, or gas used above the limit
 * @source EIP-1559, docs/spec/fees.md 4. At 7 wei a decrease rounds to zero, so Linea's networks stay there.
 *
 * @example
 * ```ts
 * import { nextBaseFee } from 'plumbline-l2/fees';
 *
 * nextBaseFee({ baseFeePerGas: 1_000_000_000n, gasUsed: 30_000_000n, gasLimit: 30_000_000n }); // => 1_125_000_000n
 * // On Linea: seven wei do not fall.
 * nextBaseFee({ baseFeePerGas: 7n, gasUsed: 0n, gasLimit: 2_000_000_000n }); // => 7n
 * ```
 */
export function nextBaseFee(parent: BaseFeeParent): bigint {
  const { baseFeePerGas: base, gasUsed, gasLimit } = parent;
  if (gasLimit < ELASTICITY || gasUsed < 0n || gasUsed > gasLimit) {
    throw new PlumblineError('OUT_OF_RANGE', 'gasUsed must be at most gasLimit, and gasLimit at least 2', {
      what: 'gasUsed',
      value: gasUsed.toString(),
      limit: gasLimit.toString(),
    });
  }
  const target = gasLimit / ELASTICITY;
  if (gasUsed === target) return base;
  if (gasUsed < target) return base - (base * (target - gasUsed)) / target / CHANGE_DENOMINATOR;
  const rise = (base * (gasUsed - target)) / target / CHANGE_DENOMINATOR;
  return base + (rise > 1n ? rise : 1n);
}

/** The prices of a transaction, wei per gas. If `gasPrice` is present, it applies. */
export interface NamedPrices {
  readonly gasPrice?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
}

/** Price per gas that a transaction pays at a base fee, wei (EIP-1559). */
export function effectiveGasPrice(prices: NamedPrices, baseFeePerGas: bigint): bigint {
  if (prices.gasPrice !== undefined) return prices.gasPrice;
  const cap = prices.maxFeePerGas ?? 0n;
  const wanted = baseFeePerGas + (prices.maxPriorityFeePerGas ?? 0n);
  return wanted < cap ? wanted : cap;
}

/** Blob parameters of a fork (EIP-7840): target and maximum number of blobs in a block, and how fast the blob price changes. */
export interface BlobSchedule {
  readonly target: number;
  readonly max: number;
  readonly baseFeeUpdateFraction: bigint;
}

/** Gas of one blob. */
export const GAS_PER_BLOB = 131_072n;

const MIN_BLOB_BASE_FEE = 1n;
/** Minimum execution gas cost of a blob (EIP-7918). */
const BLOB_BASE_COST = 8_192n;

/** Header fields that determine the next excess. All are zero in a parent before Cancun. */
interface BlobGasParent {
  readonly blobGasUsed?: bigint | undefined;
  readonly excessBlobGas?: bigint | undefined;
  /** Wei per gas. */
  readonly baseFeePerGas?: bigint | undefined;
}

/** Wei per blob gas at an excess. @source EIP-4844 */
export function blobBaseFee(excessBlobGas: bigint, schedule: BlobSchedule): bigint {
  return fakeExponential(MIN_BLOB_BASE_FEE, excessBlobGas, schedule.baseFeeUpdateFraction);
}

/**
 * `excessBlobGas` of the block after `parent`.
 *
 * @param schedule - in force at the new block
 * @param reserve - whether blobs have a reserve price: from Osaka on
 * @source EIP-4844, EIP-7918
 */
export function nextExcessBlobGas(parent: BlobGasParent, schedule: BlobSchedule, reserve: boolean): bigint {
  const { excessBlobGas: excess = 0n, blobGasUsed: used = 0n, baseFeePerGas: baseFee = 0n } = parent;
  const target = BigInt(schedule.target) * GAS_PER_BLOB;
  if (excess + used < target) return 0n;
  if (reserve && BLOB_BASE_COST * baseFee > GAS_PER_BLOB * blobBaseFee(excess, schedule)) {
    return excess + (used * BigInt(schedule.max - schedule.target)) / BigInt(schedule.max);
  }
  return excess + used - target;
}

/** Approximates factor * e^(numerator / denominator), in integers. @source EIP-4844 */
function fakeExponential(factor: bigint, numerator: bigint, denominator: bigint): bigint {
  let sum = 0n;
  let term = factor * denominator;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * numerator) / (denominator * i);
  }
  return sum / denominator;
}
