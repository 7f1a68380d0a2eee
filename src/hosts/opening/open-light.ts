import type { Chain } from '../../chain/chain.js';
import { LightChain } from '../../chain/light/light-chain.js';
import { Estimator } from '../../estimate/estimator.js';
import type { CalldataSizer, HashScheme, KernelBuild } from '../../kernel/contracts.js';
import { requireDictionaryFits } from '../../kernel/dictionary-limit.js';
import { schemeAt } from '../../networks/network.js';
import { noteRequest } from '../../rpc/answers/note-request.js';
import { FilterRegistry } from '../../rpc/filters/filter-registry.js';
import type { RpcContext } from '../../rpc/methods/context.js';
import type { Dispatch } from '../../rpc/protocol/handle.js';
import { createDispatcher } from '../../rpc/protocol/handle.js';
import { createMethodTable } from '../../rpc/protocol/method.js';
import { inspectTable } from '../../rpc/tables/inspect-table.js';
import { methodTable } from '../../rpc/tables/method-table.js';
import { surroundingActivity } from '../../scheduling/activity.js';
import { systemClock } from '../../scheduling/clock.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { EndpointGroup } from '../../upstream/group.js';
import { RestGroup } from '../../upstream/rest-group.js';
import type { InlineExtras } from '../options/inline-extras.js';
import type { LightChainOptions } from '../options/light-options.js';
import { lightSettings } from '../options/light-settings.js';
import type { NodeOptions } from '../options/options.js';
import { STEP_BUDGET } from '../options/options.js';
import type { ReplicaChainOptions } from '../options/replica-options.js';
import { budgetsOf } from '../options/storage-options.js';
import type { Layer, NodeTransport } from '../provider/transport.js';
import { resolveDictionary } from './dictionary-source.js';
import { InlineTransport } from './inline-transport.js';
import { lazyStorage } from './lazy-storage.js';
import { handlingOf, nodeInfo } from './node-wiring.js';
import { type Kept, openOnStore } from './store-source.js';

/**
 * Opens a light node in this thread, or a replica on top of one. No endpoint is asked yet but by a replica.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for endpoints that are too few or not well formed; of the other parts
 */
export async function openLight(
  chainOptions: LightChainOptions | ReplicaChainOptions,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  extras.onProgress?.({ stage: 'store', fraction: 0 });
  // What a light node stores can be had again; a replica takes its time for that.
  const fallback = chainOptions.kind === 'replica' ? 'error' : 'memory';
  return openOnStore(options, extras, fallback, (kept) => openOn(kept, chainOptions, options, extras));
}

async function openOn(
  { store, health }: Kept,
  chainOptions: LightChainOptions | ReplicaChainOptions,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  const { network } = chainOptions;
  const build = options.kernelBuild ?? 'auto';
  extras.onProgress?.({ stage: 'dictionary', fraction: 0 });
  const budgets = budgetsOf(options.storage ?? {});
  const dictionary = await resolveDictionary(options.dictionary, network, store, budgets.dictionaries);
  extras.onProgress?.({ stage: 'kernels', fraction: 0 });
  requireDictionaryFits(dictionary.bytes);
  const loadSizer = loadOnce(() => openSizer(dictionary.bytes, build));
  const hasherOf = (scheme: HashScheme) =>
    loadOnce(async () => (await import('../../kernel/hasher.js')).loadHasher(scheme, { build }));
  const hashers = { mimc: hasherOf('mimc'), poseidon2: hasherOf('poseidon2') };
  const loadHasher = (scheme: HashScheme) => hashers[scheme]();
  const cache = store && new (await import('../../chain/light/light-cache.js')).LightCache(store, budgets, health);
  const clock = extras.clock ?? systemClock;
  const observer = extras.upstreamObserver;
  const common = { clock, ...(observer !== undefined && { observer }) };
  const { layerOne, maru } = chainOptions;
  const upstream = new EndpointGroup({ role: 'l2', endpoints: chainOptions.endpoints, ...common });
  const settings = lightSettings(chainOptions, upstream);
  const { layerOneHeader } = settings;
  const layerOneGroup = layerOne && new EndpointGroup({ role: 'l1', endpoints: layerOne, ...common });
  const light = new LightChain({
    ...settings,
    upstream,
    layerOne: layerOneGroup,
    maru: maru && new RestGroup({ role: 'maru', endpoints: maru, ...common }),
    store,
    cache,
    activity: extras.activity ?? surroundingActivity(),
    clock,
    loadHasher,
    loadSizer,
  });
  let chain: Chain = light;
  if (chainOptions.kind === 'replica') {
    const { startReplica } = await import('./open-replica.js');
    const shared = { layerOne: layerOneGroup, layerOneHeader, store, health, clock, kernel: { build }, loadHasher };
    const observers = {
      upstreamObserver: observer,
      observer: extras.replicaObserver,
      onProgress: extras.onProgress,
    };
    chain = await startReplica(light, chainOptions, { ...shared, ...observers });
  }
  const { gasSearch, stepBudget = STEP_BUDGET } = options;
  const estimator = new Estimator(chain, loadSizer, dictionary, { gasSearch, stepBudget });
  const filters = new FilterRegistry(chain, { now: () => performance.now() });
  const storage = lazyStorage(async () => {
    const { NodeStorage } = await import('./node-storage.js');
    return new NodeStorage({
      store,
      health,
      options: options.storage ?? {},
      budgets,
      devnetTables: [],
      // The state of a replica is read from its store as it goes.
      ...(chainOptions.kind === 'light' && { clear: async () => cache?.clear(() => store!.clear()) }),
    });
  });
  const context: RpcContext = { chain, estimator, stepBudget, filters, storage };
  const handling = handlingOf(options, extras);
  const dispatchers: Record<Layer, Dispatch> = {
    l2: createDispatcher(methodTable(context), context, { ...handling, note: noteRequest }),
    inspect: createDispatcher(inspectTable(), context, handling),
    l1: createDispatcher(createMethodTable([]), context, handling),
  };
  extras.onProgress?.({ stage: 'ready', fraction: 1 });
  const info = nodeInfo(network, schemeAt(network, Number.MAX_SAFE_INTEGER), build);
  return new InlineTransport(chain, dispatchers, info, options.maxSubscriptions, health);
}

/** A node that never estimates does without. */
async function openSizer(dictionary: Uint8Array, build: KernelBuild): Promise<CalldataSizer> {
  const [{ loadCalldataSizer }, { rememberingSizer }] = await Promise.all([
    import('../../kernel/calldata-sizer.js'),
    import('../../kernel/sizer-cache.js'),
  ]);
  return rememberingSizer(await loadCalldataSizer(dictionary, { build }));
}
