import { LIMBS_BYTES, limbsOf, wordsOf } from './limbs';

/**
 * Inverses by the division steps of Bernstein and Yang ("Fast constant-time gcd computation and modular inversion", 2019), 30
 * at a time: the steps look only at the lowest bits of f and g, so a matrix of 30 steps is found in machine words and then
 * applied to the whole numbers. Numbers are public, so the time may depend on them.
 *
 * Numbers are nine limbs of 30 bits, least first, the last one signed.
 */
const LAST: usize = 32;
const BITS: i64 = 30;
const MASK: i64 = 0x3fffffff;

const f: usize = memory.data(36, 16);
const g: usize = memory.data(36, 16);
/** `d = f / x` and `e = g / x` modulo the modulus, between minus twice the modulus and the modulus. */
const d: usize = memory.data(36, 16);
const e: usize = memory.data(36, 16);

// The matrix of 30 steps, times 2^30: f' = (u f + v g) / 2^30, g' = (q f + r g) / 2^30.
let u: i32 = 0;
let v: i32 = 0;
let q: i32 = 0;
let r: i32 = 0;

/**
 * `into = 1 / x` modulo a prime of moduli.ts; 0 for 0.
 *
 * @param x - eight words of 32 bits, least first, below the modulus
 */
export function invertWords(x: usize, modulus: usize, into: usize): void {
  memory.copy(f, modulus, LIMBS_BYTES);
  limbsOf(x, BITS, g);
  memory.fill(d, 0, LIMBS_BYTES);
  memory.fill(e, 0, LIMBS_BYTES);
  store<i32>(e, 1);
  let eta: i32 = -1;
  while (!isZero(g)) {
    eta = steps(eta, load<u32>(f) | (load<u32>(f, 4) << 30), load<u32>(g) | (load<u32>(g, 4) << 30));
    applyModulo(modulus);
    apply();
  }
  // f is 1 or -1 now.
  finish(load<i32>(f, LAST) < 0, modulus);
  wordsOf(d, BITS, into);
}

/** 30 division steps on the lowest bits of f and g. @returns the new eta, minus the delta of the paper */
function steps(eta: i32, low: u32, other: u32): i32 {
  let a: i32 = 1;
  let b: i32 = 0;
  let c: i32 = 0;
  let e: i32 = 1;
  let left: i32 = 30;
  for (;;) {
    // A step that finds g even halves it.
    const zeros = ctz<i32>(other | ((<u32>0xffffffff) << left));
    other >>= zeros;
    a <<= zeros;
    b <<= zeros;
    eta -= zeros;
    left -= zeros;
    if (left === 0) break;
    if (eta < 0) {
      eta = -eta;
      const wasLow = low;
      low = other;
      other = -wasLow;
      const wasA = a;
      a = c;
      c = -wasA;
      const wasB = b;
      b = e;
      e = -wasB;
    }
    // Until f and g change places again, g gets a multiple of f that makes up to six of its lowest bits zero.
    const limit = min<i32>(min<i32>(eta + 1, left), 6);
    const times = (low * other * (low * low - 2)) & ((1 << limit) - 1);
    other += low * times;
    c += a * times;
    e += b * times;
  }
  u = a;
  v = b;
  q = c;
  r = e;
  return eta;
}

/** The matrix on f and g. */
function apply(): void {
  let f0: i64 = load<i32>(f);
  let g0: i64 = load<i32>(g);
  let forF: i64 = (<i64>u * f0 + <i64>v * g0) >> BITS;
  let forG: i64 = (<i64>q * f0 + <i64>r * g0) >> BITS;
  for (let i: usize = 4; i < LIMBS_BYTES; i += 4) {
    f0 = load<i32>(f + i);
    g0 = load<i32>(g + i);
    forF += <i64>u * f0 + <i64>v * g0;
    forG += <i64>q * f0 + <i64>r * g0;
    store<i32>(f + i - 4, <i32>(forF & MASK));
    store<i32>(g + i - 4, <i32>(forG & MASK));
    forF >>= BITS;
    forG >>= BITS;
  }
  store<i32>(f, <i32>forF, LAST);
  store<i32>(g, <i32>forG, LAST);
}

/** The matrix on d and e, with the multiple of the modulus that makes the sums divisible by 2^30. */
function applyModulo(modulus: usize): void {
  const signD = load<i32>(d, LAST) >> 31;
  const signE = load<i32>(e, LAST) >> 31;
  // A negative number gets the modulus, so that the results stay between minus twice the modulus and the modulus.
  let timesD: i64 = (u & signD) + (v & signE);
  let timesE: i64 = (q & signD) + (r & signE);
  let d0: i64 = load<i32>(d);
  let e0: i64 = load<i32>(e);
  let m0: i64 = load<i32>(modulus);
  const inverse: i64 = load<i32>(modulus, LIMBS_BYTES);
  let forD: i64 = <i64>u * d0 + <i64>v * e0;
  let forE: i64 = <i64>q * d0 + <i64>r * e0;
  timesD -= (inverse * forD + timesD) & MASK;
  timesE -= (inverse * forE + timesE) & MASK;
  forD = (forD + m0 * timesD) >> BITS;
  forE = (forE + m0 * timesE) >> BITS;
  for (let i: usize = 4; i < LIMBS_BYTES; i += 4) {
    d0 = load<i32>(d + i);
    e0 = load<i32>(e + i);
    m0 = load<i32>(modulus + i);
    forD += <i64>u * d0 + <i64>v * e0 + m0 * timesD;
    forE += <i64>q * d0 + <i64>r * e0 + m0 * timesE;
    store<i32>(d + i - 4, <i32>(forD & MASK));
    store<i32>(e + i - 4, <i32>(forE & MASK));
    forD >>= BITS;
    forE >>= BITS;
  }
  store<i32>(d, <i32>forD, LAST);
  store<i32>(e, <i32>forE, LAST);
}

/** Brings d between 0 and the modulus, negated first if f is -1. */
function finish(negate: bool, modulus: usize): void {
  if (load<i32>(d, LAST) < 0) addToD(1, modulus, 1);
  if (negate) addToD(-1, modulus, 0);
  if (load<i32>(d, LAST) < 0) addToD(1, modulus, 1);
  if (load<i32>(d, LAST) < 0) addToD(1, modulus, 1);
}

/** `d = d * sign + modulus * times` */
function addToD(sign: i64, modulus: usize, times: i64): void {
  let carry: i64 = 0;
  for (let i: usize = 0; i < LAST; i += 4) {
    carry += <i64>load<i32>(d + i) * sign + <i64>load<i32>(modulus + i) * times;
    store<i32>(d + i, <i32>(carry & MASK));
    carry >>= BITS;
  }
  store<i32>(d, <i32>(carry + <i64>load<i32>(d, LAST) * sign + <i64>load<i32>(modulus, LAST) * times), LAST);
}

function isZero(number: usize): bool {
  let all: i32 = 0;
  for (let i: usize = 0; i < LIMBS_BYTES; i += 4) all |= load<i32>(number + i);
  return all === 0;
}
