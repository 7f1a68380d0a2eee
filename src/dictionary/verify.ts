import { PlumblineError } from '../errors.js';
import type { DictionaryReference } from '../networks/network.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';

/**
 * Verifies that bytes are the network's dictionary.
 *
 * @returns their sha256
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH`
 */
export async function verifyDictionary(bytes: Uint8Array, reference: DictionaryReference): Promise<Hex> {
  const { name, byteLength } = reference;
  if (bytes.length !== byteLength) {
    throw new PlumblineError(
      'DICTIONARY_LENGTH_MISMATCH',
      `dictionary ${name} must have ${byteLength} bytes, got ${bytes.length}`,
      { expected: byteLength, actual: bytes.length },
    );
  }
  const expected = reference.sha256.toLowerCase();
  const actual = await dictionaryChecksum(bytes);
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

/** sha256 of a dictionary's bytes, in lower case. Pages without https have no `crypto.subtle`: they load the library. */
export async function dictionaryChecksum(bytes: Uint8Array): Promise<Hex> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle !== undefined) {
    return bytesToHex(new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
  }
  const { sha256 } = await import('@noble/hashes/sha2.js');
  return bytesToHex(sha256(bytes));
}
