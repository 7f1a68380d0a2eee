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
