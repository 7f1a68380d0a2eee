import { PlumblineError } from '../errors.js';

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/** An exact decimal number: `digits * 10^exponent`. */
export interface Decimal {
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
