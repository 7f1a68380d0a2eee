import { PlumblineError } from '../../errors.js';
import type { MeteredStore } from '../../store/metered-store.js';
import { isStoreFailure, StoreHealth } from '../../store/store-status.js';
import type { InlineExtras } from '../options/inline-extras.js';
import type { NodeOptions } from '../options/options.js';
import { requireStorage } from '../options/storage-options.js';

/**
 * The store a node was given, or the database it was given the name of; undefined for a node in memory. Nodes that share a
 * store are given it (`sharing/`): one that comes here with a name cannot reach the others, and takes the database over from
 * whoever had it. Commits of the one before are refused with `STORE_TAKEN_OVER`.
 *
 * @throws PlumblineError as `openIdbStore`; `INVALID_PARAMETER` for storage options that are none
 */
async function openStore(options: NodeOptions, extras: InlineExtras): Promise<MeteredStore | undefined> {
  const { storage = {}, storeName } = options;
  requireStorage(storage);
  if (extras.storeFailure !== undefined) throw extras.storeFailure;
  if (extras.store === undefined && storeName === undefined) return undefined;
  const { MeteredStore } = await import('../../store/metered-store.js');
  if (extras.store !== undefined) return new MeteredStore(extras.store);
  const { openIdbStore } = await import('../../store/idb-store.js');
  const database = await openIdbStore(storeName!, { durability: storage.durability });
  try {
    const { claimStore } = await import('../../store/fence.js');
    const claimed = (await claimStore(database))!;
    claimed.onTakenOver = () => database.health.memory(takenAway());
    return new MeteredStore(claimed);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** What becomes known of the store of a node that another one has taken over from. */
function takenAway(): PlumblineError<'STORE_UNAVAILABLE'> {
  const reason = 'another node has taken it over';
  return new PlumblineError('STORE_UNAVAILABLE', `store is not available: ${reason}`, { reason });
}

/** What a node is to keep in, and what is told of it. */
export interface Kept {
  readonly store: MeteredStore | undefined;
  readonly health: StoreHealth;
}

/**
 * Opens a node on its store; without one where `storage.fallback` allows that and the store does not open, or fails while the
 * node opens.
 *
 * @param fallback - when the options do not say
 * @param open - leaves the store open when it throws
 * @throws PlumblineError as `openStore` and `open`
 */
export async function openOnStore<Node>(
  options: NodeOptions,
  extras: InlineExtras,
  fallback: 'error' | 'memory',
  open: (kept: Kept) => Promise<Node>,
): Promise<Node> {
  let store: MeteredStore | undefined;
  try {
    store = await openStore(options, extras);
    return await open({ store, health: healthOf(store) });
  } catch (error) {
    await store?.close().catch(() => {});
    const isStored = options.storeName !== undefined || extras.store !== undefined;
    if (!isStored || (options.storage?.fallback ?? fallback) === 'error' || !isStoreFailure(error)) throw error;
    const health = new StoreHealth('memory');
    health.memory(error);
    return open({ store: undefined, health });
  }
}

function healthOf(store: MeteredStore | undefined): StoreHealth {
  return store?.health ?? new StoreHealth(store === undefined ? 'memory' : 'durable');
}
