import type { LightChainOptions } from '../../chain/light/light-options.js';
import { isFollowed, type LayerOneOptions } from '../../chain/light/light-options.js';
import { invalidParameter } from '../../errors.js';
import { isLayerOne } from '../../networks/network.js';
import { answersOf, methodOf, type Reply } from '../../rpc/envelope.js';
import type { LateSignal } from '../../scheduling/deadline.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import { type InlineExtras, type NodeInfo, type NodeOptions, textOf } from '../options/options.js';
import { requireEndpoints } from '../options/require-endpoints.js';
import {
  type ChainCaller,
  type ChainSwitch,
  type Layer,
  type NodeSession,
  type NodeTransport,
  type SessionListener,
  switchedTo,
} from '../provider/transport.js';
import type { InlineTransport } from './inline-transport.js';
import { openBase } from './node-wiring.js';
import { openCache, openLightNode } from './open-light.js';
import { openOnStore } from './store-source.js';

/**
 * Opens light nodes of several networks in this thread as one node. A rollup without `layerOne` shares the endpoints and the consensus of the
 * chain that is its layer 1.
 *
 * @throws PlumblineError as `openLight`; `INVALID_PARAMETER` for a rollup with `layerOne` beside a chain that is followed as its layer 1
 */
export async function openChains(
  chains: readonly LightChainOptions[],
  options: NodeOptions,
  extras: InlineExtras,
): Promise<NodeTransport> {
  for (const [i, chain] of chains.entries()) requireEndpoints(`chains[${i}]`, chain);
  extras.onProgress?.({ stage: 'store', fraction: 0 });
  // Each of the chains would say that it is ready.
  const onProgress: InlineExtras['onProgress'] = (progress) => {
    if (progress.stage !== 'ready') extras.onProgress?.(progress);
  };
  const node = await openOnStore(options, extras, 'memory', async (kept) => {
    const bases = await Promise.all(
      chains.map(({ network }) => openBase(kept, network, options, { ...extras, onProgress })),
    );
    const cache = await openCache(bases[0]!);
    const opened = new Map<LightChainOptions, Awaited<ReturnType<typeof openLightNode>>>();
    const open = async (chain: LightChainOptions, i: number) => {
      const below = layerOneOf(chain, chains);
      const whole = below === undefined ? chain : { ...chain, layerOne: below.options };
      const layerOne = below && opened.get(below.chain)!.parts;
      opened.set(chain, await openLightNode(bases[i]!, whole, { cache, layerOne }));
    };
    // A layer 1 first: the rollups share it.
    for (const isFirst of [true, false])
      await Promise.all(chains.map((chain, i) => isLayerOne(chain.network) === isFirst && open(chain, i)));
    const nodes = chains.map((chain) => opened.get(chain)!.node);
    return new ChainsTransport(nodes);
  });
  extras.onProgress?.({ stage: 'ready', fraction: 1 });
  return node;
}

/**
 * The chain that is the layer 1 of a rollup, and how the rollup reads it; undefined for a rollup that has a layer 1 of its own in its options,
 * or has none, and for a layer 1.
 */
function layerOneOf(
  chain: LightChainOptions,
  chains: readonly LightChainOptions[],
): { readonly chain: LightChainOptions; readonly options: LayerOneOptions } | undefined {
  const { network } = chain;
  if (isLayerOne(network) || network.layerOne === undefined) return undefined;
  const beacon = textOf(network.layerOne);
  const below = chains.find((other) => isLayerOne(other.network) && textOf(other.network.layerOne) === beacon);
  if (below === undefined || below.layerOne === undefined || !isFollowed(below.layerOne)) return undefined;
  if (chain.layerOne !== undefined) {
    const at = `chains[${chains.indexOf(chain)}].layerOne`;
    throw invalidParameter(at, `must be left out: chains[${chains.indexOf(below)}] is followed as its layer 1`);
  }
  return { chain: below, options: { ...below.layerOne, execution: below.endpoints } };
}

/** A node in this thread that has several chains. */
class ChainsTransport implements NodeTransport {
  readonly info: NodeInfo;

  /** @param nodes - one for each chain; they have one store */
  constructor(private readonly nodes: readonly InlineTransport[]) {
    const chains = nodes.map(({ info }) => info);
    this.info = { ...chains[0]!, chains };
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller?: ChainCaller): Promise<Reply> {
    return this.of(caller?.chain).dispatch(layer, payload, signal, caller);
  }

  openSession(listener: SessionListener, connection?: object, chain?: number): NodeSession {
    if (chain !== undefined) return this.of(chain).openSession(listener, connection);
    const ids = this.info.chains!.map(({ chainId }) => chainId);
    const open = (id: number) => this.of(id).openSession(listener, connection, id, ids);
    let current = this.info.chainId;
    let session = open(current);
    return {
      dispatch: async (payload, signal, unreported) => {
        const reply = await session.dispatch(payload, signal, unreported);
        for (const { item, answer } of answersOf(payload, reply)) {
          if (methodOf(item) !== 'wallet_switchEthereumChain' || !('result' in answer)) continue;
          const asked = switchedTo(item as ChainSwitch);
          if (asked === current) continue;
          // Its subscriptions are of the chain that the caller leaves.
          session.close();
          current = asked;
          session = open(asked);
        }
        return reply;
      },
      close: () => session.close(),
    };
  }

  get storeStatus(): StoreStatus {
    return this.of().storeStatus;
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    return this.of().onStoreStatus(listener);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  /** Never called back, as that of a node with one chain. */
  onFailure(): () => void {
    return () => {};
  }

  /** @throws PlumblineError `INVALID_PARAMETER` */
  private of(chain: number = this.info.chainId): InlineTransport {
    const found = this.nodes.find(({ info }) => info.chainId === chain);
    if (found === undefined) throw invalidParameter('chain', 'must be the id of a chain of this node');
    return found;
  }
}
