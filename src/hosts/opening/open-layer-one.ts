import type { Devnet } from '../../chain/devnet/devnet.js';
import { Estimator } from '../../estimate/estimator.js';
import { FilterRegistry } from '../../rpc/filter-registry.js';
import { createDispatcher, type Dispatch, type HandleOptions } from '../../rpc/handle.js';
import { METHODS } from '../../rpc/methods/chain-methods.generated.js';
import { DEVNET_METHODS } from '../../rpc/methods/devnet-methods.generated.js';
import { type L1Context, layerOneTable } from '../../rpc/methods/layer-one.js';
import { monotonicMs } from '../../scheduling/clock.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { ChainParts, NodeBase } from './node-wiring.js';
import type { ReplaceableDevnet } from './replaceable-devnet.js';

/** The dispatcher of the layer 1 of a devnet. Its blocks are executed before each request. */
export function openLayerOne(
  devnet: ReplaceableDevnet,
  { settings, dictionary }: NodeBase,
  { sizer }: Pick<ChainParts, 'sizer'>,
  handling: HandleOptions,
): Dispatch {
  const { gasSearch, maxAnswerBytes, maxFilters } = settings;
  const methods = layerOneTable([...METHODS, ...DEVNET_METHODS]);
  const dispatchers = new WeakMap<Devnet, Dispatch>();
  const open = (chain: Devnet, beacon: L1Context['beacon']): Dispatch => {
    const context: L1Context = {
      chain,
      beacon,
      estimator: new Estimator(chain, sizer, dictionary, { gasSearch, maxAnswerBytes }),
      maxAnswerBytes,
      filters: loadOnce(async () => new FilterRegistry(chain, { now: monotonicMs, maxFilters, maxAnswerBytes })),
      devnet: chain.control,
    };
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
