import { isPlumblineError } from '../errors.js';
import type { DictionaryReference } from '../networks/network.js';
import type { Hex } from '../primitives/hex.js';
import { type Dictionary, generalDictionary, loadDictionary } from './dictionary.js';

/** Where dictionaries stay between two openings of a node, by the sha256 of their bytes in lower case. */
export interface DictionaryCache {
  /** What was put under `sha256`, as it is now: whoever asks checks it. */
  get(sha256: Hex): Promise<Uint8Array | undefined>;
  put(sha256: Hex, bytes: Uint8Array): Promise<void>;
}

/** Where a network's dictionary may be had. */
export interface DictionaryMeans {
  /** The user's own copy. */
  readonly bytes?: Uint8Array | undefined;
  /** Instead of the address that the reference names. */
  readonly url?: string | undefined;
  /** `fetch` of another kind, for hosts and tests. */
  readonly fetch?: typeof fetch | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly cache?: DictionaryCache | undefined;
}

/**
 * The dictionary that a network names: the user's bytes, else the cached copy, else what its address gives, checked against
 * length and sha256 each time. A cached copy that does not pass is fetched again. When the network's own is not to be had,
 * plumbline's general dictionary stands in, and `reason` says why.
 *
 * @param reference - what the network names; without it there is nothing to check against, and nothing is cached
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH` for the user's bytes only; `ABORTED`;
 *   those of the cache
 */
export async function obtainDictionary(
  reference: DictionaryReference | undefined,
  means: DictionaryMeans = {},
): Promise<Dictionary> {
  const { bytes } = means;
  // The user's bytes come first even where a copy is held: wrong ones must not go unnoticed.
  if (bytes !== undefined) return kept(await loadDictionary({ bytes }, reference), means.cache);
  return (await heldCopy(reference, means.cache)) ?? fetched(reference, means);
}

async function heldCopy(
  reference: DictionaryReference | undefined,
  cache: DictionaryCache | undefined,
): Promise<Dictionary | undefined> {
  if (reference === undefined || cache === undefined) return undefined;
  const bytes = await cache.get(reference.sha256.toLowerCase() as Hex);
  if (bytes === undefined) return undefined;
  try {
    return await loadDictionary({ bytes }, reference);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

async function fetched(
  reference: DictionaryReference | undefined,
  { url = reference?.url, fetch, signal, cache }: DictionaryMeans,
): Promise<Dictionary> {
  if (url === undefined) return standIn('no address of the dictionary is known');
  let dictionary: Dictionary;
  try {
    dictionary = await loadDictionary({ url, ...(fetch && { fetch }), ...(signal && { signal }) }, reference);
  } catch (error) {
    if (isRefusal(error)) return standIn(error.message);
    throw error;
  }
  return kept(dictionary, cache);
}

async function kept(dictionary: Dictionary, cache: DictionaryCache | undefined): Promise<Dictionary> {
  if (dictionary.networkOwn) await cache?.put(dictionary.sha256, dictionary.bytes);
  return dictionary;
}

async function standIn(reason: string): Promise<Dictionary> {
  return { ...(await generalDictionary()), reason };
}

/** True when an address or a copy did not give the dictionary, for whatever reason of its own. */
function isRefusal(error: unknown): error is Error {
  return (
    isPlumblineError(error, 'DICTIONARY_UNREACHABLE') ||
    isPlumblineError(error, 'DICTIONARY_LENGTH_MISMATCH') ||
    isPlumblineError(error, 'DICTIONARY_CHECKSUM_MISMATCH') ||
    isPlumblineError(error, 'OUT_OF_RANGE')
  );
}
