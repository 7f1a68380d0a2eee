import {
  eth_getBalance,
  eth_getCode,
  eth_getStorageAt,
  eth_getStorageValues,
  eth_getTransactionCount,
} from '../methods/account-state.js';
import {
  eth_getBlockByHash,
  eth_getBlockByNumber,
  eth_getBlockReceipts,
  eth_getBlockTransactionCountByHash,
  eth_getBlockTransactionCountByNumber,
} from '../methods/blocks.js';
import { laterMethod, type RpcContext } from '../methods/context.js';
import { eth_blockNumber } from '../methods/eth_blockNumber.js';
import { eth_call } from '../methods/eth_call.js';
import { eth_chainId } from '../methods/eth_chainId.js';
import { eth_createAccessList } from '../methods/eth_createAccessList.js';
import { eth_estimateGas } from '../methods/eth_estimateGas.js';
import { eth_getProof } from '../methods/eth_getProof.js';
import { eth_subscribe, eth_unsubscribe } from '../methods/eth_subscribe.js';
import {
  eth_getFilterChanges,
  eth_getFilterLogs,
  eth_newBlockFilter,
  eth_newFilter,
  eth_newPendingTransactionFilter,
  eth_uninstallFilter,
} from '../methods/filters.js';
import { eth_baseFee, eth_blobBaseFee, eth_gasPrice, eth_maxPriorityFeePerGas } from '../methods/gas-price.js';
import { linea_estimateGas } from '../methods/linea_estimateGas.js';
import { linea_getProof } from '../methods/linea_getProof.js';
import { linea_getTransactionExclusionStatusV1 } from '../methods/linea_getTransactionExclusionStatusV1.js';
import {
  eth_accounts,
  eth_syncing,
  net_listening,
  net_peerCount,
  net_version,
  web3_clientVersion,
} from '../methods/node-constants.js';
import {
  eth_getTransactionByBlockHashAndIndex,
  eth_getTransactionByBlockNumberAndIndex,
  eth_getTransactionByHash,
  eth_getTransactionReceipt,
  eth_sendRawTransaction,
} from '../methods/transactions.js';
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import { aliasesOf, type CommonMethodName, insteadOf, methodsOff } from '../protocol/method-info.js';

const uncles = () => import('../methods/uncles.js');
const raw = () => import('../methods/debug_raw.js');
const traces = () => import('../methods/debug_trace.js');

/** The methods of every kind of chain. */
const METHODS = [
  laterMethod('debug_getRawBlock', raw),
  laterMethod('debug_getRawHeader', raw),
  laterMethod('debug_getRawReceipts', raw),
  laterMethod('debug_getRawTransaction', raw),
  laterMethod('debug_traceBlockByHash', traces),
  laterMethod('debug_traceBlockByNumber', traces),
  laterMethod('debug_traceCall', traces),
  laterMethod('debug_traceTransaction', traces),
  eth_accounts,
  eth_baseFee,
  eth_blobBaseFee,
  eth_blockNumber,
  eth_call,
  eth_chainId,
  eth_createAccessList,
  eth_estimateGas,
  laterMethod('eth_feeHistory', () => import('../methods/eth_feeHistory.js')),
  eth_gasPrice,
  eth_getBalance,
  eth_getBlockByHash,
  eth_getBlockByNumber,
  eth_getBlockReceipts,
  eth_getBlockTransactionCountByHash,
  eth_getBlockTransactionCountByNumber,
  eth_getCode,
  eth_getFilterChanges,
  eth_getFilterLogs,
  laterMethod('eth_getLogs', () => import('../methods/eth_getLogs.js')),
  eth_getProof,
  eth_getStorageAt,
  eth_getStorageValues,
  eth_getTransactionByBlockHashAndIndex,
  eth_getTransactionByBlockNumberAndIndex,
  eth_getTransactionByHash,
  eth_getTransactionCount,
  eth_getTransactionReceipt,
  laterMethod('eth_getUncleByBlockHashAndIndex', uncles),
  laterMethod('eth_getUncleByBlockNumberAndIndex', uncles),
  laterMethod('eth_getUncleCountByBlockHash', uncles),
  laterMethod('eth_getUncleCountByBlockNumber', uncles),
  eth_maxPriorityFeePerGas,
  eth_newBlockFilter,
  eth_newFilter,
  eth_newPendingTransactionFilter,
  eth_sendRawTransaction,
  laterMethod('eth_simulateV1', () => import('../methods/eth_simulateV1.js')),
  eth_subscribe,
  eth_syncing,
  eth_uninstallFilter,
  eth_unsubscribe,
  linea_estimateGas,
  linea_getProof,
  linea_getTransactionExclusionStatusV1,
  net_listening,
  net_peerCount,
  net_version,
  web3_clientVersion,
] as const satisfies readonly Method<RpcContext, CommonMethodName>[];

/** A method of the list. A name that `METHOD_INFO` has for every kind of chain, and the list has not, does not compile below. */
type Listed<Name extends (typeof METHODS)[number]['name']> = Method<RpcContext, Name>;

/**
 * All methods of a node, by the names it answers to.
 *
 * @param devnetMethods - `DEVNET_METHODS` for a devnet; other chains answer these names with `METHOD_NOT_ENABLED`
 */
export function methodTable(
  { chain }: RpcContext,
  devnetMethods: Readonly<Record<string, Method<RpcContext>>> = {},
): MethodTable<RpcContext> {
  const methods: readonly Listed<CommonMethodName>[] = METHODS;
  return createMethodTable([...methods, ...Object.values(devnetMethods)], {
    aliases: Object.fromEntries(aliasesOf(chain.network.methodPrefix)),
    disabled: methodsOff(chain.kind),
    insteadOf,
  });
}
