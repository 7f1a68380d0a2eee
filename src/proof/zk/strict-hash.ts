import { isPlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { Refusal } from '../verdict.js';

/** `hash()`, with a word that is not canonical turned into a refusal at `at`. */
export function orNotCanonical<Result>(hash: () => Result, at: string): Result {
  try {
    return hash();
  } catch (error) {
    if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
    throw new Refusal('NOT_CANONICAL', at, 'a word is not below the modulus of the hash');
  }
}

/** Digest of `bytes`, which stand at `at` in the answer. */
export function strictHash(hasher: Hasher, bytes: Uint8Array, at: string): Uint8Array {
  return orNotCanonical(() => hasher.hash(bytes), at);
}
