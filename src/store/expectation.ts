import { PlumblineError } from '../errors.js';
import { equalBytes } from '../primitives/bytes.js';

/** Whether a store holds what a commit expects of it. */
export function isAsExpected(held: unknown, value: Uint8Array | undefined): boolean {
  if (value === undefined) return held === undefined;
  return held instanceof Uint8Array && equalBytes(held, value);
}

/** Thrown instead of carrying out a commit that expects something else. */
export function takenOver(): PlumblineError<'STORE_TAKEN_OVER'> {
  return new PlumblineError('STORE_TAKEN_OVER', 'another page or worker writes to the store now', {});
}
