import type { Chain } from '../../chain/chain.js';
import type { Devnet } from '../../chain/devnet/devnet.js';
import { PlumblineError } from '../../errors.js';
import { Estimator } from '../../estimate/estimator.js';
import { type Messages, openMessages } from '../../messages/find-claim.js';
import type { ClaimRunner } from '../../messages/message-logs.js';
import type { RpcResponse } from '../../rpc/envelope.js';
import { FilterRegistry } from '../../rpc/filter-registry.js';
import { createDispatcher, type Dispatch, type HandleOptions } from '../../rpc/handle.js';
import { METHODS } from '../../rpc/methods/chain-methods.generated.js';
import type { RpcContext } from '../../rpc/methods/context.js';
import { DEVNET_METHODS } from '../../rpc/methods/devnet-methods.generated.js';
import { type L1Context, layerOneTable } from '../../rpc/methods/layer-one.js';
import { methodTable } from '../../rpc/methods/method-table.js';
import { monotonicMs } from '../../scheduling/clock.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { ChainParts, NodeBase } from './node-wiring.js';
import type { ReplaceableDevnet } from './replaceable-devnet.js';

/** What both layers of a devnet are opened with. */
interface LayerParts {
  readonly devnet: ReplaceableDevnet;
  readonly base: NodeBase;
  readonly sizer: ChainParts['sizer'];
}

function contextOf(chain: Chain, { base: { settings, dictionary }, sizer }: LayerParts): RpcContext {
  const { gasSearch, maxAnswerBytes, maxFilters } = settings;
  return {
    chain,
    estimator: new Estimator(chain, sizer, dictionary, { gasSearch, maxAnswerBytes }),
    maxAnswerBytes,
    filters: loadOnce(async () => new FilterRegistry(chain, { now: monotonicMs, maxFilters, maxAnswerBytes })),
  };
}

/** The dispatcher of the layer 1 of a devnet. Its blocks are executed before each request. */
export function openLayerOne(parts: LayerParts, handling: HandleOptions): Dispatch {
  const { devnet } = parts;
  const methods = layerOneTable([...METHODS, ...DEVNET_METHODS]);
  const dispatchers = new WeakMap<Devnet, Dispatch>();
  const open = (chain: Devnet, beacon: L1Context['beacon']): Dispatch => {
    const context: L1Context = { ...contextOf(chain, parts), beacon, devnet: chain.control };
    const dispatch = createDispatcher(methods, context, handling);
    dispatchers.set(chain, dispatch);
    return dispatch;
  };
  return async (payload, call) => {
    await devnet.replaced();
    const { current } = devnet;
    const { chain } = await current.settleLayerOne();
    return (dispatchers.get(chain) ?? open(chain, current.beacon))(payload, call);
  };
}

/** The messages of a devnet. Its own methods answer in the place of endpoints, and its layer 1 runs the claims. */
export function messagesOfDevnet(parts: LayerParts): Messages | undefined {
  const { chain } = parts.devnet;
  const opened = () => parts.devnet.current.settleLayerOne();
  // The request for a message has the time limit and the gas.
  const upstream = endpointOf(
    createDispatcher(methodTable(contextOf(chain, parts), DEVNET_METHODS), contextOf(chain, parts)),
  );
  const layerOne = { ...endpointOf(openLayerOne(parts, {})), endpoints: [{ id: 'devnet' }] };
  const runner: ClaimRunner = {
    async warm() {},
    async run({ hash }, call, limits) {
      const [{ chain: own }, { simulateCallAt }] = await Promise.all([opened(), import('../../evm/call.js')]);
      const block = (await own.block({ hash }))!;
      return simulateCallAt(await own.stateAt(block), own.contextOf(block), call, { network: own.network, ...limits });
    },
  };
  const settlement = async () => ({ layerOneBlock: async () => (await opened()).head });
  const groups = { upstream, layerOne, level: 'held', runner: async () => runner } as const;
  return openMessages(chain.network, { ...chain, settlement }, groups);
}

/** Requests to a layer as to an endpoint of it. */
function endpointOf(dispatch: Dispatch): Pick<EndpointGroup, 'request'> {
  const from = { id: 'devnet', origin: 'devnet' };
  return {
    async request(
      method: string,
      params: readonly unknown[],
      {
        accept,
        signal,
      }: { readonly accept: (answer: unknown, from: object) => unknown; readonly signal?: AbortSignal },
    ) {
      const { body } = await dispatch({ jsonrpc: '2.0', id: 1, method, params }, { signal });
      const answer = body as RpcResponse;
      if ('result' in answer) return accept(answer.result, from);
      const { code, message } = answer.error;
      throw new PlumblineError('UPSTREAM_ERROR', message, { origin: from.origin, code, message });
    },
  } as Pick<EndpointGroup, 'request'>;
}
