import { invertWords } from './inverse';
import { N } from './moduli';

/**
 * Numbers modulo n, the number of points, and their division into halves. A number is words of 32 bits, least first.
 */
export const SCALAR_BYTES: usize = 32;
/** A half: five words, a two's complement number below 2^128 in size. */
export const HALF_BYTES: usize = 20;

const ORDER: usize = memory.data<u32>([
  0xd0364141, 0xbfd25e8c, 0xaf48a03b, 0xbaaedce6, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff,
]);
/** 2^256 modulo n. */
const FOLD: usize = memory.data<u32>([0x2fc9bebf, 0x402da173, 0x50b75fc4, 0x45512319, 0x00000001]);

// A basis of the pairs (a, b) with a + b lambda = 0 modulo n: (A1, -B1) and (A2, A1). G1 and G2 are 2^384 A1 / n and 2^384 B1 / n,
// rounded: with them the multiples to take away are found without a division.
const A1: usize = memory.data<u32>([0x9284eb15, 0xe86c90e4, 0xa7d46bcd, 0x3086d221, 0]);
const B1: usize = memory.data<u32>([0x0abfe4c3, 0x6f547fa9, 0x010e8828, 0xe4437ed6, 0]);
const A2: usize = memory.data<u32>([0x9d44cfd8, 0x57c1108d, 0xa8e2f3f6, 0x14ca50f7, 1]);
const G1: usize = memory.data<u32>([
  0x45dbb031, 0xe893209a, 0x71e8ca7f, 0x3daa8a14, 0x9284eb15, 0xe86c90e4, 0xa7d46bcd, 0x3086d221,
]);
const G2: usize = memory.data<u32>([
  0x8ac47f71, 0x1571b4ae, 0x9df506c6, 0x221208ac, 0x0abfe4c4, 0x6f547fa9, 0x010e8828, 0xe4437ed6,
]);

const product: usize = memory.data(64, 16);
const wide: usize = memory.data(64, 16);
const multiple1: usize = memory.data(20, 16);
const multiple2: usize = memory.data(20, 16);

/** Whether the number is from 1 to n - 1. */
export function isInRange(scalar: usize): bool {
  return !isZero(scalar) && !isAtLeast(scalar, ORDER);
}

export function isZero(scalar: usize): bool {
  let all: u32 = 0;
  for (let i: usize = 0; i < SCALAR_BYTES; i += 4) all |= load<u32>(scalar + i);
  return all === 0;
}

/** Whether a number of eight words is not below another. */
export function isAtLeast(a: usize, b: usize): bool {
  for (let i: usize = SCALAR_BYTES; i > 0; i -= 4) {
    const x = load<u32>(a + i - 4);
    const y = load<u32>(b + i - 4);
    if (x !== y) return x > y;
  }
  return true;
}

/** `into = 1 / scalar` modulo n; the scalar is below n. */
export function invert(scalar: usize, into: usize): void {
  invertWords(scalar, N, into);
}

/** `into = n - scalar`; 0 for 0. The scalar is below n. */
export function negate(scalar: usize, into: usize): void {
  if (isZero(scalar)) memory.fill(into, 0, SCALAR_BYTES);
  else takeAway(ORDER, scalar, into, SCALAR_BYTES);
}

/** `into = a * b` modulo n, for any eight words. */
export function multiply(a: usize, b: usize, into: usize): void {
  multiplyWords(a, SCALAR_BYTES, b, SCALAR_BYTES, product, 64);
  // What is above 2^256 comes down times FOLD, 129 bits: from 512 bits to 386, to 260, to 257, and at most 256.
  for (let fold = 0; fold < 4; fold++) {
    multiplyWords(product + SCALAR_BYTES, SCALAR_BYTES, FOLD, HALF_BYTES, wide, 64);
    memory.fill(product + SCALAR_BYTES, 0, SCALAR_BYTES);
    let carry: u64 = 0;
    for (let i: usize = 0; i < 64; i += 4) {
      carry += <u64>load<u32>(product + i) + <u64>load<u32>(wide + i);
      store<u32>(product + i, <u32>carry);
      carry >>= 32;
    }
  }
  if (isAtLeast(product, ORDER)) takeAway(product, ORDER, product, SCALAR_BYTES);
  memory.copy(into, product, SCALAR_BYTES);
}

/**
 * Divides a scalar below n: `scalar = first + second * lambda` modulo n, where lambda times a point (x, y) is (beta x, y).
 * Gallant, Lambert and Vanstone, "Faster Point Multiplication on Elliptic Curves with Efficient Endomorphisms" (2001).
 */
export function divide(scalar: usize, first: usize, second: usize): void {
  shifted(scalar, G1, multiple1);
  shifted(scalar, G2, multiple2);
  // Both halves are so small that arithmetic modulo 2^160 gives them.
  multiplyWords(multiple1, HALF_BYTES, A1, HALF_BYTES, product, HALF_BYTES);
  takeAway(scalar, product, first, HALF_BYTES);
  multiplyWords(multiple2, HALF_BYTES, A2, HALF_BYTES, product, HALF_BYTES);
  takeAway(first, product, first, HALF_BYTES);
  multiplyWords(multiple1, HALF_BYTES, B1, HALF_BYTES, second, HALF_BYTES);
  multiplyWords(multiple2, HALF_BYTES, A1, HALF_BYTES, product, HALF_BYTES);
  takeAway(second, product, second, HALF_BYTES);
}

/** `into = scalar * factor / 2^384`, rounded, five words. */
function shifted(scalar: usize, factor: usize, into: usize): void {
  multiplyWords(scalar, SCALAR_BYTES, factor, SCALAR_BYTES, product, 64);
  let carry: u64 = load<u32>(product, 44) >> 31;
  for (let i: usize = 0; i < HALF_BYTES - 4; i += 4) {
    carry += load<u32>(product + i, 48);
    store<u32>(into + i, <u32>carry);
    carry >>= 32;
  }
  store<u32>(into, <u32>carry, HALF_BYTES - 4);
}

/** `into = a * b` modulo 2^(8 size); lengths in bytes. `into` is neither factor. */
function multiplyWords(a: usize, aLength: usize, b: usize, bLength: usize, into: usize, size: usize): void {
  memory.fill(into, 0, size);
  for (let i: usize = 0; i < aLength; i += 4) {
    const word: u64 = load<u32>(a + i);
    let carry: u64 = 0;
    const end = min<usize>(bLength, size - i);
    for (let j: usize = 0; j < end; j += 4) {
      carry += word * <u64>load<u32>(b + j) + <u64>load<u32>(into + i + j);
      store<u32>(into + i + j, <u32>carry);
      carry >>= 32;
    }
    if (i + end < size) store<u32>(into + i + end, <u32>carry);
  }
}

/** `into = a - b` modulo 2^(8 size) */
function takeAway(a: usize, b: usize, into: usize, size: usize): void {
  let borrow: i64 = 0;
  for (let i: usize = 0; i < size; i += 4) {
    borrow += <i64>load<u32>(a + i) - <i64>load<u32>(b + i);
    store<u32>(into + i, <u32>borrow);
    borrow >>= 32;
  }
}
