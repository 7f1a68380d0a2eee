import { PlumblineError } from '../errors.js';

/** How many times the gas that a block aims at it may use (EIP-1559). */
export const ELASTICITY = 2n;
const CHANGE_DENOMINATOR = 8n;

/** Base fee of the first block of London, wei per gas (EIP-1559). */
export const INITIAL_BASE_FEE: bigint = 1_000_000_000n;

/** What the next base fee depends on. */
export interface BaseFeeParent {
  /** Wei per gas. */
  readonly baseFeePerGas: bigint;
  readonly gasUsed: bigint;
  readonly gasLimit: bigint;
}

/**
 * Base fee of the block after `parent`, wei per gas.
 *
 * @throws PlumblineError `OUT_OF_RANGE` for a gas limit below 2 or more gas used than the limit allows
 * @source EIP-1559, docs/spec/fees.md 4. At 7 wei a decrease rounds to zero, which is why Linea's networks stay there.
 */
export function nextBaseFee(parent: BaseFeeParent): bigint {
  const { baseFeePerGas: base, gasUsed, gasLimit } = parent;
  if (gasLimit < ELASTICITY || gasUsed < 0n || gasUsed > gasLimit) {
    throw new PlumblineError('OUT_OF_RANGE', 'gas used and gas limit do not make a header', {
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

/** The prices a transaction or message names, wei per gas; `gasPrice` decides where it is present. */
export interface NamedPrices {
  readonly gasPrice?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
}

/** Wei per gas that a transaction pays at a base fee (EIP-1559). */
export function effectiveGasPrice(prices: NamedPrices, baseFeePerGas: bigint): bigint {
  if (prices.gasPrice !== undefined) return prices.gasPrice;
  const cap = prices.maxFeePerGas ?? 0n;
  const tipped = baseFeePerGas + (prices.maxPriorityFeePerGas ?? 0n);
  return tipped < cap ? tipped : cap;
}
