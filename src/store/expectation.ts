import { PlumblineError } from '../errors.js';
import { equalBytes } from '../primitives/bytes.js';

/** Whether a store holds the value that a commit expects. @param value - undefined for a missing entry */
export function isAsExpected(held: unknown, value: Uint8Array | undefined): boolean {
  if (value === undefined) return held === undefined;
  return held instanceof Uint8Array && equalBytes(held, value);
}

/** The error of a commit whose expectations are not met. */
export function takenOver(): PlumblineError<'STORE_TAKEN_OVER'> {
  return new PlumblineError(
    'STORE_TAKEN_OVER',
    'another page or worker is the writer of the store now; send the request again',
    {},
  );
}
