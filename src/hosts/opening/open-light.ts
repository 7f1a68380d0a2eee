import { isFollowed, type LayerOneOptions } from '../../chain/light/layer-one-options.js';
import type { LightCache } from '../../chain/light/light-cache.js';
import { LightChain } from '../../chain/light/light-chain.js';
import type { LightChainOptions } from '../../chain/light/light-options.js';
import { lightSettings } from '../../chain/light/light-parts.js';
import type { ReplicaChainOptions } from '../../chain/replica/settings.js';
import {
  type CalldataSizer,
  type HashScheme,
  type KernelBuild,
  requireDictionaryFits,
} from '../../kernel/contracts.js';
import { isLayerOne, schemeAt } from '../../networks/network.js';
import type { StorageControl } from '../../rpc/schema/storage-control.js';
import { surroundingActivity } from '../../scheduling/activity.js';
import { systemClock } from '../../scheduling/clock.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { EndpointGroup } from '../../upstream/group.js';
import type { InlineExtras, NodeOptions } from '../options/options.js';
import { requireEndpoints } from '../options/require-endpoints.js';
import type { NodeTransport } from '../provider/transport.js';
import { type NodeBase, openBase, wireNode } from './node-wiring.js';
import type { ConsensusParts } from './open-consensus.js';
import { openOnStore } from './store-source.js';

/**
 * Opens a light node in this thread, or a replica on top of one. A light node sends no request yet, unless
 * `openCheck` is `wait`; a replica does.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for endpoints that are too few or not well formed; with `openCheck: 'wait'`
 *   `UPSTREAM_*`; of the other parts
 */
export async function openLight(
  chainOptions: LightChainOptions | ReplicaChainOptions,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  requireEndpoints('chain', chainOptions);
  extras.onProgress?.({ stage: 'store', fraction: 0 });
  // A light node can fetch again what its store held; a replica needs long for that.
  const fallback = chainOptions.kind === 'replica' ? 'error' : 'memory';
  return openOnStore(options, extras, fallback, async (kept) => {
    return openOn(await openBase(kept, chainOptions.network, options, extras), chainOptions);
  });
}

const loadFilters = async () => (await import('../../rpc/subscriptions/filter-registry.js')).FilterRegistry;

/**
 * A light chain with what it shares with the rest of its node. It sends no request yet.
 *
 * @throws PlumblineError as `openLight`
 */
export async function openLightChain(
  base: NodeBase,
  chainOptions: Omit<LightChainOptions, 'kind'> | Omit<ReplicaChainOptions, 'kind'>,
) {
  const { store, health, extras, budgets, dictionary } = base;
  const { kernelBuild: build } = base.settings;
  requireDictionaryFits(dictionary.bytes);
  const sizer = loadOnce(() => openSizer(dictionary.bytes, build));
  const hasherOf = (scheme: HashScheme) =>
    loadOnce(async () => (await import('../../kernel/hasher.js')).loadHasher(scheme, { build }));
  const hashers = { mimc: hasherOf('mimc'), poseidon2: hasherOf('poseidon2') };
  const loadHasher = (scheme: HashScheme) => hashers[scheme]();
  const cache = store && new (await import('../../chain/light/light-cache.js')).LightCache(store, budgets, health);
  const { clock = systemClock, upstreamObserver, fetch } = extras;
  const common = { clock, fetch, observer: upstreamObserver };
  const upstream = new EndpointGroup({ role: 'l2', endpoints: chainOptions.endpoints, ...common });
  const settings = lightSettings(chainOptions, upstream);
  const { layerOne: given, maru: seals } = chainOptions;
  const endpoints = isFollowed(given) ? given.execution : given;
  const maru =
    seals &&
    new (await import('../../upstream/rest-group.js')).RestGroup({ role: 'maru', endpoints: seals, ...common });
  const layerOne = endpoints && new EndpointGroup({ role: 'l1', endpoints, ...common });
  const followed = isFollowed(given) ? await openFollowed(given, base, cache, common) : undefined;
  const groups = [upstream, layerOne, maru?.group, ...(followed?.groups ?? [])].filter((group) => group !== undefined);
  const light = new LightChain({
    ...settings,
    upstream,
    layerOne,
    consensus: followed?.source,
    maru,
    store,
    cache,
    keptProofBytes: budgets.proofs,
    activity: extras.activity ?? surroundingActivity(),
    clock,
    loadHasher,
    loadSizer: sizer,
  });
  const endpointCheck = loadOnce(() => import('./endpoint-check.js'));
  return {
    light,
    cache,
    sizer,
    groups,
    layerOne,
    common,
    loadHasher,
    settings,
    collectEvidence: layerOne && followed?.evidence({ upstream, layerOne, settlement: light.settlement }),
    check: async (signal?: AbortSignal) => (await endpointCheck()).checkEndpoints(base.network, groups, signal),
    ready: async () => (await endpointCheck()).requireReady(base.network, groups, light),
  };
}

async function openOn(base: NodeBase, chainOptions: LightChainOptions | ReplicaChainOptions): Promise<NodeTransport> {
  const { store, health, network, extras } = base;
  const { openCheck, kernelBuild } = base.settings;
  const { light, cache, sizer, check, ready, collectEvidence, ...shared } = await openLightChain(base, chainOptions);
  const control = storageControl(base, chainOptions.kind, cache);
  const scheme = isLayerOne(network) ? undefined : schemeAt(network, Number.MAX_SAFE_INTEGER);
  if (openCheck === 'wait') await ready();
  const wiring = { scheme, sizer, control, check, collectEvidence, filters: loadFilters };
  if (chainOptions.kind === 'light') return wireNode(base, { ...wiring, chain: light });
  const { startReplica } = await import('./open-replica.js');
  const { replicaObserver: observer, onProgress } = extras;
  const own = { store, health, kernel: { build: kernelBuild }, observer, onProgress };
  const chain = await startReplica(light, chainOptions, { ...shared, ...own });
  return wireNode(base, { ...wiring, chain });
}

async function openFollowed(
  options: LayerOneOptions,
  { network, extras: { onProgress } }: NodeBase,
  cache: LightCache | undefined,
  common: ConsensusParts['common'],
) {
  const { openConsensus } = await import('./open-consensus.js');
  const report = (fraction: number) => onProgress?.({ stage: 'layer-one', fraction });
  return openConsensus(options, { network, cache, common, onProgress: report });
}

/** Loads the calldata sizer. A node that never estimates does not need it. */
async function openSizer(dictionary: Uint8Array, build: KernelBuild): Promise<CalldataSizer> {
  const { loadCalldataSizer, rememberingSizer } = await import('../../kernel/calldata-sizer.js');
  return rememberingSizer(await loadCalldataSizer(dictionary, { build }));
}

/** The storage control, loaded when it is first used: most nodes are never asked for their storage. */
function storageControl(
  { store, health, settings, budgets }: NodeBase,
  kind: 'light' | 'replica',
  cache: LightCache | undefined,
): StorageControl {
  const loaded = loadOnce(async () => {
    const { NodeStorage } = await import('./node-storage.js');
    return new NodeStorage({
      store,
      health,
      options: settings.storage,
      budgets,
      devnetTables: [],
      // A replica reads its state from its store as it runs, so it cannot be cleared.
      ...(kind === 'light' && { clear: async () => cache?.clear(() => store!.clear()) }),
    });
  });
  return {
    report: async () => (await loaded()).report(),
    clear: async () => (await loaded()).clear(),
    exportChain: async () => (await loaded()).exportChain(),
    importChain: async (file, signal) => (await loaded()).importChain(file, signal),
  };
}
