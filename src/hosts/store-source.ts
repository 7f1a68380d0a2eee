import type { PageStore } from '../store/page-store.js';
import type { InlineExtras } from './inline-extras.js';
import type { NodeOptions } from './options.js';

/**
 * The store a node was given, or the database it was given the name of; undefined for a node in memory.
 *
 * @throws PlumblineError as `openIdbStore`
 */
export async function openStore(options: NodeOptions, extras: InlineExtras): Promise<PageStore | undefined> {
  if (extras.store !== undefined || options.storeName === undefined) return extras.store;
  const { openIdbStore } = await import('../store/idb-store.js');
  return openIdbStore(options.storeName);
}
