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
import { eth_createAccessList } from '../methods/eth_createAccessList.js';
import { eth_estimateGas } from '../methods/eth_estimateGas.js';
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
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import { aliasesOf, type CommonMethodName, methodsOff } from '../protocol/method-info.js';

const blocks = () => import('../methods/blocks.js');
const transactions = () => import('../methods/transactions.js');
const filters = () => import('../methods/filters.js');
const subscriptions = () => import('../methods/eth_subscribe.js');
const uncles = () => import('../methods/uncles.js');
const raw = () => import('../methods/debug_raw.js');
const raws = () => import('../methods/raw-transactions.js');
const info = () => import('../methods/node-info.js');
const accounts = () => import('../methods/whole-account.js');
const forced = () => import('../methods/forced-transactions.js');
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
  later('eth_coinbase', info),
  later('eth_config', () => import('../methods/eth_config.js')),
  eth_createAccessList,
  eth_estimateGas,
  later('eth_feeHistory', () => import('../methods/eth_feeHistory.js')),
  later('eth_fillTransaction', () => import('../methods/fill-transaction.js')),
  eth_gasPrice,
  later('eth_getAccount', accounts),
  later('eth_getAccountInfo', accounts),
  eth_getBalance,
  later('eth_getBlockByHash', blocks),
  later('eth_getBlockByNumber', blocks),
  later('eth_getBlockReceipts', blocks),
  later('eth_getBlockTransactionCountByHash', blocks),
  later('eth_getBlockTransactionCountByNumber', blocks),
  eth_getCode,
  later('eth_getFilterChanges', filters),
  later('eth_getFilterLogs', filters),
  later('eth_getLogs', () => import('../methods/eth_getLogs.js')),
  later('eth_getProof', () => import('../methods/eth_getProof.js')),
  later('eth_getRawTransactionByBlockHashAndIndex', raws),
  later('eth_getRawTransactionByBlockNumberAndIndex', raws),
  later('eth_getRawTransactionByHash', raws),
  eth_getStorageAt,
  eth_getStorageValues,
  later('eth_getTransactionByBlockHashAndIndex', transactions),
  later('eth_getTransactionByBlockNumberAndIndex', transactions),
  later('eth_getTransactionByHash', transactions),
  eth_getTransactionCount,
  later('eth_getTransactionReceipt', transactions),
  later('eth_getUncleByBlockHashAndIndex', uncles),
  later('eth_getUncleByBlockNumberAndIndex', uncles),
  later('eth_getUncleCountByBlockHash', uncles),
  later('eth_getUncleCountByBlockNumber', uncles),
  later('eth_hashrate', info),
  eth_maxPriorityFeePerGas,
  later('eth_mining', info),
  later('eth_newBlockFilter', filters),
  later('eth_newFilter', filters),
  later('eth_newPendingTransactionFilter', filters),
  later('eth_pendingTransactions', info),
  later('eth_protocolVersion', info),
  later('eth_sendRawTransaction', transactions),
  later('eth_sendRawTransactionSync', () => import('../methods/send-sync.js')),
  later('eth_simulateV1', () => import('../methods/eth_simulateV1.js')),
  later('eth_subscribe', subscriptions),
  eth_syncing,
  later('eth_uninstallFilter', filters),
  later('eth_unsubscribe', subscriptions),
  linea_estimateGas,
  later('linea_getForcedTransactionInclusionStatus', forced),
  linea_getProof,
  linea_getTransactionExclusionStatusV1,
  later('linea_sendForcedRawTransaction', forced),
  net_listening,
  net_peerCount,
  net_version,
  later('rpc_modules', info),
  web3_clientVersion,
  later('web3_sha3', info),
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
