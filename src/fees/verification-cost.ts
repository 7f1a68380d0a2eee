import { invalidParameter, PlumblineError } from '../errors.js';
import type { VerificationCostPricing } from '../networks/network.js';
import { parseMargin, truncateToInteger } from './decimal.js';
import { requireGas, type TransactionUse } from './prices.js';

/**
 * Priority fee per gas by the cost of verification on layer 1.
 *
 * @param pricing - the model's parameters; with `floor` the fee is at least `minGasPriceWei - baseFee`
 * @param use - gas above zero; the size may have a fraction, as before the compressor existed (serialized size / 5)
 * @param margin - factor over cost; default from `pricing`
 * @returns wei per gas
 * @throws PlumblineError `GAS_IS_ZERO`, `MARGIN_INVALID`, `INVALID_PARAMETER`, `OUT_OF_RANGE`
 * @source docs/spec/fees.md 8.2: doubles from left to right, except for two integer products: ratio times gas cost in
 *   variants B and C, gas times capacity (64 bits) in all. They are exact here. The node's 32-bit product of the first
 *   would overflow above 2^31 - 1, far from any configuration.
 */
export function verificationCostPriorityFee(
  pricing: VerificationCostPricing,
  use: TransactionUse,
  margin: number | string = pricing.estimateMargin,
): bigint {
  const { minGasPriceWei } = pricing;
  const fee = unflooredFee(pricing, use, parseMargin(margin));
  const floor = minGasPriceWei - use.baseFee;
  return pricing.floor && fee < floor ? floor : fee;
}

function unflooredFee(pricing: VerificationCostPricing, use: TransactionUse, margin: number): bigint {
  const ratio = requireCount('gasPriceRatio', pricing.gasPriceRatio);
  const gasCost = requireCount('verificationGasCost', pricing.verificationGasCost);
  const capacity = requireCount('verificationCapacity', pricing.verificationCapacity);
  const size = requireFiniteSize(use.compressedTxSize);
  const minGasPrice = Number(pricing.minGasPriceWei);
  const gasTimesCapacity = Number(BigInt.asIntN(64, requireGas(use.gas) * BigInt(capacity)));
  const verification = Number(BigInt(ratio) * BigInt(gasCost));
  switch (pricing.variant) {
    case 'A':
      return truncateToInteger((margin * ratio * gasCost * size * minGasPrice) / gasTimesCapacity);
    case 'B':
      return (
        truncateToInteger((verification * margin * size * minGasPrice) / gasTimesCapacity) +
        pricing.gasPriceAdjustmentWei
      );
    case 'C':
      return truncateToInteger(
        ((verification * size * minGasPrice) / gasTimesCapacity + Number(pricing.gasPriceAdjustmentWei)) * margin,
      );
  }
}

function requireCount(parameter: string, value: number): number {
  if (!Number.isSafeInteger(value) || value <= 0) {
    throw invalidParameter(parameter, 'must be a whole number above zero');
  }
  return value;
}

function requireFiniteSize(size: number): number {
  if (!Number.isFinite(size) || size < 0) {
    throw new PlumblineError('OUT_OF_RANGE', 'compressedTxSize is out of range', {
      what: 'compressedTxSize',
      value: String(size),
      limit: 'zero or above, finite',
    });
  }
  return size;
}
