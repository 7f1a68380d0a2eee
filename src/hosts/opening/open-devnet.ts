import { Devnet } from '../../chain/devnet/devnet.js';
import type { DevnetSettings } from '../../chain/devnet/options.js';
import { Estimator } from '../../estimate/estimator.js';
import { loadCalldataSizer } from '../../kernel/calldata-sizer.js';
import type { KernelOptions } from '../../kernel/contracts.js';
import { rememberingSizer } from '../../kernel/sizer-cache.js';
import { loadZkKernels } from '../../kernel/zk-kernels.js';
import { schemeAt } from '../../networks/network.js';
import { hexToBytes } from '../../primitives/hex.js';
import { noteRequest } from '../../rpc/answers/note-request.js';
import { FilterRegistry } from '../../rpc/filters/filter-registry.js';
import type { RpcContext } from '../../rpc/methods/context.js';
import { layerOneTable } from '../../rpc/methods/layer-one.js';
import type { Dispatch } from '../../rpc/protocol/handle.js';
import { createDispatcher } from '../../rpc/protocol/handle.js';
import { DEVNET_METHODS } from '../../rpc/tables/devnet-methods.js';
import { inspectTable } from '../../rpc/tables/inspect-table.js';
import { methodTable } from '../../rpc/tables/method-table.js';
import type { InlineExtras } from '../options/inline-extras.js';
import type { DevnetChainOptions, NodeOptions, OpenProgress } from '../options/options.js';
import { STEP_BUDGET } from '../options/options.js';
import { budgetsOf } from '../options/storage-options.js';
import type { Layer, NodeTransport } from '../provider/transport.js';
import { devnetGenesis } from './devnet-genesis.js';
import { DevnetSeat } from './devnet-seat.js';
import { devnetBudget, devnetStorage } from './devnet-storage.js';
import { resolveDictionary } from './dictionary-source.js';
import type { DevnetGenesis } from './genesis-file.js';
import { InlineTransport } from './inline-transport.js';
import { handlingOf, nodeInfo } from './node-wiring.js';
import { type Kept, openOnStore } from './store-source.js';

/** Seconds: an arbitrary moment before any devnet was started, the same for all of them. */
const GENESIS_TIMESTAMP = 1_700_000_000;
const COINBASE = hexToBytes('0xc01ba5e000000000000000000000000000059139');

/**
 * Opens an embedded devnet in this thread: kernels, dictionary, store, chain and methods, wired.
 *
 * @throws PlumblineError of whichever part does not open
 */
export async function openDevnetNode(
  chainOptions: DevnetChainOptions,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  const genesis = await devnetGenesis(chainOptions);
  extras.onProgress?.({ stage: 'store', fraction: 0 });
  return openOnStore(options, extras, 'error', (kept) => openOn(kept, genesis, chainOptions, options, extras));
}

async function openOn(
  { store, health }: Kept,
  genesis: DevnetGenesis,
  chainOptions: DevnetChainOptions,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  const report = (stage: OpenProgress['stage'], fraction: number) => extras.onProgress?.({ stage, fraction });
  const { network } = genesis;
  const build = options.kernelBuild ?? 'auto';
  const kernel: KernelOptions = { build };

  const scheme = schemeAt(network, 0);
  report('dictionary', 0);
  const dictionary = await resolveDictionary(
    options.dictionary,
    network,
    store,
    budgetsOf(options.storage ?? {}).dictionaries,
  );
  report('kernels', 0);
  const sizer = rememberingSizer(await loadCalldataSizer(dictionary.bytes, kernel));
  /** With kernels of its own each time: no two devnets share them. */
  const settings = async (): Promise<DevnetSettings> => ({
    ...settingsOf(chainOptions, genesis),
    zk: await loadZkKernels(scheme, { ...kernel, undo: true, nodes: true }),
    sizer,
    store,
    health,
    budget: devnetBudget(store, options.storage ?? {}),
    check: options.storeCheck,
    onProgress: report,
  });
  const open = async () => openDevnet(chainOptions, await settings());
  const seat = new DevnetSeat(await open());
  const { chain } = seat;
  const keeping = { store, health, options: options.storage ?? {}, settings, open };
  const { gasSearch, stepBudget = STEP_BUDGET } = options;
  const estimator = new Estimator(chain, sizer, dictionary, { gasSearch, stepBudget });
  const filters = new FilterRegistry(chain, { now: () => performance.now() });
  const context: RpcContext = {
    chain,
    estimator,
    stepBudget,
    filters,
    devnet: seat.control,
    storage: devnetStorage(seat, keeping),
  };
  const handling = handlingOf(options, extras);
  const dispatchers: Record<Layer, Dispatch> = {
    l2: seat.afterwards(
      createDispatcher(methodTable(context, DEVNET_METHODS), context, { ...handling, note: noteRequest }),
    ),
    inspect: createDispatcher(inspectTable(), context, handling),
    l1: seat.afterLayerOne(createDispatcher(layerOneTable(), { layerOne: seat.layerOne, network }, handling)),
  };
  report('ready', 1);
  return new InlineTransport(chain, dispatchers, nodeInfo(network, scheme, build), options.maxSubscriptions, health);
}

/** What a devnet is by its options. */
function settingsOf({ mining = 'auto', finality = {} }: DevnetChainOptions, genesis: DevnetGenesis) {
  return {
    ...genesis,
    genesisTimestamp: GENESIS_TIMESTAMP,
    mining,
    finality,
    coinbase: COINBASE,
    now: () => Math.floor(Date.now() / 1000),
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
