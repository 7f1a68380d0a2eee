import { sha256 } from '@noble/hashes/sha2.js';
import { PlumblineError } from '../errors.js';
import type { DictionaryReference } from '../networks/network.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';

/**
 * Verifies that bytes are the network's dictionary.
 *
 * @returns their sha256
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH`
 */
export function verifyDictionary(bytes: Uint8Array, reference: DictionaryReference): Hex {
  const { name, byteLength } = reference;
  if (bytes.length !== byteLength) {
    throw new PlumblineError(
      'DICTIONARY_LENGTH_MISMATCH',
      `dictionary ${name} must have ${byteLength} bytes, got ${bytes.length}`,
      { expected: byteLength, actual: bytes.length },
    );
  }
  const expected = reference.sha256.toLowerCase();
  const actual = dictionaryChecksum(bytes);
  if (actual !== expected) {
    throw new PlumblineError(
      'DICTIONARY_CHECKSUM_MISMATCH',
      `dictionary ${name} has sha256 ${actual}, expected ${expected}`,
      {
        expected,
        actual,
      },
    );
  }
  return actual;
}

/** sha256 of a dictionary's bytes, in lower case. */
export function dictionaryChecksum(bytes: Uint8Array): Hex {
  return bytesToHex(sha256(bytes));
}
