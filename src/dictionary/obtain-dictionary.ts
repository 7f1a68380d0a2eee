import { isPlumblineError } from '../errors.js';
import type { DictionaryReference } from '../networks/network.js';
import type { Hex } from '../primitives/hex.js';
import { originOf } from '../primitives/origin.js';
import { type Dictionary, generalDictionary, loadDictionary } from './dictionary.js';

/** Cache of dictionaries across openings of a node. Keys are the sha256 of the bytes, in lower case. */
export interface DictionaryCache {
  /** The stored bytes. The caller verifies them. */
  get(sha256: Hex): Promise<Uint8Array | undefined>;
  put(sha256: Hex, bytes: Uint8Array): Promise<void>;
}

/** Sources of a network's dictionary. */
export interface DictionarySources {
  /** The user's own copy. */
  readonly bytes?: Uint8Array | undefined;
  /** Replaces the addresses in the reference. */
  readonly url?: string | undefined;
  /** Replacement for `fetch`, for hosts and tests. */
  readonly fetch?: typeof fetch | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Time limit of all downloads together, in place of `signal`; each address has an equal part of it. */
  readonly timeoutMs?: number | undefined;
  readonly cache?: DictionaryCache | undefined;
}

/**
 * The dictionary of a network: the user's bytes, else the cached copy, else from the first of its addresses that has it; verified by length and
 * sha256 each time. An invalid cached copy is fetched again. If the network's own dictionary cannot be loaded,
 * plumbline's general dictionary is used, and `reason` says why.
 *
 * @param reference - the network's; without it there is nothing to verify against, and nothing is cached
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH` for the user's bytes only;
 *   `ABORTED`; errors of the cache
 */
export async function obtainDictionary(
  reference: DictionaryReference | undefined,
  sources: DictionarySources = {},
): Promise<Dictionary> {
  const { bytes } = sources;
  // The user's bytes come before a cached copy, so that wrong bytes are noticed.
  if (bytes !== undefined) return saveToCache(await loadDictionary({ bytes }, reference), sources.cache);
  return (await cachedCopy(reference, sources.cache)) ?? fetched(reference, sources);
}

async function cachedCopy(
  reference: DictionaryReference | undefined,
  cache: DictionaryCache | undefined,
): Promise<Dictionary | undefined> {
  if (reference === undefined || cache === undefined) return undefined;
  const bytes = await cache.get(reference.sha256.toLowerCase() as Hex);
  if (bytes === undefined) return undefined;
  try {
    return await loadDictionary({ bytes }, reference);
  } catch (error) {
    if (isUnusable(error)) return undefined;
    throw error;
  }
}

async function fetched(
  reference: DictionaryReference | undefined,
  { url, fetch, signal, timeoutMs, cache }: DictionarySources,
): Promise<Dictionary> {
  const own = reference === undefined ? [] : [reference.url, ...(reference.mirrors ?? [])];
  const urls = (url === undefined ? own : [url]).filter((one) => one !== undefined);
  const reasons: string[] = [];
  for (const one of urls) {
    const until = timeoutMs === undefined ? signal : AbortSignal.timeout(Math.ceil(timeoutMs / urls.length));
    const address = { url: one, ...(fetch && { fetch }), ...(until && { signal: until }) };
    try {
      return await saveToCache(await loadDictionary(address, reference), cache);
    } catch (error) {
      if (!isUnusable(error)) throw error;
      // What could not be verified does not name its address.
      const origin = originOf(one);
      reasons.push(error.message.includes(origin) ? error.message : `${origin}: ${error.message}`);
    }
  }
  return generalInstead(reasons.join('; ') || 'no address of the dictionary is configured');
}

async function saveToCache(dictionary: Dictionary, cache: DictionaryCache | undefined): Promise<Dictionary> {
  if (dictionary.networkOwn) await cache?.put(dictionary.sha256, dictionary.bytes);
  return dictionary;
}

async function generalInstead(reason: string): Promise<Dictionary> {
  return { ...(await generalDictionary()), reason };
}

/** Whether an address or a cached copy failed to give the dictionary. */
function isUnusable(error: unknown): error is Error {
  return (
    isPlumblineError(error, 'DICTIONARY_UNREACHABLE') ||
    isPlumblineError(error, 'DICTIONARY_LENGTH_MISMATCH') ||
    isPlumblineError(error, 'DICTIONARY_CHECKSUM_MISMATCH') ||
    isPlumblineError(error, 'OUT_OF_RANGE')
  );
}
