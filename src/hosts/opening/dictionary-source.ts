import { type Dictionary, generalDictionary } from '../../dictionary/dictionary.js';
import { type DictionaryCache, obtainDictionary } from '../../dictionary/obtain-dictionary.js';
import type { Network } from '../../networks/network.js';
import type { PageStore } from '../../store/page-store.js';
import type { DictionarySource } from '../options/options.js';

/** Time limit of the downloads, after which the general dictionary is used. */
const TIMEOUT_MS = 10_000;
const BUDGET_BYTES = 2 ** 20;

/**
 * The dictionary that a node sizes transactions with. Without a source it is the network's own, from the store or from the
 * URL of the profile; for a network without a dictionary it is the general one.
 *
 * @param store - caches checked dictionaries by sha256; no cache when left out
 * @param budgetBytes - limit of the cache; 1 MiB when left out
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH` for bytes that are not the network's
 */
export function resolveDictionary(
  source: DictionarySource | undefined,
  network: Network,
  store: PageStore | undefined,
  budgetBytes: number = BUDGET_BYTES,
): Promise<Dictionary> {
  if (source?.kind === 'general' || (source === undefined && network.dictionary === undefined)) {
    return generalDictionary();
  }
  return obtainDictionary(network.dictionary, {
    ...(source?.kind === 'bytes' && { bytes: source.bytes }),
    ...(source?.kind === 'url' && { url: source.url }),
    timeoutMs: TIMEOUT_MS,
    cache: store && cacheIn(store, budgetBytes),
  });
}

function cacheIn(store: PageStore, budgetBytes: number): DictionaryCache {
  const table = async () => {
    const [{ BudgetedTable }, { WriteBehind }] = await Promise.all([
      import('../../store/budgeted-table.js'),
      import('../../store/write-behind.js'),
    ]);
    const writer = new WriteBehind(store);
    return { writer, kept: new BudgetedTable(writer, 'dictionaries', budgetBytes) };
  };
  return {
    async get(sha256) {
      return (await table()).kept.get(sha256);
    },
    async put(sha256, bytes) {
      const { writer, kept } = await table();
      await kept.put(sha256, bytes);
      await writer.flush();
    },
  };
}
