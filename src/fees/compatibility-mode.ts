import { parseDecimal } from './decimal.js';

const WORD = 256;

/**
 * Priority fee per gas of a node in compatibility mode, which looks at no size: the multiple, rounded up, of what the
 * minimum gas price leaves above the base fee.
 *
 * @param multiplier - a decimal such as `1.2`; a number stands for the digits it prints
 * @param minGasPriceWei - the node's minimum gas price, wei
 * @param baseFee - base fee of the block, wei
 * @returns wei per gas. When the minimum is below the base fee the difference wraps modulo 2^256, and the result is huge.
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
