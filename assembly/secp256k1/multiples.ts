import { copy, invert } from './field';
import { addAffine, copyAffine, double, POINT_BYTES, Y, Z } from './point';
import { ELEMENT_BYTES, multiply } from './products';

/**
 * Tables of odd multiples of an affine point P: P, 3 P, 5 P and so on. An entry is x, y and beta x, 108 bytes: (beta x, y) is the
 * entry times lambda (scalar.ts).
 */
export const ENTRY_BYTES: usize = POINT_BYTES;
export const BETA_X: usize = 2 * ELEMENT_BYTES;

const BETA: usize = memory.data<i32>([
  0x119501ee, 0x09cb6143, 0x1d626570, 0x0092ea25, 0x034e99cf, 0x03cf561a, 0x1c41b991, 0x056caf80, 0x007ae96a,
]);

const twice: usize = memory.data(108, 16);
const inverse: usize = memory.data(36, 16);
const single: usize = memory.data(36, 16);
/** Products of the first Z, of the first two, and so on. */
const products: usize = memory.data(4608, 16);

/** Writes `count` entries, at most 128, for the point at `x`, with its y behind it. No multiple of it is infinity. */
export function oddMultiples(x: usize, count: i32, table: usize): void {
  copyAffine(x, x + Y, table);
  double(table, twice);
  toAffine(twice, 1);
  let entry = table;
  for (let i = 1; i < count; i++, entry += ENTRY_BYTES) addAffine(entry, twice, twice + Y, entry + ENTRY_BYTES);
  toAffine(table, count);
  for (let i = 0; i < count; i++, table += ENTRY_BYTES) multiply(table, BETA, table + BETA_X);
}

/** Makes points in a row affine, all with one inverse; none is infinity. Z is not kept. */
export function toAffine(points: usize, count: i32): void {
  copy(points + Z, products);
  let point = points;
  let product = products;
  for (let i = 1; i < count; i++, product += ELEMENT_BYTES) {
    point += POINT_BYTES;
    multiply(product, point + Z, product + ELEMENT_BYTES);
  }
  invert(product, inverse);
  for (; point > points; point -= POINT_BYTES) {
    product -= ELEMENT_BYTES;
    multiply(inverse, product, single);
    multiply(inverse, point + Z, inverse);
    scale(point, single);
  }
  scale(point, inverse);
}

function scale(point: usize, factor: usize): void {
  multiply(point, factor, point);
  multiply(point + Y, factor, point + Y);
}
