import { isPlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { Refusal } from '../verdict.js';

/** `hash()`; if a word is not canonical, throws a `Refusal` at the path `at`. */
export function orNotCanonical<Result>(hash: () => Result, at: string): Result {
  try {
    return hash();
  } catch (error) {
    if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
    throw new Refusal('NOT_CANONICAL', at, 'a word is not below the modulus of the hash');
  }
}

/** Digest of `bytes`, which are at the path `at` in the answer. */
export function strictHash(hasher: Hasher, bytes: Uint8Array, at: string): Uint8Array {
  return orNotCanonical(() => hasher.hash(bytes), at);
}
