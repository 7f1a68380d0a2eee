import type { RpcContext } from '../methods/context.js';
import { ACCOUNT_METHODS, IMPERSONATION_METHODS } from '../methods/devnet-accounts.js';
import { laterMethods } from '../methods/devnet-method.js';
import { MINING_METHODS, NEXT_BLOCK_METHODS, SNAPSHOT_METHODS, TIME_METHODS } from '../methods/devnet-mining.js';
import { POOL_METHODS } from '../methods/devnet-pool.js';
import { SETTING_METHODS } from '../methods/devnet-settings.js';
import { eth_sendRawTransaction } from '../methods/eth_sendRawTransaction.js';
import { eth_sendTransactionSync, eth_sendUnsignedTransaction } from '../methods/eth_sendTransaction.js';
import { eth_subscribe, eth_unsubscribe } from '../methods/eth_subscribe.js';
import type { Method } from '../protocol/method.js';
import type { DevnetMethodName } from '../protocol/method-info.js';
import { WALLET_METHODS } from './wallet-methods.js';

/** Methods that few ask for. Their code is loaded with the first call. */
const LATER = {
  ...laterMethods(
    [
      'admin_nodeInfo',
      'anvil_getGenesisTime',
      'anvil_metadata',
      'anvil_nodeInfo',
      'eth_capabilities',
      'hardhat_metadata',
    ],
    async () => (await import('../methods/devnet-info.js')).INFO_METHODS,
  ),
  ...laterMethods(
    ['anvil_reorg', 'anvil_reset', 'anvil_rollback', 'anvil_setRpcUrl', 'hardhat_reset'],
    async () => (await import('../methods/devnet-reorg.js')).REORG_METHODS,
  ),
  ...laterMethods(
    ['anvil_mine_detailed', 'evm_mine_detailed'],
    async () => (await import('../methods/devnet-mine-detailed.js')).MINE_DETAILED_METHODS,
  ),
  ...laterMethods(
    ['anvil_dealERC20', 'anvil_setERC20Allowance', 'anvil_setERC20Balance', 'hardhat_dealERC20'],
    async () => (await import('../methods/devnet-tokens.js')).TOKEN_METHODS,
  ),
  ...laterMethods(
    ['anvil_dumpState', 'anvil_loadState', 'hardhat_dumpState', 'hardhat_loadState'],
    async () => (await import('../methods/devnet-state-dump.js')).STATE_METHODS,
  ),
};

/** Of every kind of chain, loaded with a devnet: what follows such a request at once, such as a block, must not come before it. */
const IN_ORDER = { eth_sendRawTransaction, eth_subscribe, eth_unsubscribe };

/** The methods that only a devnet has. Loaded with a devnet alone: other nodes know their names from `METHOD_INFO`. */
export const DEVNET_METHODS: typeof IN_ORDER & { readonly [Name in DevnetMethodName]: Method<RpcContext, Name> } = {
  ...IN_ORDER,
  eth_sendTransactionSync,
  eth_sendUnsignedTransaction,
  ...ACCOUNT_METHODS,
  ...IMPERSONATION_METHODS,
  ...MINING_METHODS,
  ...NEXT_BLOCK_METHODS,
  ...LATER,
  ...POOL_METHODS,
  ...SETTING_METHODS,
  ...SNAPSHOT_METHODS,
  ...TIME_METHODS,
  ...WALLET_METHODS,
};
