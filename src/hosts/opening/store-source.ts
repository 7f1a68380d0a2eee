import { PlumblineError } from '../../errors.js';
import type { MeteredStore } from '../../store/metered-store.js';
import { isStoreFailure, StoreHealth } from '../../store/store-status.js';
import type { InlineExtras, NodeOptions } from '../options/options.js';

/**
 * The store in the extras, or the database named in the options; undefined for a node in memory. Nodes that share a store
 * get it in the extras (`sharing/`). A node that opens its database here cannot reach the others, so it takes the database
 * over: later commits of the previous writer are refused with `STORE_TAKEN_OVER`.
 *
 * @throws PlumblineError as `openIdbStore`
 */
async function openStore(options: NodeOptions, extras: InlineExtras): Promise<MeteredStore | undefined> {
  const { storage = {}, storeName } = options;
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

/** The store failure of a node whose database another node has taken over. */
function takenAway(): PlumblineError<'STORE_UNAVAILABLE'> {
  const reason = 'another node has taken over its database';
  return new PlumblineError('STORE_UNAVAILABLE', `store is not available: ${reason}`, { reason });
}

/** The store of a node, and its health. */
export interface Kept {
  readonly store: MeteredStore | undefined;
  readonly health: StoreHealth;
}

/**
 * Opens a node on its store. Where the store does not open, or fails while the node opens, and `storage.fallback` is
 * `memory`, the node opens without a store.
 *
 * @param fallback - used when the options name none
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
