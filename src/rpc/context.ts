import type { Chain } from '../chain/chain.js';
import type { DevnetControl } from '../chain/devnet/devnet.js';
import type { Estimator } from '../estimate/estimator.js';

/** What the methods of one node work on. */
export interface RpcContext {
  readonly chain: Chain;
  readonly estimator: Estimator;
  /** Present when the chain is a devnet: what only that can be told. */
  readonly devnet?: DevnetControl;
}
