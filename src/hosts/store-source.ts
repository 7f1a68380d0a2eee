import type { MeteredStore } from '../store/metered-store.js';
import type { InlineExtras } from './inline-extras.js';
import type { NodeOptions } from './options.js';
import { requireStorage } from './storage-options.js';

/**
 * The store a node was given, or the database it was given the name of; undefined for a node in memory.
 *
 * @throws PlumblineError as `openIdbStore`; `INVALID_PARAMETER` for storage options that are none
 */
export async function openStore(options: NodeOptions, extras: InlineExtras): Promise<MeteredStore | undefined> {
  const { storage = {}, storeName } = options;
  requireStorage(storage);
  if (extras.store === undefined && storeName === undefined) return undefined;
  const { MeteredStore } = await import('../store/metered-store.js');
  if (extras.store !== undefined) return new MeteredStore(extras.store);
  const { openIdbStore } = await import('../store/idb-store.js');
  return new MeteredStore(await openIdbStore(storeName!, { durability: storage.durability }));
}
