import type { LightCache } from '../../chain/light/light-cache.js';
import { LightChain } from '../../chain/light/light-chain.js';
import { isFollowed, type LayerOneOptions, type LightChainOptions } from '../../chain/light/light-options.js';
import { lightSettings } from '../../chain/light/light-parts.js';
import type { ReplicaChainOptions } from '../../chain/replica/settings.js';
import type { CalldataSizer, HashScheme, KernelBuild } from '../../kernel/contracts.js';
import { isLayerOne, schemeAt } from '../../networks/network.js';
import type { StorageControl } from '../../rpc/schema/answers.js';
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

const loadFilters = async () => (await import('../../rpc/filter-registry.js')).FilterRegistry;

/** An open light chain, and what the rest of its node needs of it. */
export type OpenLightChain = Awaited<ReturnType<typeof openLightChain>>;

/** What the light chains of one node have in common. */
export interface SharedParts {
  readonly cache: LightCache | undefined;
  /** Layer 1 of this chain, where another chain of the node follows it. */
  readonly layerOne?: LayerOneParts | undefined;
}

/** Endpoints of layer 1, and its consensus. */
interface LayerOneParts {
  readonly upstream: EndpointGroup;
  readonly light: Pick<LightChain, 'network'>;
  readonly followed: Awaited<ReturnType<typeof openFollowed>> | undefined;
}

/** The tables of light chains; undefined without a store. */
export async function openCache({ store, budgets, health }: NodeBase): Promise<LightCache | undefined> {
  return store && new (await import('../../chain/light/light-cache.js')).LightCache(store, budgets, health);
}

/**
 * A light chain with what it shares with the rest of its node. It sends no request yet.
 *
 * @throws PlumblineError as `openLight`
 */
export async function openLightChain(
  base: NodeBase,
  chainOptions: Omit<LightChainOptions, 'kind'> | Omit<ReplicaChainOptions, 'kind'>,
  { cache, layerOne: shared }: SharedParts,
) {
  const { store, extras, budgets, dictionary } = base;
  const { kernelBuild: build } = base.settings;
  const sizer = loadOnce(() => openSizer(dictionary.bytes, build));
  const hasherOf = (scheme: HashScheme) =>
    loadOnce(async () => (await import('../../kernel/hasher.js')).loadHasher(scheme, { build }));
  const hashers = { mimc: hasherOf('mimc'), poseidon2: hasherOf('poseidon2') };
  const loadHasher = (scheme: HashScheme) => hashers[scheme]();
  const { clock = systemClock, upstreamObserver, fetch } = extras;
  const common = { clock, fetch, observer: upstreamObserver };
  const upstream = new EndpointGroup({ role: 'l2', endpoints: chainOptions.endpoints, ...common });
  const settings = lightSettings(chainOptions, upstream);
  const { layerOne: given, maru: seals } = chainOptions;
  const endpoints = isFollowed(given) ? given.execution : given;
  const maru =
    seals &&
    new (await import('../../upstream/rest-group.js')).RestGroup({ role: 'maru', endpoints: seals, ...common });
  const layerOne = shared?.upstream ?? (endpoints && new EndpointGroup({ role: 'l1', endpoints, ...common }));
  const followed = shared?.followed ?? (isFollowed(given) ? await openFollowed(given, base, cache, common) : undefined);
  // Those of a shared layer 1 are the groups of that chain.
  const below = shared === undefined ? [layerOne, ...(followed?.groups ?? [])] : [];
  const groups = [upstream, maru?.group, ...below].filter((group) => group !== undefined);
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
    sizer,
    groups,
    upstream,
    followed,
    layerOne,
    common,
    loadHasher,
    settings,
    collectEvidence:
      layerOne && followed?.evidence({ network: base.network, upstream, layerOne, settlement: light.settlement }),
    messages:
      layerOne &&
      loadOnce(async () => {
        const { openMessages } = await import('../../messages/find-claim.js');
        const runner = loadOnce(async () => {
          const { claimRunner } = await import('../../messages/run-claim.js');
          return claimRunner(layerOne, base.network, shared?.light.network);
        });
        const level = followed ? 'settled' : 'finalized';
        return openMessages(base.network, light, { upstream, layerOne, level, runner: followed && runner });
      }),
    check: async (signal?: AbortSignal) => (await endpointCheck()).checkEndpoints(base.network, groups, signal),
    ready: async () => (await endpointCheck()).requireReady(base.network, groups, light),
  };
}

async function openOn(base: NodeBase, chainOptions: LightChainOptions | ReplicaChainOptions): Promise<NodeTransport> {
  const cache = await openCache(base);
  if (chainOptions.kind === 'light') return (await openLightNode(base, chainOptions, { cache })).node;
  const { store, health, extras } = base;
  const parts = await openLightChain(base, chainOptions, { cache });
  const wiring = await wiringOf(base, 'replica', parts, cache);
  const { startReplica } = await import('./open-replica.js');
  const { replicaObserver: observer, onProgress } = extras;
  const own = { store, health, kernel: { build: base.settings.kernelBuild }, observer, onProgress };
  const chain = await startReplica(parts.light, chainOptions, { ...parts, ...own });
  return wireNode(base, { ...wiring, chain });
}

/** Opens a light node on an open store, with its parts for another chain of the same node. @throws PlumblineError as `openLight` */
export async function openLightNode(base: NodeBase, chainOptions: LightChainOptions, shared: SharedParts) {
  const parts = await openLightChain(base, chainOptions, shared);
  const wiring = await wiringOf(base, 'light', parts, shared.cache);
  return { parts, node: wireNode(base, { ...wiring, chain: parts.light }) };
}

async function wiringOf(
  base: NodeBase,
  kind: 'light' | 'replica',
  { sizer, check, ready, collectEvidence, messages }: OpenLightChain,
  cache: LightCache | undefined,
) {
  const { network, settings } = base;
  const control = storageControl(base, kind, cache);
  const scheme = isLayerOne(network) ? undefined : schemeAt(network, Number.MAX_SAFE_INTEGER);
  if (settings.openCheck === 'wait') await ready();
  return { scheme, sizer, control, check, collectEvidence, messages, filters: loadFilters };
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
