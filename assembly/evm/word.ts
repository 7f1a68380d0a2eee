/**
 * 256-bit words in memory: copies, comparisons, sums and products. A word is four little-endian 64-bit limbs, least significant
 * first. Operands are pointers; the result may take the place of an operand, because it is written last. Signed words are in
 * two's complement.
 */

const LOW: u64 = 0xffffffff;

/** Writes a word from its limbs. */
export function put(out: usize, r0: u64, r1: u64, r2: u64, r3: u64): void {
  store<u64>(out, r0);
  store<u64>(out, r1, 8);
  store<u64>(out, r2, 16);
  store<u64>(out, r3, 24);
}

/** Upper 64 bits of a product. */
export function high(a: u64, b: u64): u64 {
  const a0 = a & LOW;
  const a1 = a >> 32;
  const b0 = b & LOW;
  const b1 = b >> 32;
  const middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & LOW)) >> 32);
}

export function zero(out: usize): void {
  put(out, 0, 0, 0, 0);
}

/** A word of one limb. */
export function setU64(value: u64, out: usize): void {
  put(out, value, 0, 0, 0);
}

/** By limbs in both builds: a vector load of limbs just stored waits until they have left the processor's store queue. */
export function copy(src: usize, out: usize): void {
  put(out, load<u64>(src), load<u64>(src, 8), load<u64>(src, 16), load<u64>(src, 24));
}

/** Copies an address, 20 bytes. An engine calls a function for `memory.copy`, also for few bytes. */
export function copyAddress(src: usize, out: usize): void {
  store<u64>(out, load<u64>(src));
  store<u64>(out, load<u64>(src, 8), 8);
  store<u32>(out, load<u32>(src, 16), 16);
}

/** Reads 32 big-endian bytes. */
export function fromBytes(src: usize, out: usize): void {
  if (ASC_FEATURE_SIMD) {
    const order = i8x16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const first = v128.load(src);
    const second = v128.load(src, 16);
    v128.store(out, i8x16.swizzle(second, order));
    v128.store(out, i8x16.swizzle(first, order), 16);
  } else
    put(out, bswap(load<u64>(src, 24)), bswap(load<u64>(src, 16)), bswap(load<u64>(src, 8)), bswap(load<u64>(src)));
}

/** Writes 32 big-endian bytes. */
export function toBytes(src: usize, out: usize): void {
  if (ASC_FEATURE_SIMD) {
    // Loads limb by limb, for the reason given at `copy`.
    const order = i8x16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const first = v128.load_lane<u64>(src + 8, v128.load64_zero(src), 1);
    const second = v128.load_lane<u64>(src + 24, v128.load64_zero(src + 16), 1);
    v128.store(out, i8x16.swizzle(second, order));
    v128.store(out, i8x16.swizzle(first, order), 16);
  } else fromBytes(src, out);
}

export function isZero(a: usize): bool {
  return (load<u64>(a) | load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)) === 0;
}

export function eq(a: usize, b: usize): bool {
  const low = (load<u64>(a) ^ load<u64>(b)) | (load<u64>(a, 8) ^ load<u64>(b, 8));
  return (low | (load<u64>(a, 16) ^ load<u64>(b, 16)) | (load<u64>(a, 24) ^ load<u64>(b, 24))) === 0;
}

/** a < b, without sign */
export function lt(a: usize, b: usize): bool {
  let x = load<u64>(a, 24);
  let y = load<u64>(b, 24);
  if (x !== y) return x < y;
  x = load<u64>(a, 16);
  y = load<u64>(b, 16);
  if (x !== y) return x < y;
  x = load<u64>(a, 8);
  y = load<u64>(b, 8);
  if (x !== y) return x < y;
  return load<u64>(a) < load<u64>(b);
}

/** a < b, with sign */
export function slt(a: usize, b: usize): bool {
  const x = load<i64>(a, 24);
  const y = load<i64>(b, 24);
  return (x ^ y) < 0 ? x < 0 : lt(a, b);
}

/** Significant bytes of a word: 0 to 32. */
export function byteLength(a: usize): i32 {
  for (let at: i32 = 24; at >= 0; at -= 8) {
    const limb = load<u64>(a + at);
    if (limb !== 0) return at + 8 - (<i32>i64.clz(limb) >> 3);
  }
  return 0;
}

/** Significant limbs of a word: 0 to 4. */
export function limbs(a: usize): i32 {
  return (byteLength(a) + 7) >> 3;
}

export function add(a: usize, b: usize, out: usize): void {
  const b0 = load<u64>(b);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const r0 = load<u64>(a) + b0;
  const s1 = load<u64>(a, 8) + b1;
  const r1 = s1 + <u64>(r0 < b0);
  const s2 = load<u64>(a, 16) + b2;
  const r2 = s2 + (<u64>(s1 < b1) | <u64>(r1 < s1));
  put(out, r0, r1, r2, load<u64>(a, 24) + load<u64>(b, 24) + (<u64>(s2 < b2) | <u64>(r2 < s2)));
}

/** a - b */
export function sub(a: usize, b: usize, out: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const b0 = load<u64>(b);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const c0 = <u64>(a0 < b0);
  const s1 = a1 - b1;
  const c1 = <u64>(a1 < b1) | <u64>(s1 < c0);
  const s2 = a2 - b2;
  const c2 = <u64>(a2 < b2) | <u64>(s2 < c1);
  put(out, a0 - b0, s1 - c0, s2 - c1, load<u64>(a, 24) - load<u64>(b, 24) - c2);
}

/** By 64-bit limbs: six full products and four whose upper half is not needed. */
export function mul(a: usize, b: usize, out: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  const b0 = load<u64>(b);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  const b3 = load<u64>(b, 24);
  let r1 = high(a0, b0);
  if ((a1 | a2 | a3 | b1 | b2 | b3) === 0) {
    put(out, a0 * b0, r1, 0, 0);
    return;
  }
  let p = a0 * b1;
  r1 += p;
  let carry = <u64>(r1 < p);
  p = a1 * b0;
  r1 += p;
  carry += <u64>(r1 < p);
  let r2 = a0 * b2 + carry;
  let r3 = high(a0, b2) + a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 + <u64>(r2 < carry);
  p = high(a0, b1);
  r2 += p;
  r3 += <u64>(r2 < p);
  p = high(a1, b0);
  r2 += p;
  r3 += <u64>(r2 < p);
  p = a1 * b1;
  r2 += p;
  r3 += high(a1, b1) + <u64>(r2 < p);
  p = a2 * b0;
  r2 += p;
  r3 += high(a2, b0) + <u64>(r2 < p);
  put(out, a0 * b0, r1, r2, r3);
}

export function square(a: usize, out: usize): void {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  if ((a1 | a2 | a3) === 0) {
    put(out, a0 * a0, high(a0, a0), 0, 0);
    return;
  }
  let p = a0 * a1;
  const h = high(a0, a1);
  const p1 = p << 1;
  const r1 = high(a0, a0) + p1;
  const carry = <u64>(r1 < p1);
  // Twice the products of limbs that differ, limb 2 and 3.
  p = a0 * a2;
  let r2 = h + p;
  let r3 = high(a0, a2) + <u64>(r2 < p) + a0 * a3 + a1 * a2;
  r3 = (r3 << 1) | (r2 >> 63);
  r2 = (r2 << 1) | ((a0 * a1) >> 63);
  p = a1 * a1;
  const s2 = r2 + carry;
  r3 += high(a1, a1) + <u64>(s2 < carry);
  r2 = s2 + p;
  put(out, a0 * a0, r1, r2, r3 + <u64>(r2 < p));
}
