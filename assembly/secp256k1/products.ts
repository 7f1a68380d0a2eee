// biome-ignore-all format: a column a line
// biome-ignore-all lint/style/useSingleVarDeclarator: the limbs are one number

/**
 * Products in the field of secp256k1: integers modulo p = 2^256 - 2^32 - 977.
 *
 * An element is nine signed limbs of 29 bits, least first, 36 bytes of memory. A limb may be larger than 29 bits and may be
 * negative, so sums and differences are taken limb by limb and carry nothing. The size of an element is its largest limb
 * over 2^29. Results here have size 1 (limbs between -2^24 and 2^29 + 2^24). Sums of columns must stay below 2^63: the product
 * of the sizes of two factors, added up over the products, may be at most 3.
 *
 * Columns from 2^261 on are folded down: 2^261 = 2^37 + 31264 modulo p, and 2^37 is 2^8 in the next limb.
 */
export const BITS: i64 = 29;
export const MASK: i64 = 0x1fffffff;
export const ELEMENT_BYTES: usize = 36;
export const FOLD_LOW: i64 = 31264;
export const FOLD_HIGH: i64 = 8;

/** `into = a * b` */
export function multiply(a: usize, b: usize, into: usize): void {
  const a0: i64 = load<i32>(a, 0), a1: i64 = load<i32>(a, 4), a2: i64 = load<i32>(a, 8), a3: i64 = load<i32>(a, 12), a4: i64 = load<i32>(a, 16), a5: i64 = load<i32>(a, 20), a6: i64 = load<i32>(a, 24), a7: i64 = load<i32>(a, 28), a8: i64 = load<i32>(a, 32);
  const b0: i64 = load<i32>(b, 0), b1: i64 = load<i32>(b, 4), b2: i64 = load<i32>(b, 8), b3: i64 = load<i32>(b, 12), b4: i64 = load<i32>(b, 16), b5: i64 = load<i32>(b, 20), b6: i64 = load<i32>(b, 24), b7: i64 = load<i32>(b, 28), b8: i64 = load<i32>(b, 32);
  let t: i64 = a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1;
  const h9 = t & MASK;
  t = (t >> BITS) + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2;
  const h10 = t & MASK;
  t = (t >> BITS) + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3;
  const h11 = t & MASK;
  t = (t >> BITS) + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4;
  const h12 = t & MASK;
  t = (t >> BITS) + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5;
  const h13 = t & MASK;
  t = (t >> BITS) + a6 * b8 + a7 * b7 + a8 * b6;
  const h14 = t & MASK;
  t = (t >> BITS) + a7 * b8 + a8 * b7;
  const h15 = t & MASK;
  t = (t >> BITS) + a8 * b8;
  const h16 = t & MASK;
  const h17 = t >> BITS;
  t = a0 * b0 + h9 * FOLD_LOW;
  let o0 = t & MASK;
  t = (t >> BITS) + a0 * b1 + a1 * b0 + h10 * FOLD_LOW + (h9 << FOLD_HIGH);
  let o1 = t & MASK;
  t = (t >> BITS) + a0 * b2 + a1 * b1 + a2 * b0 + h11 * FOLD_LOW + (h10 << FOLD_HIGH);
  let o2 = t & MASK;
  t = (t >> BITS) + a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 + h12 * FOLD_LOW + (h11 << FOLD_HIGH);
  const o3 = t & MASK;
  t = (t >> BITS) + a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0 + h13 * FOLD_LOW + (h12 << FOLD_HIGH);
  const o4 = t & MASK;
  t = (t >> BITS) + a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0 + h14 * FOLD_LOW + (h13 << FOLD_HIGH);
  const o5 = t & MASK;
  t = (t >> BITS) + a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0 + h15 * FOLD_LOW + (h14 << FOLD_HIGH);
  const o6 = t & MASK;
  t = (t >> BITS) + a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0 + h16 * FOLD_LOW + (h15 << FOLD_HIGH);
  const o7 = t & MASK;
  t = (t >> BITS) + a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0 + h17 * FOLD_LOW + (h16 << FOLD_HIGH);
  const o8 = t & MASK;
  const over = (t >> BITS) + (h17 << FOLD_HIGH);
  t = o0 + over * FOLD_LOW;
  o0 = t & MASK;
  t = (t >> BITS) + o1 + (over << FOLD_HIGH);
  o1 = t & MASK;
  o2 += t >> BITS;
  store<i32>(into, o0, 0);
  store<i32>(into, o1, 4);
  store<i32>(into, o2, 8);
  store<i32>(into, o3, 12);
  store<i32>(into, o4, 16);
  store<i32>(into, o5, 20);
  store<i32>(into, o6, 24);
  store<i32>(into, o7, 28);
  store<i32>(into, o8, 32);
}

/** `into = a * a` */
export function square(a: usize, into: usize): void {
  const a0: i64 = load<i32>(a, 0), a1: i64 = load<i32>(a, 4), a2: i64 = load<i32>(a, 8), a3: i64 = load<i32>(a, 12), a4: i64 = load<i32>(a, 16), a5: i64 = load<i32>(a, 20), a6: i64 = load<i32>(a, 24), a7: i64 = load<i32>(a, 28), a8: i64 = load<i32>(a, 32);
  const d0 = a0 << 1, d1 = a1 << 1, d2 = a2 << 1, d3 = a3 << 1, d4 = a4 << 1, d5 = a5 << 1, d6 = a6 << 1, d7 = a7 << 1;
  let t: i64 = d1 * a8 + d2 * a7 + d3 * a6 + d4 * a5;
  const h9 = t & MASK;
  t = (t >> BITS) + d2 * a8 + d3 * a7 + d4 * a6 + a5 * a5;
  const h10 = t & MASK;
  t = (t >> BITS) + d3 * a8 + d4 * a7 + d5 * a6;
  const h11 = t & MASK;
  t = (t >> BITS) + d4 * a8 + d5 * a7 + a6 * a6;
  const h12 = t & MASK;
  t = (t >> BITS) + d5 * a8 + d6 * a7;
  const h13 = t & MASK;
  t = (t >> BITS) + d6 * a8 + a7 * a7;
  const h14 = t & MASK;
  t = (t >> BITS) + d7 * a8;
  const h15 = t & MASK;
  t = (t >> BITS) + a8 * a8;
  const h16 = t & MASK;
  const h17 = t >> BITS;
  t = a0 * a0 + h9 * FOLD_LOW;
  let o0 = t & MASK;
  t = (t >> BITS) + d0 * a1 + h10 * FOLD_LOW + (h9 << FOLD_HIGH);
  let o1 = t & MASK;
  t = (t >> BITS) + d0 * a2 + a1 * a1 + h11 * FOLD_LOW + (h10 << FOLD_HIGH);
  let o2 = t & MASK;
  t = (t >> BITS) + d0 * a3 + d1 * a2 + h12 * FOLD_LOW + (h11 << FOLD_HIGH);
  const o3 = t & MASK;
  t = (t >> BITS) + d0 * a4 + d1 * a3 + a2 * a2 + h13 * FOLD_LOW + (h12 << FOLD_HIGH);
  const o4 = t & MASK;
  t = (t >> BITS) + d0 * a5 + d1 * a4 + d2 * a3 + h14 * FOLD_LOW + (h13 << FOLD_HIGH);
  const o5 = t & MASK;
  t = (t >> BITS) + d0 * a6 + d1 * a5 + d2 * a4 + a3 * a3 + h15 * FOLD_LOW + (h14 << FOLD_HIGH);
  const o6 = t & MASK;
  t = (t >> BITS) + d0 * a7 + d1 * a6 + d2 * a5 + d3 * a4 + h16 * FOLD_LOW + (h15 << FOLD_HIGH);
  const o7 = t & MASK;
  t = (t >> BITS) + d0 * a8 + d1 * a7 + d2 * a6 + d3 * a5 + a4 * a4 + h17 * FOLD_LOW + (h16 << FOLD_HIGH);
  const o8 = t & MASK;
  const over = (t >> BITS) + (h17 << FOLD_HIGH);
  t = o0 + over * FOLD_LOW;
  o0 = t & MASK;
  t = (t >> BITS) + o1 + (over << FOLD_HIGH);
  o1 = t & MASK;
  o2 += t >> BITS;
  store<i32>(into, o0, 0);
  store<i32>(into, o1, 4);
  store<i32>(into, o2, 8);
  store<i32>(into, o3, 12);
  store<i32>(into, o4, 16);
  store<i32>(into, o5, 20);
  store<i32>(into, o6, 24);
  store<i32>(into, o7, 28);
  store<i32>(into, o8, 32);
}

/** `into = a * b + c * d` */
export function multiplyTwo(a: usize, b: usize, c: usize, d: usize, into: usize): void {
  const a0: i64 = load<i32>(a, 0), a1: i64 = load<i32>(a, 4), a2: i64 = load<i32>(a, 8), a3: i64 = load<i32>(a, 12), a4: i64 = load<i32>(a, 16), a5: i64 = load<i32>(a, 20), a6: i64 = load<i32>(a, 24), a7: i64 = load<i32>(a, 28), a8: i64 = load<i32>(a, 32);
  const b0: i64 = load<i32>(b, 0), b1: i64 = load<i32>(b, 4), b2: i64 = load<i32>(b, 8), b3: i64 = load<i32>(b, 12), b4: i64 = load<i32>(b, 16), b5: i64 = load<i32>(b, 20), b6: i64 = load<i32>(b, 24), b7: i64 = load<i32>(b, 28), b8: i64 = load<i32>(b, 32);
  const c0: i64 = load<i32>(c, 0), c1: i64 = load<i32>(c, 4), c2: i64 = load<i32>(c, 8), c3: i64 = load<i32>(c, 12), c4: i64 = load<i32>(c, 16), c5: i64 = load<i32>(c, 20), c6: i64 = load<i32>(c, 24), c7: i64 = load<i32>(c, 28), c8: i64 = load<i32>(c, 32);
  const d0: i64 = load<i32>(d, 0), d1: i64 = load<i32>(d, 4), d2: i64 = load<i32>(d, 8), d3: i64 = load<i32>(d, 12), d4: i64 = load<i32>(d, 16), d5: i64 = load<i32>(d, 20), d6: i64 = load<i32>(d, 24), d7: i64 = load<i32>(d, 28), d8: i64 = load<i32>(d, 32);
  let t: i64 = a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1 + c1 * d8 + c2 * d7 + c3 * d6 + c4 * d5 + c5 * d4 + c6 * d3 + c7 * d2 + c8 * d1;
  const h9 = t & MASK;
  t = (t >> BITS) + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2 + c2 * d8 + c3 * d7 + c4 * d6 + c5 * d5 + c6 * d4 + c7 * d3 + c8 * d2;
  const h10 = t & MASK;
  t = (t >> BITS) + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3 + c3 * d8 + c4 * d7 + c5 * d6 + c6 * d5 + c7 * d4 + c8 * d3;
  const h11 = t & MASK;
  t = (t >> BITS) + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4 + c4 * d8 + c5 * d7 + c6 * d6 + c7 * d5 + c8 * d4;
  const h12 = t & MASK;
  t = (t >> BITS) + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5 + c5 * d8 + c6 * d7 + c7 * d6 + c8 * d5;
  const h13 = t & MASK;
  t = (t >> BITS) + a6 * b8 + a7 * b7 + a8 * b6 + c6 * d8 + c7 * d7 + c8 * d6;
  const h14 = t & MASK;
  t = (t >> BITS) + a7 * b8 + a8 * b7 + c7 * d8 + c8 * d7;
  const h15 = t & MASK;
  t = (t >> BITS) + a8 * b8 + c8 * d8;
  const h16 = t & MASK;
  const h17 = t >> BITS;
  t = a0 * b0 + c0 * d0 + h9 * FOLD_LOW;
  let o0 = t & MASK;
  t = (t >> BITS) + a0 * b1 + a1 * b0 + c0 * d1 + c1 * d0 + h10 * FOLD_LOW + (h9 << FOLD_HIGH);
  let o1 = t & MASK;
  t = (t >> BITS) + a0 * b2 + a1 * b1 + a2 * b0 + c0 * d2 + c1 * d1 + c2 * d0 + h11 * FOLD_LOW + (h10 << FOLD_HIGH);
  let o2 = t & MASK;
  t = (t >> BITS) + a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 + c0 * d3 + c1 * d2 + c2 * d1 + c3 * d0 + h12 * FOLD_LOW + (h11 << FOLD_HIGH);
  const o3 = t & MASK;
  t = (t >> BITS) + a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0 + c0 * d4 + c1 * d3 + c2 * d2 + c3 * d1 + c4 * d0 + h13 * FOLD_LOW + (h12 << FOLD_HIGH);
  const o4 = t & MASK;
  t = (t >> BITS) + a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0 + c0 * d5 + c1 * d4 + c2 * d3 + c3 * d2 + c4 * d1 + c5 * d0 + h14 * FOLD_LOW + (h13 << FOLD_HIGH);
  const o5 = t & MASK;
  t = (t >> BITS) + a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0 + c0 * d6 + c1 * d5 + c2 * d4 + c3 * d3 + c4 * d2 + c5 * d1 + c6 * d0 + h15 * FOLD_LOW + (h14 << FOLD_HIGH);
  const o6 = t & MASK;
  t = (t >> BITS) + a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0 + c0 * d7 + c1 * d6 + c2 * d5 + c3 * d4 + c4 * d3 + c5 * d2 + c6 * d1 + c7 * d0 + h16 * FOLD_LOW + (h15 << FOLD_HIGH);
  const o7 = t & MASK;
  t = (t >> BITS) + a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0 + c0 * d8 + c1 * d7 + c2 * d6 + c3 * d5 + c4 * d4 + c5 * d3 + c6 * d2 + c7 * d1 + c8 * d0 + h17 * FOLD_LOW + (h16 << FOLD_HIGH);
  const o8 = t & MASK;
  const over = (t >> BITS) + (h17 << FOLD_HIGH);
  t = o0 + over * FOLD_LOW;
  o0 = t & MASK;
  t = (t >> BITS) + o1 + (over << FOLD_HIGH);
  o1 = t & MASK;
  o2 += t >> BITS;
  store<i32>(into, o0, 0);
  store<i32>(into, o1, 4);
  store<i32>(into, o2, 8);
  store<i32>(into, o3, 12);
  store<i32>(into, o4, 16);
  store<i32>(into, o5, 20);
  store<i32>(into, o6, 24);
  store<i32>(into, o7, 28);
  store<i32>(into, o8, 32);
}
