// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

import { copy, high } from './word';

/**
 * Long division by 64-bit limbs with the reciprocal of the divisor's top (Möller and Granlund, "Improved division by
 * invariant integers", 2011).
 */

const ALL: u64 = 0xffffffffffffffff;

/** Limbs to divide: below them are zeros, which a shift of the divisor by whole limbs reaches. */
export const DIVIDEND: usize = memory.data(104, 16) + 24;
export const QUOTIENT: usize = memory.data(72, 16);
/** A remainder before its shift by whole limbs, with zeros above. */
const SHIFTED: usize = memory.data(56, 16);

/** floor((2^128 - 1) / d) - 2^64 for a divisor with its top bit set. */
function reciprocal(d: u64): u64 {
  // 34 bits from a float, never too high: the term keeps them below 2^97 / d. A step of Newton's method doubles them, and the last step makes them exact.
  const v2 = <u64>(<i64>(79228162514264337593543950336.0 / <f64>(<i64>(d >> 1)) - 0.001));
  const odd = d & 1;
  const e = ((v2 >> 1) & (0 - odd)) - v2 * ((d >> 1) + odd);
  const v3 = (high(v2, e) >> 1) + (v2 << 31);
  const low = v3 * d + d;
  return v3 - high(v3, d) - <u64>(low < d) - d;
}

/** floor((2^192 - 1) / (d1, d0)) - 2^64 for a divisor with its top bit set. */
function reciprocalOfTwo(d1: u64, d0: u64): u64 {
  let v = reciprocal(d1);
  let p = d1 * v + d0;
  if (p < d0) {
    v--;
    if (p >= d1) {
      v--;
      p -= d1;
    }
    p -= d1;
  }
  const upper = high(v, d0);
  const lower = v * d0;
  p += upper;
  if (p < upper) {
    v--;
    if (p > d1 || (p === d1 && lower >= d0)) v--;
  }
  return v;
}

// The last divisor's upper limbs and their reciprocal: contracts divide by the same number many times.
let knownTop: u64 = 0;
let knownNext: u64 = 0;
let known: u64 = 0;
let knownLimb: u64 = 0;
let knownOfLimb: u64 = 0;

/** Divides `count` limbs by one, which is not zero. Returns the remainder. */
export function divideByLimb(count: i32, divisor: u64): u64 {
  const up = i64.clz(divisor);
  const down = 63 - up;
  const d = divisor << up;
  if (d !== knownLimb) {
    knownOfLimb = reciprocal(d);
    knownLimb = d;
  }
  const v = knownOfLimb;
  let at: usize = (<usize>count - 1) << 3;
  let limb = load<u64>(DIVIDEND + at);
  let r = (limb >> 1) >> down;
  while (true) {
    const below = load<u64>(DIVIDEND + at - 8);
    const u = (limb << up) | ((below >> 1) >> down);
    const fraction = v * r + u;
    let q = high(v, r) + r + <u64>(fraction < u) + 1;
    r = u - q * d;
    const back = 0 - <u64>(r > fraction);
    q += back;
    r += d & back;
    if (r >= d) {
      q++;
      r -= d;
    }
    store<u64>(QUOTIENT + at, q);
    if (at === 0) break;
    at -= 8;
    limb = below;
  }
  return r >> up;
}

/**
 * Divides `count` limbs (4 to 8) by a word of two limbs or more. The divisor is shifted until its
 * top bit is set, and the dividend with it, so that all divisors take four limbs.
 */
export function divide(count: i32, divisor: usize, remainder: usize): void {
  let d0 = load<u64>(divisor);
  let d1 = load<u64>(divisor, 8);
  let d2 = load<u64>(divisor, 16);
  let d3 = load<u64>(divisor, 24);
  let empty: usize = 0;
  for (; d3 === 0; empty += 8) {
    d3 = d2;
    d2 = d1;
    d1 = d0;
    d0 = 0;
  }
  const up = i64.clz(d3);
  const down = 63 - up;
  d3 = (d3 << up) | ((d2 >> 1) >> down);
  d2 = (d2 << up) | ((d1 >> 1) >> down);
  d1 = (d1 << up) | ((d0 >> 1) >> down);
  d0 <<= up;

  if (d3 !== knownTop || d2 !== knownNext) {
    known = reciprocalOfTwo(d3, d2);
    knownTop = d3;
    knownNext = d2;
  }
  const v = known;

  const short = (d0 | d1) === 0;
  // Address of the shifted dividend's limb 0.
  const from = DIVIDEND - empty;
  let at: usize = ((<usize>count) << 3) + empty - 32;
  let limb = load<u64>(from + at + 24);
  let next = load<u64>(from + at + 16);
  let r3 = (limb >> 1) >> down;
  let r2 = (limb << up) | ((next >> 1) >> down);
  limb = load<u64>(from + at + 8);
  let r1 = (next << up) | ((limb >> 1) >> down);
  next = load<u64>(from + at);
  let r0 = (limb << up) | ((next >> 1) >> down);
  for (; ; at -= 8) {
    limb = load<u64>(from + at - 8);
    const u = (next << up) | ((limb >> 1) >> down);
    next = limb;
    let q: u64 = 0;
    if (r3 === 0 && r2 < d3) {
      r3 = r2;
      r2 = r1;
      r1 = r0;
      r0 = u;
    } else {
      let s0: u64;
      let s1: u64;
      let over: u64 = 0;
      if (r3 === d3 && r2 === d2) {
        // The largest limb: r - (2^64 - 1) d is r - 2^64 d + d, and the upper two limbs of r and d cancel out.
        q = ALL;
        s0 = d2 + r1;
        const carry = <u64>(s0 < r1);
        s1 = d3 + carry;
        over = <u64>(s1 < carry);
      } else {
        const fraction = v * r3 + r2;
        q = high(v, r3) + r3 + <u64>(fraction < r2);
        const p0 = q * d2;
        s0 = r1 - p0;
        s1 = r2 - q * d3 - high(q, d2) - <u64>(r1 < p0);
        s1 -= d3 + <u64>(s0 < d2);
        s0 -= d2;
        q++;
        // As likely as not: a mask costs less than a branch.
        const back = 0 - <u64>(s1 >= fraction);
        q += back;
        s0 += d2 & back;
        s1 += (d3 & back) + <u64>(s0 < (d2 & back));
        if (s1 > d3 || (s1 === d3 && s0 >= d2)) {
          q++;
          s1 -= d3 + <u64>(s0 < d2);
          s0 -= d2;
        }
      }
      if (short) {
        r3 = s1;
        r2 = s0;
        r1 = r0;
        r0 = u;
      } else {
        // The same with the lower two limbs: the quotient may be one too high.
        const p0 = q * d0;
        const carry = high(q, d0);
        const p1 = q * d1 + carry;
        const p2 = high(q, d1) + <u64>(p1 < carry);
        const b0 = <u64>(u < p0);
        const n1 = r0 - p1;
        const b1 = <u64>(r0 < p1) | <u64>(n1 < b0);
        const n2 = s0 - p2;
        const b2 = <u64>(s0 < p2) | <u64>(n2 < b1);
        r0 = u - p0;
        r1 = n1 - b0;
        r2 = n2 - b1;
        r3 = s1 - b2;
        if (<u64>(s1 < b2) > over) {
          q--;
          r0 += d0;
          const c0 = <u64>(r0 < d0);
          const m1 = r1 + d1;
          r1 = m1 + c0;
          const c1 = <u64>(m1 < d1) | <u64>(r1 < c0);
          const m2 = r2 + d2;
          r2 = m2 + c1;
          r3 += d3 + (<u64>(m2 < d2) | <u64>(r2 < c1));
        }
      }
    }
    store<u64>(QUOTIENT + at, q);
    if (at === 0) break;
  }

  // Undo the shift: the lowest `empty` bytes of the remainder are zero.
  store<u64>(SHIFTED, (r0 >> up) | ((r1 << 1) << down));
  store<u64>(SHIFTED, (r1 >> up) | ((r2 << 1) << down), 8);
  store<u64>(SHIFTED, (r2 >> up) | ((r3 << 1) << down), 16);
  store<u64>(SHIFTED, r3 >> up, 24);
  copy(SHIFTED + empty, remainder);
}
