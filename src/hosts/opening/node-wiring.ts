import type { Chain } from '../../chain/chain.js';
import { Estimator } from '../../estimate/estimator.js';
import { type Dictionary, type DictionaryCache, generalDictionary, obtainDictionary } from '../../fees/dictionary.js';
import type { CalldataSizer, HashScheme } from '../../kernel/contracts.js';
import { preferEvmBuild } from '../../kernel/evm-module.js';
import { hasSimd } from '../../kernel/simd.js';
import { isLayerOne, type Network } from '../../networks/network.js';
import { withDefaults } from '../../primitives/option-table.js';
import type { FilterRegistry } from '../../rpc/filter-registry.js';
import { createDispatcher, type Dispatch, type HandleOptions } from '../../rpc/handle.js';
import { createMethodTable } from '../../rpc/method.js';
import type { RpcContext } from '../../rpc/methods/context.js';
import type { DEVNET_METHODS } from '../../rpc/methods/devnet-methods.generated.js';
import { inspectTable, methodTable } from '../../rpc/methods/method-table.js';
import { noteRequest } from '../../rpc/note-request.js';
import type { DictionaryReport, EndpointReport, StorageControl } from '../../rpc/schema/answers.js';
import { monotonicMs } from '../../scheduling/clock.js';
import type { Deadline } from '../../scheduling/deadline.js';
import { InOrder } from '../../scheduling/in-order.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { PageStore } from '../../store/page-store.js';
import {
  type Budgets,
  budgetsOf,
  type DictionarySource,
  type InlineExtras,
  NODE_OPTIONS,
  type NodeOptions,
  type NodeSettings,
  type OpenProgress,
} from '../options/options.js';
import type { Layer } from '../provider/transport.js';
import { InlineTransport } from './inline-transport.js';
import type { ReplaceableDevnet, ReplacedDevnet } from './replaceable-devnet.js';
import type { Kept } from './store-source.js';

/** A node that is being opened: its options with defaults, its store and its dictionary. */
export interface NodeBase extends Kept {
  readonly network: Network;
  readonly settings: NodeSettings;
  readonly extras: InlineExtras;
  readonly budgets: Budgets;
  readonly dictionary: Dictionary;
  report(stage: OpenProgress['stage'], fraction: number): void;
}

/**
 * Opens what nodes of every kind of chain have.
 *
 * @throws PlumblineError as `resolveDictionary`
 */
export async function openBase(
  { store, health }: Kept,
  network: Network,
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeBase> {
  const settings = withDefaults(NODE_OPTIONS, options);
  const report = (stage: OpenProgress['stage'], fraction: number) => extras.onProgress?.({ stage, fraction });
  const budgets = budgetsOf(settings.storage);
  report('dictionary', 0);
  const dictionary = await resolveDictionary(options.dictionary, network, store, budgets.dictionaries);
  report('kernels', 0);
  preferEvmBuild(settings.kernelBuild);
  return { store, health, network, settings, extras, budgets, dictionary, report };
}

/** The chain of a node, and what depends on its kind. */
export interface ChainParts {
  readonly chain: Chain;
  /** Loads the class of filters. */
  readonly filters: () => Promise<typeof FilterRegistry>;
  /** Hash scheme of the zk state after the newest block; undefined for a network that is no rollup. */
  readonly scheme: HashScheme | undefined;
  readonly sizer: () => Promise<CalldataSizer>;
  readonly control: StorageControl;
  /** Asks the endpoints; left out for a chain that has none. */
  readonly check?: (signal?: AbortSignal) => Promise<readonly EndpointReport[]>;
  readonly collectEvidence?: RpcContext['collectEvidence'];
  readonly messages?: RpcContext['messages'];
  readonly devnet?: DevnetParts;
}

/** What only the node of a devnet has. Its code is loaded with a devnet. */
export interface DevnetParts {
  readonly replaceable: ReplaceableDevnet<ReplacedDevnet>;
  readonly methods: typeof DEVNET_METHODS;
  /** The simulated layer 1; left out for a fork, which has none. */
  readonly layerOne?: (handling: HandleOptions) => Promise<Dispatch>;
}

/** Connects estimator, filters, methods and dispatchers to a chain. The node is then open. */
export function wireNode(
  base: NodeBase,
  { chain, scheme, sizer, control, check, collectEvidence, messages, filters, devnet }: ChainParts,
): InlineTransport {
  const { network, settings, extras, dictionary, health } = base;
  const { gasSearch, gasBudget, requestTimeoutMs, maxAnswerBytes, maxFilters, maxBatch, kernelBuild } = settings;
  const info = {
    chainId: network.chainId,
    networkName: network.name,
    ...(scheme !== undefined && { hashScheme: scheme }),
    ...(network.rollup !== undefined && { rollupAddress: network.rollup.address }),
    kernelBuild: kernelBuild === 'simd' || (kernelBuild === 'auto' && hasSimd()) ? 'simd' : 'scalar',
    dictionary: reportOf(dictionary),
  } as const;
  const parts: RpcContext = {
    chain,
    estimator: new Estimator(chain, sizer, dictionary, { gasSearch, maxAnswerBytes }),
    maxAnswerBytes,
    filters: loadOnce(async () => {
      const Filters = await filters();
      return new Filters(chain, { now: monotonicMs, maxFilters, maxAnswerBytes });
    }),
    storage: control,
    collectEvidence,
    messages,
    async status(signal) {
      const endpoints = (await check?.(signal)) ?? [];
      const ready = check === undefined || endpoints.some(({ role, answers }) => role === 'l2' && answers);
      return { checkedAt: Date.now(), ready, endpoints, dictionary: info.dictionary };
    },
  };
  const context: RpcContext = devnet === undefined ? parts : withControl(parts, devnet.replaceable);
  const running = new InOrder<Deadline>();
  const handling = {
    running,
    timeoutMs: requestTimeoutMs,
    gasBudget,
    maxBatch,
    onError: extras.onError,
  };
  const bounded = { ...handling, maxAnswerBytes };
  const l2 = createDispatcher(methodTable(context, devnet?.methods), context, { ...bounded, note: noteRequest });
  const dispatchers: Record<Layer, Dispatch> = {
    l2: devnet === undefined ? l2 : after(() => devnet.replaceable.replaced(), l2),
    // Without a limit: an exported chain has one of its own, the store's.
    inspect: createDispatcher(inspectTable(), context, handling),
    l1:
      devnet?.layerOne === undefined
        ? createDispatcher(createMethodTable([]), context, bounded)
        : openedLater(devnet.layerOne, bounded),
  };
  base.report('ready', 1);
  return new InlineTransport(chain, dispatchers, info, settings, health, running);
}
function reportOf({ name, sha256, networkOwn, reason }: Dictionary): DictionaryReport {
  return { name, sha256, networkOwn, ...(reason !== undefined && { reason }) };
}

/** The context of a devnet's methods: each request finds the control of the devnet that runs then. */
function withControl(parts: RpcContext, replaceable: DevnetParts['replaceable']): RpcContext {
  return {
    ...parts,
    get devnet() {
      return replaceable.current.control;
    },
  };
}

/** A dispatcher that the first request opens. */
function openedLater(open: NonNullable<DevnetParts['layerOne']>, handling: HandleOptions): Dispatch {
  const opened = loadOnce(() => open(handling));
  return async (payload, call) => (await opened())(payload, call);
}

/** A dispatcher whose requests wait first, if there is something to wait for. */
function after(wait: () => Promise<void> | undefined, dispatch: Dispatch): Dispatch {
  return (payload, call) => wait()?.then(() => dispatch(payload, call)) ?? dispatch(payload, call);
}

/** Time limit of the downloads, after which the general dictionary is used. */
const TIMEOUT_MS = 10_000;
const EMPTY_SHA256 = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const BUDGET_BYTES = 2 ** 20;

/**
 * The dictionary that a node sizes transactions with. Without a source it is the network's own, from the store or from the
 * URL of the profile; for a network without a dictionary it is the general one.
 *
 * @param store - caches checked dictionaries by sha256; no cache when left out
 * @param budgetBytes - limit of the cache; 1 MiB when left out
 * @throws PlumblineError `DICTIONARY_LENGTH_MISMATCH`, `DICTIONARY_CHECKSUM_MISMATCH` for bytes that are not the network's
 */
export function resolveDictionary(
  source: DictionarySource | undefined,
  network: Network,
  store: PageStore | undefined,
  budgetBytes: number = BUDGET_BYTES,
): Promise<Dictionary> {
  // A layer 1 sizes nothing.
  if (isLayerOne(network))
    return Promise.resolve({ name: 'none', sha256: EMPTY_SHA256, bytes: new Uint8Array(), networkOwn: false });
  if (source?.kind === 'general' || (source === undefined && network.dictionary === undefined)) {
    return generalDictionary();
  }
  return obtainDictionary(network.dictionary, {
    ...(source?.kind === 'bytes' && { bytes: source.bytes }),
    ...(source?.kind === 'url' && { url: source.url }),
    timeoutMs: TIMEOUT_MS,
    cache: store && cacheIn(store, budgetBytes),
  });
}

function cacheIn(store: PageStore, budgetBytes: number): DictionaryCache {
  const table = async () => {
    const [{ BudgetedTable }, { WriteBehind }] = await Promise.all([
      import('../../store/budgeted-table.js'),
      import('../../store/write-behind.js'),
    ]);
    const writer = new WriteBehind(store);
    return { writer, kept: new BudgetedTable(writer, 'dictionaries', budgetBytes) };
  };
  return {
    async get(sha256) {
      return (await table()).kept.get(sha256);
    },
    async put(sha256, bytes) {
      const { writer, kept } = await table();
      await kept.put(sha256, bytes);
      await writer.flush();
    },
  };
}
