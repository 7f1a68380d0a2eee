import type { Chain } from '../../chain/chain.js';
import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import type { Estimator } from '../../estimate/estimator.js';
import type { FilterRegistry } from '../filters/filter-registry.js';
import type { StorageControl } from '../inspection/storage-control.js';

/** What the methods of one node work on. */
export interface RpcContext {
  readonly chain: Chain;
  readonly estimator: Estimator;
  /** Steps the executions of one request may take; no limit when left out. */
  readonly stepBudget?: number | undefined;
  readonly filters: FilterRegistry;
  /** Present when the chain is a devnet: what only that can be told. */
  readonly devnet?: DevnetControl;
  /** What the node keeps. */
  readonly storage?: StorageControl;
}
