import { PlumblineError } from '../errors.js';
import { MAX_DICTIONARY } from '../kernel/contracts.js';
import type { DictionaryReference } from '../networks/network.js';
import { copyBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';
import { originOf } from '../primitives/origin.js';
import { readAtMost } from '../primitives/read-at-most.js';

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
    return { name: 'custom', sha256: await dictionaryChecksum(bytes), bytes, networkOwn: false };
  }
  return { name: reference.name, sha256: await verifyDictionary(bytes, reference), bytes, networkOwn: true };
}

/**
 * plumbline's own general dictionary, for devnets, and for estimates when a network's own cannot be loaded. It is a
 * chunk of its own, loaded on first use.
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
  return { name: 'general', sha256: sha256 as Hex, bytes: hexToBytes(general), networkOwn: false };
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
