import { parseMargin, truncateToInteger } from './decimal.js';
import { type Prices, requireGas, requireInt64, requireSize, type TransactionUse } from './prices.js';

/**
 * Priority fee per gas at which a transaction is profitable for the operator, by the prices of a block header.
 *
 * @param prices - fixed cost per gas and variable cost per compressed byte, wei
 * @param use - gas above zero; size in whole bytes
 * @param margin - factor over cost: a double, or a decimal text
 * @returns wei per gas
 * @throws PlumblineError `GAS_IS_ZERO`, `MARGIN_INVALID`, `OUT_OF_RANGE`
 * @source docs/spec/fees.md 2. The node drops fractions of a wei twice: after the division by gas and after the margin.
 *   Products and sums wrap like its 64-bit integers; prices that fit into a header are never that large.
 */
export function variableCostPriorityFee(
  prices: Pick<Prices, 'fixedCostWei' | 'variableCostWei'>,
  use: Pick<TransactionUse, 'gas' | 'compressedTxSize'>,
  margin: number | string,
): bigint {
  const variableCost = requireInt64('variableCostWei', prices.variableCostWei);
  const fixedCost = requireInt64('fixedCostWei', prices.fixedCostWei);
  const gas = requireGas(use.gas);
  const sizeCost = BigInt.asIntN(64, variableCost * BigInt(requireSize(use.compressedTxSize)));
  const costPerGas = BigInt.asIntN(64, sizeCost / gas + fixedCost);
  return truncateToInteger(parseMargin(margin) * Number(costPerGas));
}
