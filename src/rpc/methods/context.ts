import type { Chain } from '../../chain/chain.js';
import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import type { Estimator } from '../../estimate/estimator.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { FilterRegistry } from '../filters/filter-registry.js';
import type { NodeStatus } from '../inspection/node-status.js';
import type { StorageControl } from '../inspection/storage-control.js';
import type { Method } from '../protocol/method.js';
import { type CommonMethodName, type DevnetMethodName, METHOD_INFO } from '../protocol/method-info.js';

/** What the methods of one node work on. */
export interface RpcContext {
  readonly chain: Chain;
  readonly estimator: Estimator;
  /** Most bytes of return data and logs that one request may read; no limit when left out. */
  readonly maxAnswerBytes?: number | undefined;
  /** Loads the filters of this node. */
  filters(): Promise<FilterRegistry>;
  /** Control of a devnet; left out for other chains. */
  readonly devnet?: DevnetControl;
  /** What the node stores. */
  readonly storage?: StorageControl;
  /** Asks the endpoints and says what was found. Left out by tests of single methods. */
  status?(signal?: AbortSignal): Promise<NodeStatus>;
}

/**
 * Defines a JSON-RPC method of a node.
 *
 * @param name - without a row in `METHOD_INFO` it does not compile
 */
export function defineMethod<Name extends CommonMethodName | DevnetMethodName>(
  name: Name,
  handle: Method<RpcContext>['handle'],
): Method<RpcContext, Name> {
  return { name, info: METHOD_INFO.l2[name], handle };
}

/** A method of a module that is loaded with the first call of one of its methods: for large ones that few nodes are asked for. */
export function laterMethod<Name extends CommonMethodName | DevnetMethodName>(
  name: Name,
  load: () => Promise<{ readonly [Own in Name]: Method<RpcContext, Own> }>,
): Method<RpcContext, Name> {
  const loaded = loadOnce(load);
  return defineMethod(name, async (context, params, call) => (await loaded())[name].handle(context, params, call));
}
