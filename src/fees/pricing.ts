/**
 * What a transaction has to pay so that the sequencer includes it (docs/spec/fees.md 2, 3): the price of the bytes that it adds to a blob
 * and of its gas, with a margin. Nodes calculate in doubles, in decimals and in whole numbers, in an order that decides the last digit;
 * each function says which.
 */

import { invalidParameter, PlumblineError } from '../errors.js';
import { effectiveGasPrice } from '../ethereum/base-fee.js';
import type { PricingModel, VerificationCostPricing } from '../networks/network.js';
import { type Prices, requireGas, requireInt64, requireSize, type TransactionUse } from './prices.js';

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
 *
 * @example
 * ```ts
 * import { linea, priorityFeePerGas } from 'plumbline-l2/fees';
 *
 * const prices = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000n };
 * const use = { gas: 21_000n, compressedTxSize: 128, baseFee: 7n };
 * priorityFeePerGas(linea.pricing, prices, use); // => 36_007_314n
 * ```
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
 *
 * @example
 * ```ts
 * import { compatibilityPriorityFee } from 'plumbline-l2/fees';
 *
 * compatibilityPriorityFee('1.2', 1_000n, 7n); // => 1192n
 * ```
 */
export function compatibilityPriorityFee(multiplier: number | string, minGasPriceWei: bigint, baseFee: bigint): bigint {
  const { digits, exponent } = parseDecimal(multiplier);
  const product = digits * BigInt.asUintN(WORD, minGasPriceWei - baseFee);
  if (exponent >= 0) return product * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (product + divisor - 1n) / divisor;
}

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
 *
 * @example
 * ```ts
 * import { variableCostPriorityFee } from 'plumbline-l2/fees';
 *
 * const prices = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000n };
 * variableCostPriorityFee(prices, { gas: 21_000n, compressedTxSize: 128 }, 1.2); // => 36_007_314n
 * ```
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
 *
 * @example
 * ```ts
 * import { DEVNET_VERIFICATION_COST_PRICING, verificationCostPriorityFee } from 'plumbline-l2/fees';
 *
 * const use = { gas: 21_000n, compressedTxSize: 128, baseFee: 7n };
 * verificationCostPriorityFee(DEVNET_VERIFICATION_COST_PRICING, use); // => 121_904_761n
 * ```
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

/** The prices of a transaction, wei per gas: the legacy price, or the two of EIP-1559. */
export type OfferedPrice =
  | { readonly gasPrice: bigint }
  | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

/** Whether a transaction is profitable, and the lowest gas price at which it would be. */
export interface Profitability {
  readonly profitable: boolean;
  readonly requiredGasPriceWei: bigint;
}

/**
 * Price per gas that a transaction pays in a block with this base fee, wei (docs/spec/fees.md 2.1).
 *
 * @example
 * ```ts
 * import { payingGasPrice } from 'plumbline-l2/fees';
 *
 * payingGasPrice({ maxFeePerGas: 100n, maxPriorityFeePerGas: 20n }, 7n); // => 27n
 * payingGasPrice({ gasPrice: 50n }, 7n); // => 50n
 * ```
 */
export function payingGasPrice(offer: OfferedPrice, baseFee: bigint): bigint {
  return effectiveGasPrice(offer, baseFee);
}

/**
 * The acceptance rule for transactions, which a fee estimate must satisfy: the price that is paid must cover base fee and priority
 * fee.
 *
 * @param payingGasPriceWei - from `payingGasPrice`
 * @param use - gas: the limit in the pool and at the start of a block, the gas actually used at its end
 * @param margin - 0.8 in the pool and 1.0 in block building on Linea's networks; estimates use 1.2, so that they stay
 *   valid when prices change
 * @throws PlumblineError `GAS_IS_ZERO`, `MARGIN_INVALID`, `OUT_OF_RANGE`
 * @source docs/spec/fees.md 2.1
 *
 * @example
 * ```ts
 * import { profitability } from 'plumbline-l2/fees';
 *
 * const prices = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000n };
 * const use = { gas: 21_000n, compressedTxSize: 128, baseFee: 7n };
 * profitability(40_000_000n, prices, use, 1); // => { profitable: true, requiredGasPriceWei: 30_006_102n }
 * ```
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

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/** An exact decimal number: `digits * 10^exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function invalidMargin(value: number | string): PlumblineError<'MARGIN_INVALID'> {
  const shown = String(value).slice(0, 80);
  return new PlumblineError(
    'MARGIN_INVALID',
    `the margin must be a number of at least zero, such as 1.2, got ${shown}`,
    { value: shown },
  );
}

/**
 * Exact value of a decimal text such as `1.2` or `5e-1`, or of a number's printed digits.
 *
 * @throws PlumblineError `MARGIN_INVALID` unless it is a finite number of at least zero
 */
export function parseDecimal(value: number | string): Decimal {
  const match = DECIMAL.exec(String(value));
  if (!match) throw invalidMargin(value);
  const [, whole, fraction = '', exponent = '0'] = match;
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
}

/**
 * The margin as a double, as in the node: a decimal text is rounded once, to the nearest double.
 *
 * @throws PlumblineError `MARGIN_INVALID` unless it is a finite number of at least zero
 */
export function parseMargin(margin: number | string): number {
  const value = Number(margin);
  if (!DECIMAL.test(String(margin)) || !Number.isFinite(value)) throw invalidMargin(margin);
  return value;
}

/**
 * Integer part of the shortest decimal text that parses back to `value`.
 *
 * @param value - a double of at least zero
 * @throws PlumblineError `OUT_OF_RANGE` for a negative or infinite value, or NaN
 * @source docs/spec/fees.md 2, step 5. Below 2^53 every integer is a double, so truncating the double is the same;
 *   above it, the shortest digits and the exact value of the double differ.
 */
export function truncateToInteger(value: number): bigint {
  if (!(value >= 0) || value === Number.POSITIVE_INFINITY) {
    throw new PlumblineError('OUT_OF_RANGE', 'the fee must be a finite number of at least zero', {
      what: 'fee',
      value: String(value),
      limit: 'zero or above, finite',
    });
  }
  const { digits, exponent } = parseDecimal(value);
  return exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent);
}
