import { P } from './koalabear';

/**
 * KoalaBear in four SIMD lanes of 32 bits. Words are in Montgomery form with radix 2^32, and canonical (below p) unless
 * a comment says otherwise. Used by the SIMD build only.
 */

/** 1/p modulo 2^32. */
const P_INVERSE: i32 = 0x81000001;
/** 2^64 mod p. Multiplying by it converts a plain word into Montgomery form. */
const RADIX_SQUARED: i32 = 0x17f7efe4;

export function add(a: v128, b: v128): v128 {
  const sum = i32x4.add(a, b);
  return i32x4.min_u(sum, i32x4.sub(sum, i32x4.splat(P)));
}

export function subtract(a: v128, b: v128): v128 {
  return normalize(i32x4.sub(a, b));
}

export function double(a: v128): v128 {
  return add(a, a);
}

/** Makes signed lanes between -p and p canonical. */
export function normalize(a: v128): v128 {
  return i32x4.min_u(a, i32x4.add(a, i32x4.splat(P)));
}

/** `a * b` of signed lanes: between -p and p if the product is at most p^2 in absolute value. */
export function multiplySigned(a: v128, b: v128): v128 {
  const low = i64x2.extmul_low_i32x4_s(a, b);
  const high = i64x2.extmul_high_i32x4_s(a, b);
  // The low words of the four products, times 1/p: as many p have the same low words.
  const factor = i32x4.mul(v128.shuffle<i32>(low, high, 0, 2, 4, 6), i32x4.splat(P_INVERSE));
  return i32x4.sub(v128.shuffle<i32>(low, high, 1, 3, 5, 7), timesPHigh(factor));
}

/**
 * The high words of `a * p`, rounded down: `(a + (a / 2^24 - a) / 2^7) / 2`, as p is 2^31 - 2^24 + 1. That is cheaper than two
 * extended products, which engines make of shuffles.
 */
function timesPHigh(a: v128): v128 {
  const rest = i32x4.shr_s(i32x4.sub(i32x4.shr_s(a, 24), a), 7);
  return i32x4.shr_s(i32x4.add(a, rest), 1);
}

/** The cube of signed lanes between -p and p, canonical. */
export function cube(a: v128): v128 {
  return normalize(multiplySigned(multiplySigned(a, a), a));
}

/** `a / 2^n`, n up to 24. 2^-24 is -127, so the low bits of a count -127 * 2^(24 - n). Shifts are cheaper than a product. */
export function divideByPower(a: v128, n: i32): v128 {
  const low = i32x4.shl(a, 32 - n);
  const weight = i32x4.sub(i32x4.shr_u(low, 1), i32x4.shr_u(low, 8));
  return normalize(i32x4.sub(i32x4.shr_u(a, n), weight));
}

function swapBytes(words: v128): v128 {
  return v128.shuffle<i8>(words, words, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

/** Converts four plain big-endian words into Montgomery form. */
export function fromBytes(words: v128): v128 {
  return normalize(multiplySigned(swapBytes(words), i32x4.splat(RADIX_SQUARED)));
}

/** Converts four words into plain big-endian words. */
export function toBytes(words: v128): v128 {
  return swapBytes(normalize(multiplySigned(words, i32x4.splat(1))));
}
