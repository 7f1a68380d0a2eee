import type { DictionaryReference } from '../networks/network.js';
import { copyBytes } from '../primitives/bytes.js';
import { type Hex, hexToBytes } from '../primitives/hex.js';
import { type DictionaryAddress, fetchDictionary } from './fetch-dictionary.js';
import { dictionaryChecksum, verifyDictionary } from './verify.js';

/** A compression dictionary, ready for `loadCalldataSizer`. */
export interface Dictionary {
  /** The network's name for it; `general` for plumbline's own; `custom` for bytes without a reference. */
  readonly name: string;
  readonly sha256: Hex;
  readonly bytes: Uint8Array;
  /** Whether it was verified as the network's own. Sizes with any other dictionary are approximations. */
  readonly networkOwn: boolean;
  /** Why it replaces the network's own dictionary; absent if that was loaded or not requested. */
  readonly reason?: string;
}

/**
 * Loads a dictionary from bytes or a URL and verifies it against the network's reference.
 *
 * @param source - bytes (copied), or an address
 * @param reference - required length and sha256; without it any bytes are accepted, as `custom`
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH`; for a URL also
 *   `DICTIONARY_UNREACHABLE`, `OUT_OF_RANGE` when the answer is too long for any dictionary, `ABORTED`
 * @source docs/spec/compression.md 9
 */
export async function loadDictionary(
  source: { readonly bytes: Uint8Array } | DictionaryAddress,
  reference?: DictionaryReference,
): Promise<Dictionary> {
  const bytes = 'bytes' in source ? copyBytes(source.bytes) : await fetchDictionary(source);
  if (reference === undefined) {
    return { name: 'custom', sha256: await dictionaryChecksum(bytes), bytes, networkOwn: false };
  }
  return { name: reference.name, sha256: await verifyDictionary(bytes, reference), bytes, networkOwn: true };
}

/**
 * plumbline's own general dictionary, for devnets, and for estimates when a network's own cannot be loaded. It is a
 * chunk of its own, loaded on first use.
 */
export async function generalDictionary(): Promise<Dictionary> {
  const { general, sha256 } = await import('./general.generated.js');
  return { name: 'general', sha256: sha256 as Hex, bytes: hexToBytes(general), networkOwn: false };
}
