// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

import { DIVIDEND, divide, divideByLimb, QUOTIENT } from './long-division';
import { shiftDown } from './shifts';
import { add, copy, high, isZero, limbs, lt, mul, put, setU64, sub, zero } from './word';

/**
 * Quotients and remainders of words, signed and unsigned, and sums and products by a modulus. By zero they are zero, as in
 * the EVM.
 */

const ALL: u64 = 0xffffffffffffffff;
const UNUSED: usize = memory.data(32, 16);
const LEFT: usize = memory.data(32, 16);
const RIGHT: usize = memory.data(32, 16);

/** Quotient and remainder without sign. Both results are zero when the divisor is. */
function divideWords(a: usize, b: usize, quotient: usize, remainder: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  const b0 = load<u64>(b);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const b3 = load<u64>(b, 24);
  const small = (b1 | b2 | b3) === 0;
  if (small && (a1 | a2 | a3) === 0) {
    const q = b0 === 0 ? 0 : a0 / b0;
    setU64(b0 === 0 ? 0 : a0 - q * b0, remainder);
    setU64(q, quotient);
    return;
  }
  if (small && b0 === 0) {
    zero(quotient);
    zero(remainder);
    return;
  }
  if (!small && lt(a, b)) {
    put(remainder, a0, a1, a2, a3);
    zero(quotient);
    return;
  }
  put(DIVIDEND, a0, a1, a2, a3);
  if (popcnt(b0) + popcnt(b1) + popcnt(b2) + popcnt(b3) === 1) {
    const bits = small ? ctz(b0) : b1 !== 0 ? 64 + ctz(b1) : b2 !== 0 ? 128 + ctz(b2) : 192 + ctz(b3);
    const m1 = b1 - <u64>(b0 === 0);
    const m2 = b2 - <u64>((b0 | b1) === 0);
    put(remainder, a0 & (b0 - 1), a1 & m1, a2 & m2, a3 & (b3 - <u64>((b0 | b1 | b2) === 0)));
    shiftDown(bits, DIVIDEND, quotient, 0);
    return;
  }
  zero(QUOTIENT);
  if (small) setU64(divideByLimb(a3 !== 0 ? 4 : a2 !== 0 ? 3 : 2, b0), remainder);
  else divide(4, b, remainder);
  copy(QUOTIENT, quotient);
}

/** The remainder of `count` limbs. */
function reduce(count: i32, modulus: usize, out: usize): void {
  if ((load<u64>(modulus, 8) | load<u64>(modulus, 16) | load<u64>(modulus, 24)) !== 0) divide(count, modulus, out);
  else setU64(divideByLimb(count, load<u64>(modulus)), out);
}

export function div(a: usize, b: usize, out: usize): void {
  divideWords(a, b, out, UNUSED);
}

export function mod(a: usize, b: usize, out: usize): void {
  divideWords(a, b, UNUSED, out);
}

/** The word without its sign. */
function absolute(a: usize, out: usize): void {
  if (load<i64>(a, 24) < 0) negate(a, out);
  else copy(a, out);
}

function negate(a: usize, out: usize): void {
  zero(UNUSED);
  sub(UNUSED, a, out);
}

export function sdiv(a: usize, b: usize, out: usize): void {
  if ((load<i64>(a, 24) | load<i64>(b, 24)) >= 0) {
    div(a, b, out);
    return;
  }
  const negative = (load<i64>(a, 24) ^ load<i64>(b, 24)) < 0;
  absolute(a, LEFT);
  absolute(b, RIGHT);
  div(LEFT, RIGHT, out);
  if (negative) negate(out, out);
}

/** The remainder has the sign of the dividend. */
export function smod(a: usize, b: usize, out: usize): void {
  if ((load<i64>(a, 24) | load<i64>(b, 24)) >= 0) {
    mod(a, b, out);
    return;
  }
  const negative = load<i64>(a, 24) < 0;
  absolute(a, LEFT);
  absolute(b, RIGHT);
  mod(LEFT, RIGHT, out);
  if (negative) negate(out, out);
}

export function addmod(a: usize, b: usize, modulus: usize, out: usize): void {
  if (isZero(modulus)) {
    zero(out);
    return;
  }
  add(a, b, DIVIDEND);
  const carry = lt(DIVIDEND, a);
  if (lt(a, modulus) && lt(b, modulus)) {
    if (carry || !lt(DIVIDEND, modulus)) sub(DIVIDEND, modulus, out);
    else copy(DIVIDEND, out);
    return;
  }
  store<u64>(DIVIDEND, <u64>carry, 32);
  reduce(5, modulus, out);
}

/** Writes the 512-bit product to the dividend. */
function multiplyWide(a: usize, b: usize): void {
  const b0 = load<u64>(b);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const b3 = load<u64>(b, 24);
  let r0: u64 = 0;
  let r1: u64 = 0;
  let r2: u64 = 0;
  let r3: u64 = 0;
  for (let at: usize = 0; at < 32; at += 8) {
    const x = load<u64>(a + at);
    let p = x * b0 + r0;
    store<u64>(DIVIDEND + at, p);
    let carry = high(x, b0) + <u64>(p < r0);
    p = x * b1 + carry;
    r0 = p + r1;
    carry = high(x, b1) + <u64>(p < carry) + <u64>(r0 < p);
    p = x * b2 + carry;
    r1 = p + r2;
    carry = high(x, b2) + <u64>(p < carry) + <u64>(r1 < p);
    p = x * b3 + carry;
    r2 = p + r3;
    r3 = high(x, b3) + <u64>(p < carry) + <u64>(r2 < p);
  }
  put(DIVIDEND + 32, r0, r1, r2, r3);
}

/** The remainder of a product for the modulus 2^256 - c, c below 2^64 and not zero: its upper half counts c times. */
function foldHigh(c: u64, out: usize): void {
  const h0 = load<u64>(DIVIDEND, 32);
  const h1 = load<u64>(DIVIDEND, 40);
  const h2 = load<u64>(DIVIDEND, 48);
  const h3 = load<u64>(DIVIDEND, 56);
  let p = h0 * c;
  let r0 = load<u64>(DIVIDEND) + p;
  let carry = high(h0, c) + <u64>(r0 < p);
  p = h1 * c + carry;
  let r1 = load<u64>(DIVIDEND, 8) + p;
  carry = high(h1, c) + <u64>(p < carry) + <u64>(r1 < p);
  p = h2 * c + carry;
  let r2 = load<u64>(DIVIDEND, 16) + p;
  carry = high(h2, c) + <u64>(p < carry) + <u64>(r2 < p);
  p = h3 * c + carry;
  let r3 = load<u64>(DIVIDEND, 24) + p;
  carry = high(h3, c) + <u64>(p < carry) + <u64>(r3 < p);

  // The carry out counts c times again. What may be left over after that is one, and the rest is then small.
  p = carry * c;
  r0 += p;
  p = high(carry, c) + <u64>(r0 < p);
  r1 += p;
  p = <u64>(r1 < p);
  r2 += p;
  p = <u64>(r2 < p);
  r3 += p;
  const once = 0 - <u64>(r3 < p);
  // Below the modulus already unless adding c carries out.
  r0 += c & once;
  p = <u64>(r0 < (c & once));
  r1 += p;
  r2 += <u64>(r1 < p);
  if ((r1 & r2 & r3) === ALL && r0 >= 0 - c) {
    setU64(r0 + c, out);
    return;
  }
  put(out, r0, r1, r2, r3);
}

export function mulmod(a: usize, b: usize, modulus: usize, out: usize): void {
  if (isZero(modulus)) {
    zero(out);
    return;
  }
  const count = limbs(a) + limbs(b);
  if (count <= 4) {
    mul(a, b, DIVIDEND);
    if (lt(DIVIDEND, modulus)) copy(DIVIDEND, out);
    else reduce(4, modulus, out);
    return;
  }
  const m0 = load<u64>(modulus);
  const near = m0 !== 0 && (load<u64>(modulus, 8) & load<u64>(modulus, 16) & load<u64>(modulus, 24)) === ALL;
  multiplyWide(a, b);
  if (near) {
    foldHigh(0 - m0, out);
    return;
  }
  reduce(count, modulus, out);
}
