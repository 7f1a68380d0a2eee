import { invalidParameter } from '../errors.js';
import type { Key } from './page-store.js';

/** @throws PlumblineError `INVALID_PARAMETER` unless the key is a string or a safe integer */
export function checkKey(key: Key): void {
  if (typeof key === 'string' || Number.isSafeInteger(key)) return;
  throw invalidParameter('key', 'must be a string or a safe integer');
}

/** @throws PlumblineError `INVALID_PARAMETER` unless the value is bytes */
export function checkValue(value: Uint8Array): void {
  if (value instanceof Uint8Array) return;
  throw invalidParameter('value', 'must be a Uint8Array');
}

/** Order of keys in every store, IndexedDB's: numbers before strings, strings by code unit. */
export function compareKeys(a: Key, b: Key): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
