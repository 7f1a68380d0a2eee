import { isPlumblineError, originOf, PlumblineError } from '../errors.js';
import { MAX_DICTIONARY, requireDictionaryFits } from '../kernel/contracts.js';
import type { DictionaryReference } from '../networks/network.js';
import { readAtMost } from '../primitives/bounded-input.js';
import { copyBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';

/** A compression dictionary, ready for `loadCalldataSizer`. */
export interface Dictionary {
  /** The network's name for the dictionary. `general`: plumbline's own. `custom`: bytes that were not compared with a reference. */
  readonly name: string;
  readonly sha256: Hex;
  readonly bytes: Uint8Array;
  /** Whether it was verified as the network's own. Sizes with any other dictionary are approximations. */
  readonly networkOwn: boolean;
  /** Why this dictionary replaces the network's own. Absent if the network's own was loaded or not requested. */
  readonly reason?: string;
}

/**
 * Loads a dictionary from bytes or a URL and verifies it against the network's reference.
 *
 * @param source - bytes (copied), or an address
 * @param reference - required length and sha256; without it all bytes that are short enough are accepted, as `custom`
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH`; `OUT_OF_RANGE` for more bytes than any dictionary may
 *   have; for a URL also `DICTIONARY_UNREACHABLE`, `ABORTED`
 * @source docs/spec/compression.md 9
 *
 * @example
 * ```ts
 * import { loadDictionary } from 'plumbline-l2/fees';
 *
 * const { name, bytes } = await loadDictionary({ bytes: Uint8Array.of(1, 2, 3) });
 * [name, bytes.length]; // => ['custom', 3]
 * ```
 */
export async function loadDictionary(
  source: { readonly bytes: Uint8Array } | DictionaryAddress,
  reference?: DictionaryReference,
): Promise<Dictionary> {
  const bytes = 'bytes' in source ? copyBytes(source.bytes) : await fetchDictionary(source);
  if (reference === undefined) {
    requireDictionaryFits(bytes);
    return { name: 'custom', sha256: await dictionaryChecksum(bytes), bytes, networkOwn: false };
  }
  return { name: reference.name, sha256: await verifyDictionary(bytes, reference), bytes, networkOwn: true };
}

/**
 * plumbline's general dictionary, for devnets, and for estimates if a network's own dictionary cannot be loaded. It is in a separate
 * chunk, which is loaded on first use.
 *
 * @example
 * ```ts
 * import { generalDictionary } from 'plumbline-l2/fees';
 *
 * const { name, bytes } = await generalDictionary();
 * [name, bytes.length]; // => ['general', 37424]
 * ```
 */
export async function generalDictionary(): Promise<Dictionary> {
  const { general, sha256 } = await import('./general.generated.js');
  let bytes: Uint8Array | undefined;
  return {
    name: 'general',
    sha256: sha256 as Hex,
    // Not before it is used: a devnet that starts sizes nothing yet.
    get bytes() {
      bytes ??= hexToBytes(general);
      return bytes;
    },
    networkOwn: false,
  };
}

/** Address of a dictionary, and options for fetching it. */
export interface DictionaryAddress {
  readonly url: string;
  /** Replacement for `fetch`, for hosts and tests. */
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
}

/**
 * Fetches a dictionary. Errors contain the origin only, because the path of a URL may contain a key.
 *
 * @param maxBytes - a longer answer is cut off and refused
 * @throws PlumblineError `DICTIONARY_UNREACHABLE`, with the HTTP status if there was one, also for a signal of
 *   `AbortSignal.timeout`; `OUT_OF_RANGE` for an answer that is too long; `ABORTED`
 */
async function fetchDictionary(address: DictionaryAddress, maxBytes = MAX_DICTIONARY): Promise<Uint8Array> {
  const { signal } = address;
  const origin = originOf(address.url);
  const request = address.fetch ?? globalThis.fetch;
  try {
    // Redirects are not followed, so no request goes to an unknown origin. In browsers a redirect has status 0.
    const rules = { credentials: 'omit', referrerPolicy: 'no-referrer', redirect: 'manual' } as const;
    const response = await request(address.url, { ...rules, ...(signal !== undefined && { signal }) });
    if (!response.ok) throw unreachable(origin, response.status === 0 ? undefined : response.status);
    const bytes = await readAtMost(response.body, maxBytes);
    if (bytes === undefined) throw tooLong(maxBytes);
    return bytes;
  } catch (error) {
    if (error instanceof PlumblineError) throw error;
    // The reason of a failed fetch may contain the URL, so it is not passed on.
    if (signal?.aborted && !isTimeout(signal.reason))
      throw new PlumblineError('ABORTED', 'loading the dictionary was aborted', {});
    throw unreachable(origin);
  }
}

/**
 * Whether the signal was aborted by `AbortSignal.timeout`: the address is slow, and the caller still wants an answer.
 */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

function unreachable(origin: string, status?: number): PlumblineError<'DICTIONARY_UNREACHABLE'> {
  const reason = status === undefined ? 'no answer' : `status ${status}`;
  return new PlumblineError('DICTIONARY_UNREACHABLE', `the dictionary cannot be loaded from ${origin}: ${reason}`, {
    origin,
    ...(status !== undefined && { status }),
  });
}

function tooLong(maxBytes: number): PlumblineError<'OUT_OF_RANGE'> {
  return new PlumblineError('OUT_OF_RANGE', `the dictionary is longer than ${maxBytes} bytes`, {
    what: 'dictionary',
    value: `over ${maxBytes} bytes`,
    limit: `${maxBytes} bytes`,
  });
}

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
async function dictionaryChecksum(bytes: Uint8Array): Promise<Hex> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle !== undefined) {
    return bytesToHex(new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
  }
  const { sha256 } = await import('@noble/hashes/sha2.js');
  return bytesToHex(sha256(bytes));
}

/** Cache of dictionaries across openings of a node. Keys are the sha256 of the bytes, in lower case. */
export interface DictionaryCache {
  /** The stored bytes. The caller verifies them. */
  get(sha256: Hex): Promise<Uint8Array | undefined>;
  put(sha256: Hex, bytes: Uint8Array): Promise<void>;
}

/** Sources of a network's dictionary. */
interface DictionarySources {
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
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH`, `OUT_OF_RANGE` for the user's bytes only;
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
