import type { PricingModel } from '../networks/network.js';
import { parseDecimal } from './decimal.js';
import type { Prices, TransactionUse } from './prices.js';
import { variableCostPriorityFee } from './variable-cost.js';
import { verificationCostPriorityFee } from './verification-cost.js';

const WORD = 256;

/**
 * Priority fee per gas by the pricing model of a network profile.
 *
 * @param pricing - the model, with its parameters and the margin of estimates
 * @param prices - of the newest header that has prices, wei; unused by the model `verification-cost`
 * @param margin - factor over cost; default from the profile
 * @returns wei per gas
 * @throws PlumblineError `GAS_IS_ZERO`, `MARGIN_INVALID`, `INVALID_PARAMETER`, `OUT_OF_RANGE`
 * @source docs/spec/fees.md 2 and 8
 */
export function priorityFeePerGas(
  pricing: PricingModel,
  prices: Pick<Prices, 'fixedCostWei' | 'variableCostWei'>,
  use: TransactionUse,
  margin: number | string = pricing.estimateMargin,
): bigint {
  return pricing.model === 'extra-data'
    ? variableCostPriorityFee(prices, use, margin)
    : verificationCostPriorityFee(pricing, use, margin);
}

/**
 * Priority fee per gas of a node in compatibility mode, which ignores the size: the multiplier times the minimum gas
 * price above the base fee, rounded up.
 *
 * @param multiplier - a decimal such as `1.2`; of a number, its printed digits count
 * @param minGasPriceWei - the node's minimum gas price, wei
 * @param baseFee - base fee of the block, wei
 * @returns wei per gas. If the minimum is below the base fee, the difference wraps modulo 2^256 and the result is huge.
 * @throws PlumblineError `MARGIN_INVALID`
 * @source docs/spec/fees.md 2.2, exact decimal arithmetic
 */
export function compatibilityPriorityFee(multiplier: number | string, minGasPriceWei: bigint, baseFee: bigint): bigint {
  const { digits, exponent } = parseDecimal(multiplier);
  const product = digits * BigInt.asUintN(WORD, minGasPriceWei - baseFee);
  if (exponent >= 0) return product * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (product + divisor - 1n) / divisor;
}
