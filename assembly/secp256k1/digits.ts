import { HALF_BYTES } from './scalar';

/** Positions of digits: a half has at most 129 bits, and the last digit may carry into the next. */
export const DIGITS: i32 = 132;
/** Bytes of the digits of one number, i16 each. */
export const DIGITS_BYTES: usize = 2 * DIGITS;

const magnitude: usize = memory.data(24, 16);

/**
 * The digits of a half in non-adjacent form of a width: the half is the sum of `digit * 2^position`, each digit is 0 or odd and
 * below 2^(width - 1) in size, and of `width` digits in a row at most one is not 0.
 *
 * @param half - two's complement
 * @returns the number of digits up to the last that is not 0
 */
export function digitsOf(half: usize, width: i32, into: usize): i32 {
  const sign: i32 = load<i32>(half, HALF_BYTES - 4) >> 31;
  let sum: u64 = sign & 1;
  for (let i: usize = 0; i < HALF_BYTES; i += 4) {
    sum += <u64>(load<u32>(half + i) ^ <u32>sign);
    store<u32>(magnitude + i, <u32>sum);
    sum >>= 32;
  }
  memory.fill(into, 0, DIGITS_BYTES);
  let carry: u32 = 0;
  let length = 0;
  for (let at = 0; at < DIGITS; ) {
    const window = <u32>(load<u64>(magnitude + ((<usize>(at >> 5)) << 2)) >> (at & 31));
    if ((window & 1) === carry) {
      at++;
      continue;
    }
    let digit = <i32>((window & ((1 << width) - 1)) + carry);
    carry = (digit >> (width - 1)) & 1;
    digit -= carry << width;
    store<i16>(into + ((<usize>at) << 1), <i16>((digit ^ sign) - sign));
    length = at + 1;
    at += width;
  }
  return length;
}
