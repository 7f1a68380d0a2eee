import { Devnet } from '../chain/devnet/devnet.js';
import { devAlloc } from '../chain/devnet/genesis.js';
import { type Dictionary, generalDictionary, loadDictionary } from '../dictionary/dictionary.js';
import { PlumblineError } from '../errors.js';
import { Estimator } from '../estimate/estimator.js';
import { loadCalldataSizer } from '../kernel/calldata-sizer.js';
import type { KernelOptions } from '../kernel/contracts.js';
import { loadHasher } from '../kernel/hasher.js';
import { hasSimd } from '../kernel/instantiate.js';
import { loadTrieKernel } from '../kernel/trie-kernel.js';
import { devnet as devnetProfile } from '../networks/devnet.js';
import { type Network, schemeAt } from '../networks/network.js';
import { hexToBytes } from '../primitives/hex.js';
import type { RpcContext } from '../rpc/context.js';
import type { Reply } from '../rpc/envelope.js';
import { createDispatcher, type Dispatch } from '../rpc/handle.js';
import { inspectTable } from '../rpc/inspect-table.js';
import { layerOneTable } from '../rpc/layer-one-table.js';
import { methodTable } from '../rpc/method-table.js';
import { openWorldState } from '../state/open-world-state.js';
import type { WorldState } from '../state/world-state.js';
import { openIdbStore } from '../store/idb-store.js';
import type { PageStore } from '../store/page-store.js';
import type { DevnetChainOptions, NodeOptions, OpenProgress } from './options.js';
import type { Layer, NodeTransport } from './transport.js';

/** Seconds: an arbitrary moment before any devnet was started, the same for all of them. */
const GENESIS_TIMESTAMP = 1_700_000_000;
const COINBASE = hexToBytes('0xc01ba5e000000000000000000000000000059139');
const REQUEST_TIMEOUT_MS = 60_000;

/** What can only be given within one thread. */
export interface InlineExtras {
  readonly onProgress?: ((progress: OpenProgress) => void) | undefined;
  /** Instead of IndexedDB. */
  readonly store?: PageStore | undefined;
  /** Told of every error a method threw. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}

/**
 * Opens a node in this thread: kernels, dictionary, store, chain and methods, wired.
 *
 * @throws PlumblineError of whichever part does not open
 */
export async function openInline(options: NodeOptions = {}, extras: InlineExtras = {}): Promise<NodeTransport> {
  const report = (stage: OpenProgress['stage'], fraction: number) => extras.onProgress?.({ stage, fraction });
  const chainOptions: DevnetChainOptions = options.chain ?? { kind: 'devnet' };
  const network = profileOf(chainOptions);
  const build = options.kernelBuild ?? 'auto';
  const kernel: KernelOptions = { build };

  report('dictionary', 0);
  const dictionary = await openDictionary(options, network);
  report('kernels', 0);
  const scheme = schemeAt(network, 0);
  const [hasher, tries, sizer] = await Promise.all([
    loadHasher(scheme, kernel),
    loadTrieKernel(scheme, { ...kernel, undo: true, nodes: true }),
    loadCalldataSizer(dictionary.bytes, kernel),
  ]);
  report('store', 0);
  const store = extras.store ?? (options.storeName === undefined ? undefined : await openIdbStore(options.storeName));
  let chain: Devnet;
  try {
    chain = await openDevnet(chainOptions, network, { zkState: openWorldState(hasher, tries), store, report });
  } catch (error) {
    await store?.close();
    throw error;
  }
  const estimator = new Estimator(chain, sizer, dictionary);
  const context: RpcContext = { chain, estimator, devnet: chain };
  const handling = { timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS, onError: extras.onError };
  const dispatchers: Record<Layer, Dispatch> = {
    l2: createDispatcher(methodTable(context), context, handling),
    inspect: createDispatcher(inspectTable(), context, handling),
    l1: createDispatcher(layerOneTable(), { layerOne: chain.layerOne, network }, handling),
  };
  report('ready', 1);
  const simd = build === 'simd' || (build === 'auto' && hasSimd());
  return new InlineTransport(chain, dispatchers, {
    chainId: network.chainId,
    networkName: network.name,
    hashScheme: scheme,
    rollupAddress: network.rollup.address,
    kernelBuild: simd ? 'simd' : 'scalar',
  });
}

class InlineTransport implements NodeTransport {
  private closed = false;

  constructor(
    private readonly chain: Devnet,
    private readonly dispatchers: Record<Layer, Dispatch>,
    readonly info: NodeTransport['info'],
  ) {}

  async dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    if (this.closed) throw new PlumblineError('NODE_CLOSED', 'the node was closed', {});
    const reply = await this.dispatchers[layer](payload, { signal });
    signal?.throwIfAborted();
    return reply;
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.chain.close();
  }

  /** A node in this thread ends with it, and then nobody is left to be told. */
  onFailure(): () => void {
    return () => {};
  }
}

function profileOf(options: DevnetChainOptions): Network {
  return options.network ?? devnetProfile(options.scheme === undefined ? {} : { scheme: options.scheme });
}

function openDevnet(
  options: DevnetChainOptions,
  network: Network,
  parts: {
    zkState: WorldState;
    store: PageStore | undefined;
    report: (stage: OpenProgress['stage'], fraction: number) => void;
  },
): Promise<Devnet> {
  const { pricing } = network;
  return Devnet.open({
    network,
    zkState: parts.zkState,
    alloc: { ...devAlloc(), ...options.alloc },
    genesisTimestamp: GENESIS_TIMESTAMP,
    mining: options.mining ?? 'auto',
    finality: options.finality ?? {},
    prices: options.prices ?? (pricing.model === 'extra-data' ? pricing.defaults : undefined),
    coinbase: COINBASE,
    now: () => Math.floor(Date.now() / 1000),
    store: parts.store,
    onProgress: parts.report,
  });
}

async function openDictionary(options: NodeOptions, network: Network): Promise<Dictionary> {
  const source = options.dictionary ?? { kind: 'general' };
  if (source.kind === 'general') return generalDictionary();
  return loadDictionary(source.kind === 'url' ? { url: source.url } : { bytes: source.bytes }, network.dictionary);
}
