import { add, combine, copy, subtract } from './field';
import { ELEMENT_BYTES, multiply, multiplyTwo, square } from './products';

/**
 * Points of y^2 = x^3 + 7. A point is X, Y, Z with x = X / Z and y = Y / Z, 108 bytes; the point at infinity is 0, 1, 0. An affine
 * point is x, y, 72 bytes, and never infinity. The formulas are those of Renes, Costello and Batina, "Complete addition formulas
 * for prime order elliptic curves" (2015), algorithms 8 and 9: they hold for every input, so no case is told apart. Their
 * constant 3b is 21. Comments give sizes other than 1 (products.ts).
 */
export const POINT_BYTES: usize = 108;
export const Y: usize = ELEMENT_BYTES;
export const Z: usize = 2 * ELEMENT_BYTES;
const THREE_B: i64 = 21;

const xx: usize = memory.data(36, 16);
const yy: usize = memory.data(36, 16);
const cross: usize = memory.data(36, 16);
const yz: usize = memory.data(36, 16);
const negated: usize = memory.data(36, 16);
const xz: usize = memory.data(36, 16);
const zz: usize = memory.data(36, 16);
const sum: usize = memory.data(36, 16);
const difference: usize = memory.data(36, 16);

export function setInfinity(point: usize): void {
  memory.fill(point, 0, POINT_BYTES);
  store<i32>(point, 1, Y);
}

/** `into = point + (x, y)`; `into` may be `point`. */
export function addAffine(point: usize, x: usize, y: usize, into: usize): void {
  multiply(point, x, xx);
  combine(xx, 3, xx, 0, xx);
  multiply(point + Y, y, yy);
  multiplyTwo(point, y, point + Y, x, cross);
  multiply(y, point + Z, yz);
  add(yz, point + Y, yz); // 2
  multiply(x, point + Z, xz);
  combine(xz, THREE_B, point, THREE_B, xz);
  combine(point + Z, THREE_B, point + Z, 0, zz);
  combine(yy, 1, zz, 1, sum);
  subtract(yy, zz, difference);
  negate(yz, negated); // 2
  multiplyTwo(cross, difference, negated, xz, into);
  multiplyTwo(difference, sum, xx, xz, into + Y);
  multiplyTwo(sum, yz, xx, cross, into + Z);
}

/** `into = 2 point`; `into` may be `point`. */
export function double(point: usize, into: usize): void {
  square(point + Y, yy);
  square(point + Z, zz);
  combine(zz, THREE_B, zz, 0, zz);
  multiply(point + Y, point + Z, yz);
  multiply(point, point + Y, cross);
  add(cross, cross, cross); // 2
  combine(yy, 1, zz, -3, difference);
  add(yy, zz, sum); // 2
  combine(yy, 8, yy, 0, yy);
  multiply(difference, cross, into);
  multiplyTwo(zz, yy, difference, sum, into + Y);
  multiply(yy, yz, into + Z);
}

export function negate(a: usize, into: usize): void {
  for (let i: usize = 0; i < ELEMENT_BYTES; i += 4) store<i32>(into + i, -load<i32>(a + i));
}

export function copyAffine(x: usize, y: usize, into: usize): void {
  copy(x, into);
  copy(y, into + Y);
  memory.fill(into + Z, 0, ELEMENT_BYTES);
  store<i32>(into, 1, Z);
}
