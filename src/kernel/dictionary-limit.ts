import { PlumblineError } from '../errors.js';
import { MAX_DICTIONARY } from './contracts.js';

/** @throws PlumblineError `OUT_OF_RANGE` for a dictionary that is too large */
export function requireDictionaryFits({ length }: Uint8Array): void {
  if (length <= MAX_DICTIONARY) return;
  throw new PlumblineError('OUT_OF_RANGE', `a dictionary must have at most ${MAX_DICTIONARY} bytes, got ${length}`, {
    what: 'dictionary',
    value: String(length),
    limit: `${MAX_DICTIONARY} bytes`,
  });
}
