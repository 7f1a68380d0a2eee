import type { RpcContext } from '../methods/context.js';
import { ACCOUNT_METHODS } from '../methods/devnet-accounts.js';
import { IMPERSONATION_METHODS } from '../methods/devnet-impersonation.js';
import { MINING_METHODS } from '../methods/devnet-mining.js';
import { NEXT_BLOCK_METHODS } from '../methods/devnet-next-block.js';
import { POOL_METHODS } from '../methods/devnet-pool.js';
import { SNAPSHOT_METHODS } from '../methods/devnet-snapshots.js';
import { TIME_METHODS } from '../methods/devnet-time.js';
import { eth_sendUnsignedTransaction } from '../methods/eth_sendTransaction.js';
import type { Method } from '../protocol/method.js';
import type { DevnetMethodName } from '../protocol/method-info.js';
import { WALLET_METHODS } from './wallet-methods.js';

/** The methods that only a devnet has. Loaded with a devnet alone: other nodes know their names from `METHOD_INFO`. */
export const DEVNET_METHODS: { readonly [Name in DevnetMethodName]: Method<RpcContext, Name> } = {
  eth_sendUnsignedTransaction,
  ...ACCOUNT_METHODS,
  ...IMPERSONATION_METHODS,
  ...MINING_METHODS,
  ...NEXT_BLOCK_METHODS,
  ...POOL_METHODS,
  ...SNAPSHOT_METHODS,
  ...TIME_METHODS,
  ...WALLET_METHODS,
};
