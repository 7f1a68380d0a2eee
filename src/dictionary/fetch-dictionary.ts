import { PlumblineError } from '../errors.js';
import { MAX_DICTIONARY } from '../kernel/contracts.js';
import { originOf } from '../primitives/origin.js';
import { readAtMost } from '../primitives/read-at-most.js';

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
export async function fetchDictionary(address: DictionaryAddress, maxBytes = MAX_DICTIONARY): Promise<Uint8Array> {
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
