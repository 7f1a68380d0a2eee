import type { BlockTag } from '../chain/block-reference.js';
import type { Chain } from '../chain/chain.js';
import type { HeadLevel } from '../chain/light/heads.js';
import { LightChain } from '../chain/light/light-chain.js';
import { PlumblineError } from '../errors.js';
import { Estimator } from '../estimate/estimator.js';
import type { CalldataSizer, HashScheme, KernelBuild } from '../kernel/contracts.js';
import { requireDictionaryFits } from '../kernel/dictionary-limit.js';
import { hasSimd } from '../kernel/instantiate.js';
import { schemeAt } from '../networks/network.js';
import { hexToBytes } from '../primitives/hex.js';
import type { RpcContext } from '../rpc/context.js';
import type { Dispatch } from '../rpc/dispatch.js';
import { FilterRegistry } from '../rpc/filters/filter-registry.js';
import { createDispatcher } from '../rpc/handle.js';
import { inspectTable } from '../rpc/inspect-table.js';
import { createMethodTable } from '../rpc/method.js';
import { methodTable } from '../rpc/method-table.js';
import { noteRequest } from '../rpc/noted-context.js';
import { systemClock } from '../upstream/clock.js';
import { EndpointGroup } from '../upstream/group.js';
import { RestGroup } from '../upstream/rest-group.js';
import { resolveDictionary } from './dictionary-source.js';
import type { InlineExtras } from './inline-extras.js';
import { InlineTransport } from './inline-transport.js';
import { lazyStorage } from './lazy-storage.js';
import type { LightChainOptions } from './light-options.js';
import { loadOnce } from './load-once.js';
import type { NodeInfo, NodeOptions } from './options.js';
import { surroundingActivity } from './page-activity.js';
import type { ReplicaChainOptions } from './replica-options.js';
import { budgetsOf } from './storage-options.js';
import { type Kept, openOnStore } from './store-source.js';
import type { Layer, NodeTransport } from './transport.js';

const REQUEST_TIMEOUT_MS = 60_000;
const STEP_BUDGET = 5_000_000;
const HEAD_TIMEOUT_MS = 8_000;

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
    loadOnce(async () => (await import('../kernel/hasher.js')).loadHasher(scheme, { build }));
  const hashers = { mimc: hasherOf('mimc'), poseidon2: hasherOf('poseidon2') };
  const loadHasher = (scheme: HashScheme) => hashers[scheme]();
  const cache = store && new (await import('../chain/light/light-cache.js')).LightCache(store, budgets, health);
  const clock = extras.clock ?? systemClock;
  const observer = extras.upstreamObserver;
  const common = { clock, ...(observer !== undefined && { observer }) };
  const layerOneHeader = chainOptions.layerOneHeader && hexToBytes(chainOptions.layerOneHeader.hash, 32);
  const { layerOne, maru } = chainOptions;
  const upstream = new EndpointGroup({ role: 'l2', endpoints: chainOptions.endpoints, ...common });
  const layerOneGroup = layerOne && new EndpointGroup({ role: 'l1', endpoints: layerOne, ...common });
  const light = new LightChain({
    network,
    upstream,
    layerOne: layerOneGroup,
    maru: maru && new RestGroup({ role: 'maru', endpoints: maru, ...common }),
    ...levelOf(chainOptions, upstream),
    required: requiredOf(chainOptions),
    maxLagBlocks: chainOptions.maxLagBlocks ?? 32,
    maxReorgDepth: chainOptions.maxReorgDepth ?? 64,
    headMaxAgeMs: chainOptions.headMaxAgeMs ?? network.slotSeconds * 1000,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    accessLists: chainOptions.accessLists ?? true,
    finalityMaxAgeMs: chainOptions.finalityMaxAgeMs ?? 60_000,
    proveLayerOne: chainOptions.proveLayerOne ?? false,
    layerOneAgreeing: chainOptions.layerOneAgreeing ?? 1,
    layerOneHeader,
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
    const observers = { upstreamObserver: observer, observer: extras.replicaObserver };
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
  const handling = {
    timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    maxBatch: options.maxBatch,
    onError: extras.onError,
  };
  const dispatchers: Record<Layer, Dispatch> = {
    l2: createDispatcher(methodTable(context), context, { ...handling, note: noteRequest }),
    inspect: createDispatcher(inspectTable(), context, handling),
    l1: createDispatcher(createMethodTable([]), context, handling),
  };
  extras.onProgress?.({ stage: 'ready', fraction: 1 });
  const info: NodeInfo = {
    chainId: network.chainId,
    networkName: network.name,
    hashScheme: schemeAt(network, Number.MAX_SAFE_INTEGER),
    rollupAddress: network.rollup.address,
    kernelBuild: build === 'simd' || (build === 'auto' && hasSimd()) ? 'simd' : 'scalar',
  };
  return new InlineTransport(chain, dispatchers, info, options.maxSubscriptions, health);
}

/** A node that never estimates does without. */
async function openSizer(dictionary: Uint8Array, build: KernelBuild): Promise<CalldataSizer> {
  const [{ loadCalldataSizer }, { rememberingSizer }] = await Promise.all([
    import('../kernel/calldata-sizer.js'),
    import('../kernel/sizer-cache.js'),
  ]);
  return rememberingSizer(await loadCalldataSizer(dictionary, { build }));
}

const HEAD_LEVELS: readonly string[] = ['plain', 'linked', 'sealed'] satisfies HeadLevel[];
const TAGS: readonly string[] = ['latest', 'pending', 'earliest', 'safe', 'finalized'] satisfies BlockTag[];

/** Levels by tag. @throws PlumblineError `INVALID_PARAMETER` for what is none of them: it would ask for nothing */
function requiredOf({ required = {} }: Pick<LightChainOptions, 'required'>) {
  for (const [tag, level] of Object.entries(required)) {
    if (!TAGS.includes(tag)) throw invalid('required', `${tag} is no tag`);
    if (level !== undefined && !HEAD_LEVELS.includes(level))
      throw invalid(`required.${tag}`, `is none of ${HEAD_LEVELS.join(', ')}`);
  }
  return required;
}

/** @throws PlumblineError `INVALID_PARAMETER` for no level, or when fewer origins are given than have to agree */
function levelOf({ level, agreeing = 2 }: Pick<LightChainOptions, 'level' | 'agreeing'>, { endpoints }: EndpointGroup) {
  const origins = new Set(endpoints.map(({ origin }) => origin)).size;
  const chosen = level ?? (origins > 1 ? 'linked' : 'plain');
  if (!HEAD_LEVELS.includes(chosen)) throw invalid('level', `is none of ${HEAD_LEVELS.join(', ')}`);
  if (chosen === 'linked' && (!Number.isInteger(agreeing) || agreeing < 2 || agreeing > origins)) {
    throw invalid('agreeing', `${agreeing} origins cannot agree where ${origins} are given`);
  }
  return { level: chosen, agreeing };
}

function invalid(parameter: string, reason: string): PlumblineError<'INVALID_PARAMETER'> {
  return new PlumblineError('INVALID_PARAMETER', `${parameter}: ${reason}`, { parameter, reason });
}
