import { sha256 } from '@noble/hashes/sha2.js';
import { PlumblineError } from '../errors.js';
import type { DictionaryReference } from '../networks/network.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';

/**
 * Whether bytes are the dictionary that a network names.
 *
 * @returns their sha256
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH`
 */
export function verifyDictionary(bytes: Uint8Array, reference: DictionaryReference): Hex {
  const { name, byteLength } = reference;
  if (bytes.length !== byteLength) {
    throw new PlumblineError(
      'DICTIONARY_LENGTH_MISMATCH',
      `dictionary ${name} has ${byteLength} bytes, these are ${bytes.length}`,
      { expected: byteLength, actual: bytes.length },
    );
  }
  const expected = reference.sha256.toLowerCase();
  const actual = dictionaryChecksum(bytes);
  if (actual !== expected) {
    throw new PlumblineError('DICTIONARY_CHECKSUM_MISMATCH', `dictionary ${name} has another sha256`, {
      expected,
      actual,
    });
  }
  return actual;
}

/** sha256 of a dictionary's bytes, by which networks name it. */
export function dictionaryChecksum(bytes: Uint8Array): Hex {
  return bytesToHex(sha256(bytes));
}
