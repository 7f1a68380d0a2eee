import type { RpcContext } from '../methods/context.js';
import { CHAIN_METHODS } from '../methods/developer-chain.js';
import { STATE_METHODS } from '../methods/developer-state.js';
import { eth_sendTransaction, eth_sendUnsignedTransaction } from '../methods/eth_sendTransaction.js';
import { MINE_METHODS } from '../methods/evm_mine.js';
import { TXPOOL_METHODS } from '../methods/txpool.js';
import type { Method } from '../protocol/method.js';

/** Methods that only a devnet carries out. */
export const DEVNET_METHODS: readonly Method<RpcContext>[] = [
  eth_sendTransaction,
  eth_sendUnsignedTransaction,
  ...MINE_METHODS,
  ...CHAIN_METHODS,
  ...STATE_METHODS,
  ...TXPOOL_METHODS,
];
