import { Devnet } from '../../chain/devnet/devnet.js';
import { DEVNET_OPTIONS, type DevnetChainOptions } from '../../chain/devnet/options.js';
import type { DevnetSettings } from '../../chain/devnet/settings.js';
import { devAlloc, type GenesisAlloc, messagesAlloc } from '../../chain/devnet/state/genesis.js';
import { DEVNET_TABLES, notStoredError } from '../../chain/devnet/storage/devnet-store.js';
import type { DevnetBudget } from '../../chain/devnet/storage/pruning.js';
import { loadCalldataSizer, rememberingSizer } from '../../kernel/calldata-sizer.js';
import { loadEvmModule } from '../../kernel/evm-module.js';
import { loadZkKernels, type ZkKernels } from '../../kernel/trie.js';
import { devnet } from '../../networks/devnet.js';
import { type Network, schemeAt } from '../../networks/network.js';
import { hexToBytes } from '../../primitives/hex.js';
import { withDefaults } from '../../primitives/option-table.js';
import { FilterRegistry } from '../../rpc/filter-registry.js';
import type { HandleOptions } from '../../rpc/handle.js';
import { DEVNET_METHODS } from '../../rpc/methods/devnet-methods.generated.js';
import type { StorageControl } from '../../rpc/schema/answers.js';
import { systemClock } from '../../scheduling/clock.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { MeteredStore } from '../../store/metered-store.js';
import type { StoreHealth } from '../../store/store-status.js';
import { budgetsOf, type InlineExtras, type NodeOptions, type StorageOptions } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import type { DevnetGenesis } from './genesis-file.js';
import { NodeStorage } from './node-storage.js';
import { type NodeBase, openBase, wireNode } from './node-wiring.js';
import { ReplaceableDevnet } from './replaceable-devnet.js';
import { openOnStore } from './store-source.js';

/** Time of the genesis block, seconds: the same for all devnets, and in the past. */
const GENESIS_TIMESTAMP = 1_700_000_000;
/** Receives the priority fees of devnets. */
export const COINBASE = hexToBytes('0xc01ba5e000000000000000000000000000059139');

/**
 * Opens a node with an embedded devnet in this thread.
 *
 * @throws PlumblineError as `genesisOf`, `openOnStore`, `openBase`; of the kernels and `Devnet.open`
 */
export async function openDevnetNode(
  chainOptions: DevnetChainOptions,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  const described = await genesisOf(chainOptions);
  // A copy: `anvil_setChainId` changes it.
  const genesis = { ...described, network: { ...described.network } };
  extras.onProgress?.({ stage: 'store', fraction: 0 });
  return openOnStore(options, extras, 'error', async (kept) => {
    const base = await openBase(kept, genesis.network, options, extras);
    return openOn(base, genesis, chainOptions);
  });
}

/**
 * The genesis that the options describe: the dev accounts on a network profile, or a genesis file.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a genesis file that cannot be used, or one beside a profile
 */
async function genesisOf(options: DevnetChainOptions): Promise<DevnetGenesis> {
  const { genesis, scheme, alloc, accounts, prices } = options;
  if (genesis !== undefined) return (await import('./genesis-file.js')).genesisOfFile(options);
  const network = options.network ?? devnet(scheme === undefined ? {} : { scheme });
  const { pricing } = network;
  return {
    network,
    alloc: { ...devAlloc(accounts), ...messagesAlloc(network), ...(await queuesOf(network)), ...alloc },
    isOwn: accounts === undefined && alloc === undefined,
    genesisHeader: undefined,
    prices: prices ?? (pricing?.model === 'extra-data' ? pricing.defaults : undefined),
  };
}

/** Contracts that a network with Amsterdam needs besides. */
async function queuesOf({ forks }: Network): Promise<GenesisAlloc> {
  if (forks.every(({ hardfork }) => hardfork !== 'amsterdam')) return {};
  return (await import('../../chain/devnet/state/request-queues.js')).REQUEST_QUEUES;
}

async function openOn(
  base: NodeBase,
  genesis: DevnetGenesis,
  chainOptions: DevnetChainOptions,
): Promise<NodeTransport> {
  const { store, health, network, dictionary, report } = base;
  const { kernelBuild: build, storage, storeCheck } = base.settings;
  const scheme = schemeAt(network, 0);
  // Compiled while the genesis is sealed. A failure is reported where the module is used.
  loadEvmModule().catch(() => {});
  const loadKernels = () => loadZkKernels(scheme, { build, undo: true, nodes: true });
  const first = await loadKernels();
  const sizer = loadOnce(async () => rememberingSizer(await loadCalldataSizer(dictionary.bytes, { build })));
  /** @param zk - new ones when left out: two devnets must not share kernels */
  const settings = async (zk?: ZkKernels): Promise<DevnetSettings> => ({
    ...settingsOf(chainOptions, genesis, base.extras),
    zk: zk ?? (await loadKernels()),
    sizer,
    store,
    health,
    budget: devnetBudget(store, storage),
    check: storeCheck,
    onProgress: report,
  });
  const open = async () => openDevnet(chainOptions, await settings());
  const replaceable = new ReplaceableDevnet(await openDevnet(chainOptions, await settings(first)));
  const control = devnetStorage(replaceable, { store, health, options: storage, settings, open });
  const layers = { devnet: replaceable, base, sizer };
  const layerOne = async (handling: HandleOptions) =>
    (await import('./open-layer-one.js')).openLayerOne(layers, handling);
  const devnetParts = { replaceable, methods: DEVNET_METHODS, layerOne };
  return wireNode(base, {
    chain: replaceable.chain,
    scheme,
    sizer,
    control,
    // At hand: a filter that is asked for before a block is mined must find that block.
    filters: async () => FilterRegistry,
    devnet: devnetParts,
    messages: loadOnce(async () => (await import('./open-layer-one.js')).messagesOfDevnet(layers)),
  });
}

/** Settings of a devnet that its options decide. */
function settingsOf(
  chainOptions: DevnetChainOptions,
  genesis: DevnetGenesis,
  { clock = systemClock }: Pick<InlineExtras, 'clock'>,
) {
  const { mining, finality, tool, accounts } = withDefaults(DEVNET_OPTIONS, chainOptions);
  return {
    ...genesis,
    genesisTimestamp: GENESIS_TIMESTAMP,
    mining,
    tool,
    accounts,
    finality,
    coinbase: COINBASE,
    now: () => Math.floor(clock.now() / 1000),
  };
}

async function openDevnet({ importBlocks }: DevnetChainOptions, settings: DevnetSettings): Promise<Devnet> {
  const chain = await Devnet.open(settings);
  if (importBlocks === undefined) return chain;
  try {
    await chain.importChain(importBlocks, (fraction) => settings.onProgress?.('blocks', fraction));
    return chain;
  } catch (error) {
    await chain.close();
    throw error;
  }
}

/** What the storage control of a devnet works on. */
interface DevnetKeeping {
  readonly store: MeteredStore | undefined;
  readonly health: StoreHealth;
  readonly options: StorageOptions;
  /** Settings of the node's devnet, with new kernels at each call. */
  settings(): Promise<DevnetSettings>;
  /** Opens the stored devnet, or a new one at its genesis. */
  open(): Promise<Devnet>;
}

/** The budget of a devnet; undefined for no limit. */
function devnetBudget(store: MeteredStore | undefined, { budgets = {} }: StorageOptions): DevnetBudget | undefined {
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
function devnetStorage(devnet: ReplaceableDevnet, keeping: DevnetKeeping): StorageControl {
  const { store, health, options, open } = keeping;
  const replace = async (change: () => Promise<void>, condition?: 'whole') => {
    const opened = () => {
      if (store !== undefined) health.durable();
      return open();
    };
    await devnet.replace(change, opened, condition);
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
  return Promise.all([import('../../chain/devnet/chain-transfer.js'), import('../../chain/devnet/chain-file.js')]);
}
