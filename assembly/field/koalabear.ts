/**
 * KoalaBear, p = 2^31 - 2^24 + 1, on signed 64-bit numbers. Words are in Montgomery form with radix 2^32, and represent
 * their class modulo p. Each function's comment gives the allowed range (docs/spec/hashing.md 2, 6).
 */
export const P: u32 = 0x7f000001;

/** 1/p modulo 2^32. */
const P_INVERSE: i32 = 0x81000001;
/** 2^64 mod p. Multiplying by it converts a plain word into Montgomery form. */
const RADIX_SQUARED: i64 = 0x17f7efe4;

/**
 * `a * b`, for a product of at most 2^62 in absolute value. The result is below 2^31, and below p for a product of at
 * most p^2.
 */
export function multiply(a: i64, b: i64): i64 {
  const product = a * b;
  const factor = <i64>(<i32>product * P_INVERSE);
  return (product - factor * P) >> 32;
}

/** The same class, at most 2^31 in absolute value, for a value of at most 2^37. Each 2^31 is replaced by 2^24 - 1. */
export function fold(a: i64): i64 {
  return a - ((a + (1 << 30)) >> 31) * P;
}

/** `a / 2^n`, n up to 24. 2^-24 is -127, so the low bits count -127 * 2^(24 - n). Adds less than p to a / 2^n. */
export function divideByPower(a: i64, n: i32): i64 {
  return (a >> n) - (a & ((1 << n) - 1)) * (127 << (24 - n));
}

/** Reads a plain big-endian 4-byte word into Montgomery form. */
export function readWord(at: usize): i64 {
  return multiply(bswap(load<u32>(at)), RADIX_SQUARED);
}

/** Writes a word of at most 2^37 in absolute value as a plain number, 4 bytes big-endian. */
export function writeWord(at: usize, word: i64): void {
  const plain = <i32>multiply(word, 1);
  store<u32>(at, bswap(plain + (P & (plain >> 31))));
}
