import type { SimulatedBeacon } from '../../chain/devnet/layer-one/simulated-beacon.js';
import { createMethodTable, type Method, type MethodTable } from '../method.js';
import { METHOD_INFO } from '../method-info.js';
import { requireText } from '../parse-params.js';
import type { RpcContext } from './context.js';

/** The context of the methods of the simulated layer 1. */
export interface L1Context extends RpcContext {
  readonly beacon: () => Promise<SimulatedBeacon>;
}

/**
 * A request to the beacon API: path and query in, with `ssz` for the bytes of an object; status and body out. `src/rpc/http` sends
 * it for a GET.
 */
const beacon_get: Method<L1Context> = {
  name: 'beacon_get',
  info: METHOD_INFO.l1.beacon_get,
  async handle({ beacon }, [target, form], { signal }) {
    const [{ answerBeaconRequest }, chain] = await Promise.all([import('./beacon-api.js'), beacon()]);
    return answerBeaconRequest(chain, requireText(target, 'target', 'params'), form === 'ssz', signal);
  },
};

/** The methods of the simulated layer 1: some of those of a devnet, and its beacon API. @param methods - of a devnet */
export function layerOneTable(methods: readonly Method<RpcContext>[]): MethodTable<L1Context> {
  const own = new Map(methods.map((method) => [method.name, method]));
  const { beacon_get: _, ...others } = METHOD_INFO.l1;
  return createMethodTable([
    beacon_get,
    ...Object.entries(others).map(([name, info]): Method<L1Context> => ({ ...own.get(name)!, info })),
  ]);
}
