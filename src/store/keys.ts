import { invalidParameter } from '../errors.js';
import type { Commit, Key } from './page-store.js';

/** @throws PlumblineError `INVALID_PARAMETER` unless the key is a string or a safe integer */
export function checkKey(key: Key): void {
  if (typeof key === 'string' || Number.isSafeInteger(key)) return;
  throw invalidParameter('key', 'must be a string or a safe integer');
}

/** Checks all keys and values of a commit. @throws PlumblineError `INVALID_PARAMETER` */
export function checkCommit({ expects = [], puts = [], deletes = [] }: Commit): void {
  for (const { key } of [...expects, ...deletes]) checkKey(key);
  for (const { key, value } of puts) {
    checkKey(key);
    checkValue(value);
  }
}

function checkValue(value: Uint8Array): void {
  if (value instanceof Uint8Array) return;
  throw invalidParameter('value', 'must be a Uint8Array');
}

/** Compares keys in the order of IndexedDB: numbers before strings, strings by code unit. */
export function compareKeys(a: Key, b: Key): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
