import type { Devnet } from '../../chain/devnet/devnet.js';
import type { DevnetSettings } from '../../chain/devnet/settings.js';
import { DEVNET_TABLES, notStoredError } from '../../chain/devnet/storage/devnet-store.js';
import type { DevnetBudget } from '../../chain/devnet/storage/pruning.js';
import type { StorageControl } from '../../rpc/schema/storage-control.js';
import type { MeteredStore } from '../../store/metered-store.js';
import type { StoreHealth } from '../../store/store-status.js';
import { budgetsOf, type StorageOptions } from '../options/storage-options.js';
import { NodeStorage } from './node-storage.js';
import type { ReplaceableDevnet } from './replaceable-devnet.js';

/** What the storage control of a devnet works on. */
export interface DevnetKeeping {
  readonly store: MeteredStore | undefined;
  readonly health: StoreHealth;
  readonly options: StorageOptions;
  /** Settings of the node's devnet, with new kernels at each call. */
  settings(): Promise<DevnetSettings>;
  /** Opens the stored devnet, or a new one at its genesis. */
  open(): Promise<Devnet>;
}

/** The budget of a devnet; undefined for no limit. */
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

/** The storage control of a devnet node: its figures, and what replaces the devnet. */
export function devnetStorage(devnet: ReplaceableDevnet, keeping: DevnetKeeping): StorageControl {
  const { store, health, options, open } = keeping;
  const replace = async (change: () => Promise<void>, condition?: 'whole') => {
    await devnet.replace(change, open, condition);
    if (store !== undefined) health.durable();
  };
  const { dictionaries } = budgetsOf(options);
  return new NodeStorage({
    store,
    health,
    options,
    budgets: { dictionaries },
    devnetTables: DEVNET_TABLES,
    // Blocks that are in memory only are cleared as well.
    clear: () => replace(async () => store && clearWhole(store)),
    async exportChain() {
      const [{ describeChain, exportEntries }, { encodeChainFile }] = await loadTransfer();
      const described = describeChain(devnet.current);
      return devnet.current.storedChain.read(async (pages, head) => {
        return encodeChainFile({ ...described, head, entries: await exportEntries(pages, head, described.chainId) });
      });
    },
    async importChain(bytes, signal) {
      const [{ checkChain, replaceEntries }, { decodeChainFile }] = await loadTransfer();
      const file = await decodeChainFile(bytes);
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

/** A store may report a failure after it has cleared, so its content decides. */
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
