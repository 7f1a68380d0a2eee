import { DIGITS_BYTES, digitsOf } from './digits';
import { equal, fromWords, isOdd, isZero, squareRoot, toWords } from './field';
import { BETA_X, ENTRY_BYTES, oddMultiples, toAffine } from './multiples';
import { addAffine, double, negate, setInfinity, Y, Z } from './point';
import { multiply, square } from './products';
import * as scalar from './scalar';

/**
 * Recovery of a public key (SEC 1, version 2.0, section 4.1.6): the key is (s / r) R - (hash / r) G, where R is the point whose x
 * is r. Both scalars are divided in halves, and the four products share their doublings.
 */

/** The base point G, x and y. */
const BASE: usize = memory.data<i32>([
  0x16f81798, 0x0f940ad8, 0x138a3656, 0x17f9b65b, 0x10b07029, 0x114ae743, 0x0eb15681, 0x0fdf3b97, 0x0079be66,
  0x1b10d4b8, 0x023e847f, 0x01550667, 0x0f68914d, 0x108a8fd1, 0x1dfe0708, 0x11957693, 0x0ee4d478, 0x00483ada,
]);

const BASE_WIDTH: i32 = 8;
const BASE_ENTRIES: i32 = 64;
const WIDTH: i32 = 5;
const ENTRIES: i32 = 8;

const baseTable: usize = memory.data(6912, 16);
const table: usize = memory.data(864, 16);
let hasBaseTable = false;

const point: usize = memory.data(72, 16);
const cube: usize = memory.data(36, 16);
const negated: usize = memory.data(36, 16);
const inverse: usize = memory.data(32, 16);
const forBase: usize = memory.data(32, 16);
const forPoint: usize = memory.data(32, 16);
const half: usize = memory.data(20, 16);
const otherHalf: usize = memory.data(20, 16);
/** Digits of the halves for G, then of those for R. */
const digits: usize = memory.data(1056, 16);
const key: usize = memory.data(108, 16);

/**
 * Writes x and y of the key as eight words each.
 *
 * @param hash - with r and s behind it, eight words each
 * @returns false if r or s is not from 1 to n - 1, if no point has the x r, or if the key would be infinity
 */
export function recover(hash: usize, isYOdd: bool, into: usize): bool {
  const r = hash + 32;
  const s = hash + 64;
  if (!scalar.isInRange(r) || !scalar.isInRange(s) || !readPoint(r, isYOdd)) return false;
  scalar.invert(r, inverse);
  scalar.multiply(hash, inverse, forBase);
  scalar.negate(forBase, forBase);
  scalar.multiply(s, inverse, forPoint);
  combine();
  if (isZero(key + Z)) return false;
  toAffine(key, 1);
  toWords(key, into);
  toWords(key + Y, into + 32);
  return true;
}

/** Sets `point` to the one with this x. @returns false if there is none */
function readPoint(x: usize, isYOdd: bool): bool {
  fromWords(x, point);
  square(point, cube);
  multiply(cube, point, cube);
  store<i32>(cube, load<i32>(cube) + 7);
  squareRoot(cube, point + Y);
  square(point + Y, negated);
  if (!equal(negated, cube)) return false;
  // No point has the y 0, so one of both roots is odd.
  if (isOdd(point + Y) !== isYOdd) negate(point + Y, point + Y);
  return true;
}

/** Sets `key` to `forBase * G + forPoint * point`. */
function combine(): void {
  if (!hasBaseTable) {
    oddMultiples(BASE, BASE_ENTRIES, baseTable);
    hasBaseTable = true;
  }
  oddMultiples(point, ENTRIES, table);
  const length = max(writeDigits(forBase, BASE_WIDTH, digits), writeDigits(forPoint, WIDTH, digits + 2 * DIGITS_BYTES));
  setInfinity(key);
  for (let at = digits + ((<usize>length) << 1); at > digits; ) {
    at -= 2;
    double(key, key);
    addMultiple(baseTable, 0, load<i16>(at));
    addMultiple(baseTable, BETA_X, load<i16>(at + DIGITS_BYTES));
    addMultiple(table, 0, load<i16>(at + 2 * DIGITS_BYTES));
    addMultiple(table, BETA_X, load<i16>(at + 3 * DIGITS_BYTES));
  }
}

function writeDigits(factor: usize, width: i32, into: usize): i32 {
  scalar.divide(factor, half, otherHalf);
  return max(digitsOf(half, width, into), digitsOf(otherHalf, width, into + DIGITS_BYTES));
}

/** Adds the multiple of a table with this digit to `key`, times lambda if `x` is that of beta x. */
function addMultiple(from: usize, x: usize, digit: i32): void {
  if (digit === 0) return;
  const entry = from + <usize>(abs(digit) >> 1) * ENTRY_BYTES;
  if (digit > 0) addAffine(key, entry + x, entry + Y, key);
  else {
    negate(entry + Y, negated);
    addAffine(key, entry + x, negated, key);
  }
}
