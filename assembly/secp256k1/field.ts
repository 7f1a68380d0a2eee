import { invertWords } from './inverse';
import { limbsOf, wordsOf } from './limbs';
import { P } from './moduli';
import { BITS, ELEMENT_BYTES, FOLD_HIGH, FOLD_LOW, MASK, multiply, square } from './products';

/**
 * The field of secp256k1 besides its products: sums, square roots, inverses, and numbers as 32 bytes. Elements are as in
 * products.ts; a function says which size its results have if that is not 1.
 */

/** Limb 8 of a reduced element: bits 232 to 255. */
const TOP_BITS: i64 = 24;
const TOP_MASK: i64 = 0xffffff;
/** 2^256 modulo p is 2^32 + 977: the first limb of it; the second is 8. */
const TOP_FOLD_LOW: i64 = 977;
const TOP_FOLD_HIGH: i64 = 3;

const reduced: usize = memory.data(36, 16);
const power: usize = memory.data(36, 16);
const power2: usize = memory.data(36, 16);
const power22: usize = memory.data(36, 16);
const power44: usize = memory.data(36, 16);
const power88: usize = memory.data(36, 16);
const words: usize = memory.data(32, 16);

/** `into = a + b`, as large as both together. */
export function add(a: usize, b: usize, into: usize): void {
  for (let i: usize = 0; i < ELEMENT_BYTES; i += 4) store<i32>(into + i, load<i32>(a + i) + load<i32>(b + i));
}

/** `into = a - b`, as large as both together; of size 1 if both are results of products. */
export function subtract(a: usize, b: usize, into: usize): void {
  for (let i: usize = 0; i < ELEMENT_BYTES; i += 4) store<i32>(into + i, load<i32>(a + i) - load<i32>(b + i));
}

/** `into = a * factor + b * other`, carried. Factors are below 2^20 in size. */
export function combine(a: usize, factor: i64, b: usize, other: i64, into: usize): void {
  let carry: i64 = 0;
  for (let i: usize = 0; i < ELEMENT_BYTES; i += 4) {
    carry += <i64>load<i32>(a + i) * factor + <i64>load<i32>(b + i) * other;
    store<i32>(into + i, <i32>(carry & MASK));
    carry >>= BITS;
  }
  store<i32>(into, load<i32>(into) + <i32>(carry * FOLD_LOW));
  store<i32>(into, load<i32>(into, 4) + <i32>(carry << FOLD_HIGH), 4);
}

export function copy(from: usize, into: usize): void {
  memory.copy(into, from, ELEMENT_BYTES);
}

/** Whether both are the same number modulo p. */
export function equal(a: usize, b: usize): bool {
  subtract(a, b, power);
  return isZero(power);
}

/** Whether the element is 0 modulo p. */
export function isZero(a: usize): bool {
  reduce(a);
  let all: i32 = 0;
  for (let i: usize = 0; i < ELEMENT_BYTES; i += 4) all |= load<i32>(reduced + i);
  return all === 0;
}

/** Sets `reduced` to the same number modulo p, below p. */
function reduce(a: usize): void {
  copy(a, reduced);
  let over: i64 = carried();
  // A sum of 2^256 over shows that p is not above the number; a small one is settled by the second pass.
  while (over !== 0) {
    addFold(over);
    over = carried();
  }
  addFold(1);
  if (carried() === 0) {
    addFold(-1);
    carried();
  }
}

/** Carries through `reduced`; its limbs are then those of a number below 2^256. @returns what is above, to be folded */
function carried(): i64 {
  let carry: i64 = 0;
  for (let i: usize = 0; i < ELEMENT_BYTES - 4; i += 4) {
    carry += load<i32>(reduced + i);
    store<i32>(reduced + i, <i32>(carry & MASK));
    carry >>= BITS;
  }
  carry += load<i32>(reduced, ELEMENT_BYTES - 4);
  store<i32>(reduced, <i32>(carry & TOP_MASK), ELEMENT_BYTES - 4);
  return carry >> TOP_BITS;
}

function addFold(times: i64): void {
  store<i32>(reduced, load<i32>(reduced) + <i32>(times * TOP_FOLD_LOW));
  store<i32>(reduced, load<i32>(reduced, 4) + <i32>(times << TOP_FOLD_HIGH), 4);
}

/** Reads eight words of 32 bits, least first: a number below 2^256. */
export function fromWords(from: usize, into: usize): void {
  limbsOf(from, BITS, into);
}

/** Writes the number below p as eight words of 32 bits, least first. */
export function toWords(a: usize, into: usize): void {
  reduce(a);
  wordsOf(reduced, BITS, into);
}

/** Whether the number below p is odd. */
export function isOdd(a: usize): bool {
  reduce(a);
  return (load<i32>(reduced) & 1) !== 0;
}

/** `into = 1 / a`; 0 for 0. */
export function invert(a: usize, into: usize): void {
  toWords(a, words);
  invertWords(words, P, words);
  fromWords(words, into);
}

function squareTimes(a: usize, times: i32, into: usize): void {
  square(a, into);
  while (--times > 0) square(into, into);
}

/**
 * `into = a^((p + 1) / 4)`: a square root of `a` if there is one. The exponent in binary is 223 ones, a zero, 22 ones, four
 * zeros, two ones, two zeros. `into` must not be `a`.
 */
export function squareRoot(a: usize, into: usize): void {
  // powerN is a^(2^N - 1): N ones.
  square(a, power2);
  multiply(power2, a, power2);
  squareTimes(power2, 1, into);
  multiply(into, a, into); // 3 ones
  copy(into, power);
  squareTimes(into, 3, into);
  multiply(into, power, into); // 6
  squareTimes(into, 3, into);
  multiply(into, power, into); // 9
  squareTimes(into, 2, into);
  multiply(into, power2, into); // 11
  copy(into, power22);
  squareTimes(into, 11, into);
  multiply(into, power22, power22); // 22
  squareTimes(power22, 22, into);
  multiply(into, power22, power44); // 44
  squareTimes(power44, 44, into);
  multiply(into, power44, power88); // 88
  squareTimes(power88, 88, into);
  multiply(into, power88, into); // 176
  squareTimes(into, 44, into);
  multiply(into, power44, into); // 220
  squareTimes(into, 3, into);
  multiply(into, power, into); // 223
  squareTimes(into, 23, into);
  multiply(into, power22, into);
  squareTimes(into, 6, into);
  multiply(into, power2, into);
  squareTimes(into, 2, into);
}
