import type { Devnet } from '../../chain/devnet/devnet.js';
import type { DevnetSettings } from '../../chain/devnet/options.js';
import { notStoredError } from '../../chain/devnet/storage/devnet-store.js';
import type { DevnetBudget } from '../../chain/devnet/storage/pruning.js';
import type { StorageControl } from '../../rpc/storage-control.js';
import type { MeteredStore } from '../../store/metered-store.js';
import type { StoreHealth } from '../../store/store-status.js';
import { budgetsOf, type StorageOptions } from '../options/storage-options.js';
import type { DevnetSeat } from './devnet-seat.js';
import { NodeStorage } from './node-storage.js';

/** What the storage of a devnet is controlled with. */
export interface DevnetKeeping {
  readonly store: MeteredStore | undefined;
  readonly health: StoreHealth;
  readonly options: StorageOptions;
  /** Of the node's devnet, with kernels that nobody else uses. */
  settings(): Promise<DevnetSettings>;
  /** Opens the devnet that is stored, or one at its beginning. */
  open(): Promise<Devnet>;
}

/** Tables that the budget of a devnet is of. */
const DEVNET_TABLES = ['blocks', 'state', 'trie'] as const;

/** The budget of a devnet; undefined where nothing bounds it. */
export function devnetBudget(
  store: MeteredStore | undefined,
  { budgets = {} }: StorageOptions,
): DevnetBudget | undefined {
  const { devnet } = budgets;
  if (store === undefined || devnet === undefined) return undefined;
  return {
    bytes: devnet,
    async used() {
      const usage = await store.noted();
      return DEVNET_TABLES.reduce((sum, table) => sum + usage[table].bytes, 0);
    },
  };
}

/** What is kept of the devnet on a seat, and how it is replaced. */
export function devnetStorage(seat: DevnetSeat, keeping: DevnetKeeping): StorageControl {
  const { store, health, options, open } = keeping;
  const replace = async (change: () => Promise<void>, condition?: 'whole') => {
    await seat.replace(change, open, condition);
    if (store !== undefined) health.durable();
  };
  const { dictionaries } = budgetsOf(options);
  return new NodeStorage({
    store,
    health,
    options,
    budgets: { dictionaries },
    devnetTables: DEVNET_TABLES,
    // Blocks that are in memory only are to go as well.
    clear: () => replace(async () => store && clearWhole(store)),
    async exportChain() {
      const [{ describeChain, exportEntries }, { encodeChainFile }] = await loadTransfer();
      const described = describeChain(await keeping.settings());
      return seat.current.storedChain.read(async (pages, head) => {
        return encodeChainFile({ ...described, head, entries: await exportEntries(pages, head, described.chainId) });
      });
    },
    async importChain(bytes, signal) {
      const [{ checkChain, replaceEntries }, { decodeChainFile }] = await loadTransfer();
      const file = decodeChainFile(bytes);
      if (store === undefined) throw notStoredError('it has no store');
      const entries = await checkChain(file, keeping.settings, signal);
      const change = async () => {
        signal?.throwIfAborted();
        await replaceEntries(store, entries);
      };
      await replace(change, 'whole');
      return { head: file.head };
    },
  });
}

/** It may have come to its end although the connection did not. */
async function clearWhole(store: MeteredStore): Promise<void> {
  try {
    await store.clear();
  } catch (error) {
    const isDone = store.keys('blocks').then((keys) => keys.length === 0);
    if (!(await isDone.catch(() => false))) throw error;
  }
}

function loadTransfer() {
  return Promise.all([
    import('../../chain/devnet/transfer/chain-transfer.js'),
    import('../../chain/devnet/transfer/chain-file.js'),
  ]);
}
