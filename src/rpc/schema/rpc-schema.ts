import type { ChainSchema, DevnetSchema, WalletSchema } from './methods.generated.js';

/** Parameters and result of one method. */
export interface MethodType {
  readonly params: readonly unknown[];
  readonly result: unknown;
}

/** The methods of a node, by name, with parameters and results. */
export interface RpcSchema extends ChainSchema, DevnetSchema, WalletSchema {
  l2_estimateGas: ChainSchema['linea_estimateGas'];
  l2_getProof: ChainSchema['linea_getProof'];
}

/** The methods of a devnet's simulated layer 1, and its beacon API. */
export interface LayerOneSchema
  extends Pick<
    RpcSchema,
    | 'debug_traceCall'
    | 'debug_traceTransaction'
    | 'eth_accounts'
    | 'eth_blockNumber'
    | 'eth_call'
    | 'eth_chainId'
    | 'eth_createAccessList'
    | 'eth_estimateGas'
    | 'eth_feeHistory'
    | 'eth_gasPrice'
    | 'eth_getBalance'
    | 'eth_getBlockByHash'
    | 'eth_getBlockByNumber'
    | 'eth_getBlockReceipts'
    | 'eth_getCode'
    | 'eth_getLogs'
    | 'eth_getProof'
    | 'eth_getStorageAt'
    | 'eth_getTransactionByHash'
    | 'eth_getTransactionCount'
    | 'eth_getTransactionReceipt'
    | 'eth_maxPriorityFeePerGas'
    | 'eth_sendRawTransaction'
    | 'eth_sendTransaction'
    | 'evm_mine'
    | 'net_version'
    | 'web3_clientVersion'
  > {
  /** Parameters: path and query of the beacon API, and whether objects should be SSZ bytes in hex. Result: status and body. */
  beacon_get: { params: [target: string, form?: 'json' | 'ssz']; result: unknown };
}
