/**
 * Blob parameters of a fork (EIP-7840): target and maximum number of blobs in a block, and how fast the price changes.
 */
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
export interface BlobGasParent {
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
