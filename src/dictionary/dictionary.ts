import type { DictionaryReference } from '../networks/network.js';
import { type Hex, hexToBytes } from '../primitives/hex.js';
import { type DictionaryAddress, fetchDictionary } from './fetch-dictionary.js';
import { dictionaryChecksum, verifyDictionary } from './verify.js';

/** A compression dictionary, ready for `loadCalldataSizer`. */
export interface Dictionary {
  /** The network's name for it; `general` for plumbline's own, `custom` for one that nobody named. */
  readonly name: string;
  readonly sha256: Hex;
  readonly bytes: Uint8Array;
  /** True when it was checked to be the one its network names; sizes with any other are approximations. */
  readonly networkOwn: boolean;
  /** Why it stands in for the network's own; absent where that was had, or not asked for. */
  readonly reason?: string;
}

/**
 * Loads a dictionary from bytes or an URL and checks it against what the network names.
 *
 * @param source - bytes (copied), or an address
 * @param reference - length and sha256 the bytes must have; without it any bytes are taken, as `custom`
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH`; for an URL also
 *   `DICTIONARY_UNREACHABLE`, `OUT_OF_RANGE` when the answer is too long for any dictionary, `ABORTED`
 * @source docs/spec/compression.md 9
 */
export async function loadDictionary(
  source: { readonly bytes: Uint8Array } | DictionaryAddress,
  reference?: DictionaryReference,
): Promise<Dictionary> {
  const bytes = 'bytes' in source ? source.bytes.slice() : await fetchDictionary(source);
  if (reference === undefined) {
    return { name: 'custom', sha256: dictionaryChecksum(bytes), bytes, networkOwn: false };
  }
  return { name: reference.name, sha256: verifyDictionary(bytes, reference), bytes, networkOwn: true };
}

/**
 * plumbline's own general dictionary: for devnets, and for estimates when a network's own cannot be had. Loaded on first
 * use, as a chunk of its own.
 */
export async function generalDictionary(): Promise<Dictionary> {
  const { general, sha256 } = await import('./general.generated.js');
  return { name: 'general', sha256: sha256 as Hex, bytes: hexToBytes(general), networkOwn: false };
}
