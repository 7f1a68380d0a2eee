import type { PricingModel } from '../networks/network.js';
import type { Prices, TransactionUse } from './prices.js';
import { variableCostPriorityFee } from './variable-cost.js';
import { verificationCostPriorityFee } from './verification-cost.js';

/**
 * Priority fee per gas by the pricing model of a network profile.
 *
 * @param pricing - which model, with its parameters and the margin of estimates
 * @param prices - of the newest header that carries some, wei; the `verification-cost` model does not look at them
 * @param margin - factor over cost; the profile's when left out
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
