import type { RpcContext } from './context.js';
import { createMethodTable, type Method, type MethodTable } from './method.js';
import { eth_getBalance, eth_getCode, eth_getStorageAt, eth_getTransactionCount } from './methods/account-state.js';
import { eth_getBlockByHash, eth_getBlockByNumber } from './methods/blocks.js';
import { eth_blockNumber } from './methods/eth_blockNumber.js';
import { eth_call } from './methods/eth_call.js';
import { eth_chainId } from './methods/eth_chainId.js';
import { eth_estimateGas } from './methods/eth_estimateGas.js';
import { evm_mine } from './methods/evm_mine.js';
import { eth_gasPrice, eth_maxPriorityFeePerGas } from './methods/gas-price.js';
import { linea_estimateGas } from './methods/linea_estimateGas.js';
import { linea_getProof } from './methods/linea_getProof.js';
import { eth_accounts, eth_syncing, net_version, web3_clientVersion } from './methods/node-constants.js';
import { eth_getTransactionByHash, eth_getTransactionReceipt, eth_sendRawTransaction } from './methods/transactions.js';

const METHODS: readonly Method<RpcContext>[] = [
  eth_accounts,
  eth_blockNumber,
  eth_call,
  eth_chainId,
  eth_estimateGas,
  eth_gasPrice,
  eth_getBalance,
  eth_getBlockByHash,
  eth_getBlockByNumber,
  eth_getCode,
  eth_getStorageAt,
  eth_getTransactionByHash,
  eth_getTransactionCount,
  eth_getTransactionReceipt,
  eth_maxPriorityFeePerGas,
  eth_sendRawTransaction,
  eth_syncing,
  evm_mine,
  linea_estimateGas,
  linea_getProof,
  net_version,
  web3_clientVersion,
];

/** Methods that only a devnet carries out. */
const DEVNET_ONLY = ['evm_mine'];

/** The two methods that carry the network's prefix; they always answer to `linea_` and `l2_` as well. */
const PREFIXED = ['estimateGas', 'getProof'];

/** Every method of a node, by the names it answers to. */
export function methodTable({ chain }: RpcContext): MethodTable<RpcContext> {
  const prefixes = new Set(['l2', chain.network.methodPrefix]);
  prefixes.delete('linea');
  const aliases = [...prefixes].flatMap((prefix) => PREFIXED.map((name) => [`${prefix}_${name}`, `linea_${name}`]));
  return createMethodTable(METHODS, {
    aliases: Object.fromEntries(aliases),
    disabled: chain.kind === 'devnet' ? [] : DEVNET_ONLY,
  });
}
