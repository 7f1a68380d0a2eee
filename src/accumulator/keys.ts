import type { Hasher } from '../kernel/contracts.js';
import { requireLength } from '../primitives/bytes.js';
import { ACCOUNT_VALUE_BYTES, accountHashInput } from './account-value.js';
import { encodeAddress, encodeCode, encodeFull } from './spread.js';

/**
 * `hkey` of an account: the hash of its address.
 *
 * @param address - 20 bytes
 * @returns 32 bytes
 * @throws PlumblineError `INVALID_LENGTH`
 */
export function hashAddress(hasher: Hasher, address: Uint8Array): Uint8Array {
  requireLength('address', address, 20);
  return hasher.hash(encodeAddress(hasher.scheme, address));
}

/**
 * `hkey` of a slot, or `hval` of its value: the hash of 32 bytes of any content.
 *
 * @param word - 32 bytes
 * @returns 32 bytes
 * @throws PlumblineError `INVALID_LENGTH`
 */
export function hashWord(hasher: Hasher, word: Uint8Array): Uint8Array {
  requireLength('word', word, 32);
  return hasher.hash(encodeFull(hasher.scheme, word));
}

/**
 * zkCodeHash of byte code of any length. Empty code gives 32 zero bytes; an account that never had code has `emptyCodeHash`
 * of `schemeFormat` instead.
 *
 * @returns 32 bytes
 * @source docs/spec/hashing.md 3.1, 3.2
 */
export function hashCode(hasher: Hasher, code: Uint8Array): Uint8Array {
  return hasher.hash(encodeCode(hasher.scheme, code));
}

/**
 * `hval` of an account.
 *
 * @param compact - 192 bytes, as `encodeAccountValue` makes them
 * @returns 32 bytes
 * @throws PlumblineError `INVALID_LENGTH`; `HASH_INPUT_NOT_CANONICAL` when storage root or zkCodeHash is no digest of the
 *   scheme, or for mimc a number is not below the modulus
 */
export function hashAccountValue(hasher: Hasher, compact: Uint8Array): Uint8Array {
  requireLength('account value', compact, ACCOUNT_VALUE_BYTES);
  return hasher.hash(accountHashInput(hasher.scheme, compact));
}
