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
import { aliasesOf, type CommonMethodName, methodsOff } from '../protocol/method-info.js';

const uncles = () => import('../methods/uncles.js');
const raw = () => import('../methods/debug_raw.js');
const traces = () => import('../methods/debug_trace.js');

/** A method of a module that is loaded with the first call of one of its methods. */
const later = <Name extends CommonMethodName>(
  name: Name,
  load: () => Promise<{ readonly [Own in Name]: Method<RpcContext, Own> }>,
) => laterMethod(name, async () => (await load())[name]);

/** The methods of every kind of chain. */
const METHODS = [
  later('debug_getRawBlock', raw),
  later('debug_getRawHeader', raw),
  later('debug_getRawReceipts', raw),
  later('debug_getRawTransaction', raw),
  later('debug_traceBlockByHash', traces),
  later('debug_traceBlockByNumber', traces),
  later('debug_traceCall', traces),
  later('debug_traceTransaction', traces),
  eth_accounts,
  eth_baseFee,
  eth_blobBaseFee,
  eth_blockNumber,
  eth_call,
  eth_chainId,
  later('eth_createAccessList', () => import('../methods/eth_createAccessList.js')),
  eth_estimateGas,
  later('eth_feeHistory', () => import('../methods/eth_feeHistory.js')),
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
  later('eth_getLogs', () => import('../methods/eth_getLogs.js')),
  eth_getProof,
  eth_getStorageAt,
  eth_getStorageValues,
  eth_getTransactionByBlockHashAndIndex,
  eth_getTransactionByBlockNumberAndIndex,
  eth_getTransactionByHash,
  eth_getTransactionCount,
  eth_getTransactionReceipt,
  later('eth_getUncleByBlockHashAndIndex', uncles),
  later('eth_getUncleByBlockNumberAndIndex', uncles),
  later('eth_getUncleCountByBlockHash', uncles),
  later('eth_getUncleCountByBlockNumber', uncles),
  eth_maxPriorityFeePerGas,
  eth_newBlockFilter,
  eth_newFilter,
  eth_newPendingTransactionFilter,
  eth_sendRawTransaction,
  later('eth_simulateV1', () => import('../methods/eth_simulateV1.js')),
  eth_subscribe,
  eth_syncing,
  eth_uninstallFilter,
  eth_unsubscribe,
  linea_estimateGas,
  linea_getProof,
  later('linea_getTransactionExclusionStatusV1', () => import('../methods/linea_getTransactionExclusionStatusV1.js')),
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
  });
}
