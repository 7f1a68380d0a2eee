import { PlumblineError } from '../errors.js';
import { MAX_DICTIONARY } from './contracts.js';

/** @throws PlumblineError `OUT_OF_RANGE` for a dictionary that no sizer takes */
export function requireDictionaryFits({ length }: Uint8Array): void {
  if (length <= MAX_DICTIONARY) return;
  throw new PlumblineError('OUT_OF_RANGE', `a dictionary of ${length} bytes is too large`, {
    what: 'dictionary',
    value: String(length),
    limit: `${MAX_DICTIONARY} bytes`,
  });
}
