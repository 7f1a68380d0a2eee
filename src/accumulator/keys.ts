import type { Hasher } from '../kernel/contracts.js';
import { requireLength } from '../primitives/bytes.js';
import { ACCOUNT_VALUE_BYTES, accountHashInput } from './account-value.js';
import { encodeAddress, encodeCode, encodeFull } from './scheme.js';

/**
 * `hkey` of an account: the hash of its address.
 *
 * @param address - 20 bytes
 * @returns 32 bytes
 * @throws PlumblineError `INVALID_LENGTH`
 *
 * @example
 * ```ts
 * import { bytesToHex, hashAddress, hexToBytes, loadHasher } from 'plumbline-l2/hash';
 *
 * const address = hexToBytes('0x7e57c0de00000000000000000000000000007e57');
 * const hkey = hashAddress(await loadHasher('poseidon2'), address);
 * bytesToHex(hkey); // => '0x423c39f9617b8d291eece0d637c68a844df3b8933c433cee1f555f646e274d13'
 * ```
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
 *
 * @example
 * ```ts
 * import { bytesToHex, hashWord, loadHasher } from 'plumbline-l2/hash';
 *
 * const hkey = hashWord(await loadHasher('poseidon2'), new Uint8Array(32));
 * bytesToHex(hkey); // => '0x225471e76dca970375f18cc4222539bf1893f40b2c28b7d62119af207704c426'
 * ```
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
 *
 * @example
 * ```ts
 * import { bytesToHex, hashCode, loadHasher } from 'plumbline-l2/hash';
 *
 * const zkCodeHash = hashCode(await loadHasher('poseidon2'), Uint8Array.of(0x60, 0x01));
 * bytesToHex(zkCodeHash); // => '0x2c7c197649f574c04e42c13e1bbe37b01747a23a1cf3903a38ecb6a55f6e6e65'
 * ```
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
 *
 * @example
 * ```ts
 * import { bytesToHex, encodeAccountValue, hashAccountValue, loadHasher } from 'plumbline-l2/hash';
 *
 * const word = new Uint8Array(32);
 * const account = { nonce: 7n, balance: 5n, storageRoot: word, zkCodeHash: word, keccakCodeHash: word, codeSize: 0n };
 * const hval = hashAccountValue(await loadHasher('poseidon2'), encodeAccountValue(account));
 * bytesToHex(hval); // => '0x6d2376c5694e9be606689a00276dea0333a1fe11770c85a213d659d369174b75'
 * ```
 */
export function hashAccountValue(hasher: Hasher, compact: Uint8Array): Uint8Array {
  requireLength('account value', compact, ACCOUNT_VALUE_BYTES);
  return hasher.hash(accountHashInput(hasher.scheme, compact));
}
