import { effectiveGasPrice } from '../ethereum/base-fee.js';
import type { Prices, TransactionUse } from './prices.js';
import { variableCostPriorityFee } from './variable-cost.js';

/** The prices a transaction names, wei per gas: the legacy one, or the two of EIP-1559. */
export type OfferedPrice =
  | { readonly gasPrice: bigint }
  | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

/** Whether a transaction pays its way, and the least gas price that would. */
export interface Profitability {
  readonly profitable: boolean;
  readonly requiredGasPriceWei: bigint;
}

/** What a transaction pays per gas in a block with this base fee, wei (docs/spec/fees.md 2.1). */
export function payingGasPrice(offer: OfferedPrice, baseFee: bigint): bigint {
  return effectiveGasPrice(offer, baseFee);
}

/**
 * The acceptance rule that a fee estimate has to satisfy: the price paid covers base fee and priority fee.
 *
 * @param payingGasPriceWei - of `payingGasPrice`
 * @param use - gas: the limit in the pool and when a block is begun, the gas really used when it is closed
 * @param margin - 0.8 in the pool and 1.0 in block building on Linea's networks; an estimate takes 1.2, so that it stays
 *   valid when prices move
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
