import { type Dictionary, generalDictionary } from '../dictionary/dictionary.js';
import { type DictionaryCache, obtainDictionary } from '../dictionary/obtain-dictionary.js';
import { isPlumblineError } from '../errors.js';
import type { Network } from '../networks/network.js';
import type { PageStore } from '../store/page-store.js';
import type { DictionarySource } from './options.js';

/** How long the address of a dictionary may take before the general one stands in. */
const TIMEOUT_MS = 10_000;

/**
 * The dictionary that a node sizes with. Without a source it is the network's own, from the store or from the address of
 * the profile; for a network that names none it is the general one.
 *
 * @param store - keeps what was checked, by sha256; nothing is kept when left out
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH` for bytes that are not the network's;
 *   `STORE_UNAVAILABLE`
 */
export function resolveDictionary(
  source: DictionarySource | undefined,
  network: Network,
  store: PageStore | undefined,
): Promise<Dictionary> {
  if (source?.kind === 'general' || (source === undefined && network.dictionary === undefined)) {
    return generalDictionary();
  }
  return obtainDictionary(network.dictionary, {
    ...(source?.kind === 'bytes' && { bytes: source.bytes }),
    ...(source?.kind === 'url' && { url: source.url }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    cache: store && cacheIn(store),
  });
}

function cacheIn(store: PageStore): DictionaryCache {
  return {
    get: (sha256) => store.get('dictionaries', sha256),
    async put(sha256, bytes) {
      try {
        await store.commit({ puts: [{ table: 'dictionaries', key: sha256, value: bytes }] });
      } catch (error) {
        // A full disk costs one more fetch next time. What matters is that the dictionary in hand was checked.
        if (!isPlumblineError(error, 'STORE_QUOTA_EXCEEDED')) throw error;
      }
    },
  };
}
