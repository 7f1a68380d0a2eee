import {
  eth_getBalance,
  eth_getCode,
  eth_getStorageAt,
  eth_getStorageValues,
  eth_getTransactionCount,
} from '../methods/account-state.js';
import { laterMethod, type RpcContext } from '../methods/context.js';
import { eth_blockNumber } from '../methods/eth_blockNumber.js';
import { eth_call } from '../methods/eth_call.js';
import { eth_chainId } from '../methods/eth_chainId.js';
import { eth_estimateGas } from '../methods/eth_estimateGas.js';
import { linea_estimateGas } from '../methods/linea_estimateGas.js';
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import { aliasesOf, type CommonMethodName, insteadOf, methodsOff } from '../protocol/method-info.js';

const blocks = () => import('../methods/blocks.js');
const transactions = () => import('../methods/transactions.js');
const filters = () => import('../methods/filters.js');
const prices = () => import('../methods/gas-price.js');
const constants = () => import('../methods/node-constants.js');
const subscriptions = () => import('../methods/eth_subscribe.js');
const uncles = () => import('../methods/uncles.js');
const raw = () => import('../methods/debug_raw.js');
const raws = () => import('../methods/raw-transactions.js');
const info = () => import('../methods/node-info.js');
const accounts = () => import('../methods/whole-account.js');
const forced = () => import('../methods/forced-transactions.js');
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
  laterMethod('eth_accounts', constants),
  laterMethod('eth_baseFee', prices),
  laterMethod('eth_blobBaseFee', prices),
  eth_blockNumber,
  eth_call,
  eth_chainId,
  laterMethod('eth_coinbase', info),
  laterMethod('eth_config', () => import('../methods/eth_config.js')),
  laterMethod('eth_createAccessList', () => import('../methods/eth_createAccessList.js')),
  eth_estimateGas,
  laterMethod('eth_feeHistory', () => import('../methods/eth_feeHistory.js')),
  laterMethod('eth_fillTransaction', () => import('../methods/fill-transaction.js')),
  laterMethod('eth_gasPrice', prices),
  laterMethod('eth_getAccount', accounts),
  laterMethod('eth_getAccountInfo', accounts),
  eth_getBalance,
  laterMethod('eth_getBlockByHash', blocks),
  laterMethod('eth_getBlockByNumber', blocks),
  laterMethod('eth_getBlockReceipts', blocks),
  laterMethod('eth_getBlockTransactionCountByHash', blocks),
  laterMethod('eth_getBlockTransactionCountByNumber', blocks),
  eth_getCode,
  laterMethod('eth_getFilterChanges', filters),
  laterMethod('eth_getFilterLogs', filters),
  laterMethod('eth_getHeaderByHash', blocks),
  laterMethod('eth_getHeaderByNumber', blocks),
  laterMethod('eth_getLogs', () => import('../methods/eth_getLogs.js')),
  laterMethod('eth_getProof', () => import('../methods/eth_getProof.js')),
  laterMethod('eth_getRawTransactionByBlockHashAndIndex', raws),
  laterMethod('eth_getRawTransactionByBlockNumberAndIndex', raws),
  laterMethod('eth_getRawTransactionByHash', raws),
  eth_getStorageAt,
  eth_getStorageValues,
  laterMethod('eth_getTransactionByBlockHashAndIndex', transactions),
  laterMethod('eth_getTransactionByBlockNumberAndIndex', transactions),
  laterMethod('eth_getTransactionByHash', transactions),
  eth_getTransactionCount,
  laterMethod('eth_getTransactionReceipt', transactions),
  laterMethod('eth_getUncleByBlockHashAndIndex', uncles),
  laterMethod('eth_getUncleByBlockNumberAndIndex', uncles),
  laterMethod('eth_getUncleCountByBlockHash', uncles),
  laterMethod('eth_getUncleCountByBlockNumber', uncles),
  laterMethod('eth_hashrate', info),
  laterMethod('eth_maxPriorityFeePerGas', prices),
  laterMethod('eth_mining', info),
  laterMethod('eth_newBlockFilter', filters),
  laterMethod('eth_newFilter', filters),
  laterMethod('eth_newPendingTransactionFilter', filters),
  laterMethod('eth_pendingTransactions', info),
  laterMethod('eth_protocolVersion', info),
  laterMethod('eth_sendRawTransaction', () => import('../methods/eth_sendRawTransaction.js')),
  laterMethod('eth_sendRawTransactionSync', () => import('../methods/send-sync.js')),
  laterMethod('eth_simulateV1', () => import('../methods/eth_simulateV1.js')),
  laterMethod('eth_subscribe', subscriptions),
  laterMethod('eth_syncing', constants),
  laterMethod('eth_uninstallFilter', filters),
  laterMethod('eth_unsubscribe', subscriptions),
  linea_estimateGas,
  laterMethod('linea_getForcedTransactionInclusionStatus', forced),
  laterMethod('linea_getProof', () => import('../methods/linea_getProof.js')),
  laterMethod(
    'linea_getTransactionExclusionStatusV1',
    () => import('../methods/linea_getTransactionExclusionStatusV1.js'),
  ),
  laterMethod('linea_sendForcedRawTransaction', forced),
  laterMethod('net_listening', constants),
  laterMethod('net_peerCount', constants),
  laterMethod('net_version', constants),
  laterMethod('rpc_modules', info),
  laterMethod('web3_clientVersion', constants),
  laterMethod('web3_sha3', info),
] as const satisfies readonly Method<RpcContext, CommonMethodName>[];

/** A method of the list. A name that `METHOD_INFO` has for every kind of chain, and the list has not, does not compile below. */
type Listed<Name extends (typeof METHODS)[number]['name']> = Method<RpcContext, Name>;

/**
 * All methods of a node, by the names it answers to.
 *
 * @param devnetMethods - `DEVNET_METHODS` for a devnet, in place of those of every kind of chain with the same names; other chains answer these names with `METHOD_NOT_ENABLED`
 */
export function methodTable(
  { chain }: RpcContext,
  devnetMethods: Readonly<Record<string, Method<RpcContext>>> = {},
): MethodTable<RpcContext> {
  const methods: readonly Listed<CommonMethodName>[] = METHODS;
  const others = methods.filter(({ name }) => !Object.hasOwn(devnetMethods, name));
  return createMethodTable([...others, ...Object.values(devnetMethods)], {
    aliases: Object.fromEntries(aliasesOf(chain.network.methodPrefix)),
    disabled: methodsOff(chain.kind),
    insteadOf,
  });
}
