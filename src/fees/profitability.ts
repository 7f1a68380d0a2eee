import { effectiveGasPrice } from '../ethereum/base-fee.js';
import type { Prices, TransactionUse } from './prices.js';
import { variableCostPriorityFee } from './variable-cost.js';

/** The prices of a transaction, wei per gas: the legacy price, or the two of EIP-1559. */
export type OfferedPrice =
  | { readonly gasPrice: bigint }
  | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

/** Whether a transaction is profitable, and the lowest gas price at which it would be. */
export interface Profitability {
  readonly profitable: boolean;
  readonly requiredGasPriceWei: bigint;
}

/** Price per gas that a transaction pays in a block with this base fee, wei (docs/spec/fees.md 2.1). */
export function payingGasPrice(offer: OfferedPrice, baseFee: bigint): bigint {
  return effectiveGasPrice(offer, baseFee);
}

/**
 * The acceptance rule for transactions, which a fee estimate must satisfy: the price paid covers base fee and priority
 * fee.
 *
 * @param payingGasPriceWei - from `payingGasPrice`
 * @param use - gas: the limit in the pool and at the start of a block, the gas actually used at its end
 * @param margin - 0.8 in the pool and 1.0 in block building on Linea's networks; estimates use 1.2, so that they stay
 *   valid when prices change
 * @throws PlumblineError `GAS_IS_ZERO`, `MARGIN_INVALID`, `OUT_OF_RANGE`
 * @source docs/spec/fees.md 2.1
 */
export function profitability(
  payingGasPriceWei: bigint,
  prices: Pick<Prices, 'fixedCostWei' | 'variableCostWei'>,
  use: TransactionUse,
  margin: number | string,
): Profitability {
  const requiredGasPriceWei = use.baseFee + variableCostPriorityFee(prices, use, margin);
  return { profitable: payingGasPriceWei >= requiredGasPriceWei, requiredGasPriceWei };
}
