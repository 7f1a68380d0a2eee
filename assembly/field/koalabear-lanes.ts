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
  // The low words of the four products, times 1/p. Then the high words after subtracting that many p.
  const factor = i32x4.mul(v128.shuffle<i32>(low, high, 0, 2, 4, 6), i32x4.splat(P_INVERSE));
  const p = i32x4.splat(P);
  return v128.shuffle<i32>(
    i64x2.sub(low, i64x2.extmul_low_i32x4_s(factor, p)),
    i64x2.sub(high, i64x2.extmul_high_i32x4_s(factor, p)),
    1,
    3,
    5,
    7,
  );
}

/** The cube of signed lanes between -p and p, canonical. */
export function cube(a: v128): v128 {
  return normalize(multiplySigned(multiplySigned(a, a), a));
}

/**
 * The two parts of `a / 2^n`, n up to 24: `quotient - weight`, both below p. 2^-24 is -127, so the low bits of a count
 * -127 * 2^(24 - n). Shifts are cheaper here than a product and its constants.
 */
export function quotient(a: v128, n: i32): v128 {
  return i32x4.shr_u(a, n);
}

export function weight(a: v128, n: i32): v128 {
  const low = i32x4.shl(a, 32 - n);
  return i32x4.sub(i32x4.shr_u(low, 1), i32x4.shr_u(low, 8));
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
