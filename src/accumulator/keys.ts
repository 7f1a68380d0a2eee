import type { Hasher } from '../kernel/contracts.js';
import { accountHashInput } from './account-value.js';
import { encodeAddress, encodeFull } from './spread.js';

/** `hkey` of an account, from its address of 20 bytes. */
export function hashAddress(hasher: Hasher, address: Uint8Array): Uint8Array {
  return hasher.hash(encodeAddress(hasher.scheme, address));
}

/** `hkey` of a slot, or `hval` of its value, from 32 bytes. */
export function hashWord(hasher: Hasher, word: Uint8Array): Uint8Array {
  return hasher.hash(encodeFull(hasher.scheme, word));
}

/**
 * `hval` of an account, from its compact form of 192 bytes.
 *
 * @throws PlumblineError `HASH_INPUT_NOT_CANONICAL`
 */
export function hashAccountValue(hasher: Hasher, compact: Uint8Array): Uint8Array {
  return hasher.hash(accountHashInput(hasher.scheme, compact));
}
