/**
 * KoalaBear, p = 2^31 - 2^24 + 1, on signed 64-bit numbers. Words are in Montgomery form with radix 2^32 and stand for their
 * class modulo p: how far each function lets them stray is in its comment (docs/spec/hashing.md 2, 6).
 */
export const P: u32 = 0x7f000001;

/** 1/p modulo 2^32. */
const P_INVERSE: i32 = 0x81000001;
/** 2^64 mod p: a product with it brings a plain word into Montgomery form. */
const RADIX_SQUARED: i64 = 0x17f7efe4;

/** `a * b`, for a product up to 2^62 in size; then the result is below 2^31, and below p for a product up to p^2. */
export function multiply(a: i64, b: i64): i64 {
  const product = a * b;
  const factor = <i64>(<i32>product * P_INVERSE);
  return (product - factor * P) >> 32;
}

/** The same class, up to 2^31 in size, for a value up to 2^37: what is above 31 bits is worth 2^24 - 1 each. */
export function fold(a: i64): i64 {
  return a - ((a + (1 << 30)) >> 31) * P;
}

/** `a / 2^n`, n up to 24: 2^-24 is -127, so the low bits weigh -127 * 2^(24 - n). Adds less than p to a / 2^n. */
export function divideByPower(a: i64, n: i32): i64 {
  return (a >> n) - (a & ((1 << n) - 1)) * (127 << (24 - n));
}

/** Montgomery form of the plain 4-byte word, big-endian, at a pointer. */
export function readWord(at: usize): i64 {
  return multiply(bswap(load<u32>(at)), RADIX_SQUARED);
}

/** Writes a word, up to 2^37 in size, as the plain number, 4 bytes big-endian. */
export function writeWord(at: usize, word: i64): void {
  const plain = <i32>multiply(word, 1);
  store<u32>(at, bswap(plain + (P & (plain >> 31))));
}
