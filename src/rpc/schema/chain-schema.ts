import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import type { Hex } from '../../primitives/hex.js';
import type {
  BlockJson,
  BlockResultJson,
  CallJson,
  HeaderJson,
  LineaBlockJson,
  LineaCallJson,
  LineaFeesJson,
  LineaOverrideJson,
  LogFilterJson,
  LogJson,
  ReceiptJson,
  TransactionJson,
  TrieProofJson,
} from './json.js';

type OfAccount = [address: Hex, block?: BlockJson];
type OfCall = [call: CallJson, block?: BlockJson, override?: LineaOverrideJson, blockOverride?: object];
type Trace = [block: BlockJson, options?: object];

/** Parameters and results of the methods of every kind of chain. What has several forms is `unknown`. */
export interface ChainSchema {
  debug_getRawBlock: { params: [block: BlockJson]; result: Hex };
  debug_getRawHeader: { params: [block: BlockJson]; result: Hex };
  debug_getRawReceipts: { params: [block: BlockJson]; result: readonly Hex[] };
  debug_getRawTransaction: { params: [hash: Hex]; result: Hex };
  debug_traceBlockByHash: { params: Trace; result: readonly { readonly txHash: Hex; readonly result?: unknown }[] };
  debug_traceBlockByNumber: { params: Trace; result: readonly { readonly txHash: Hex; readonly result?: unknown }[] };
  debug_traceCall: { params: [call: CallJson, block?: BlockJson, options?: object]; result: unknown };
  debug_traceTransaction: { params: [hash: Hex, options?: object]; result: unknown };
  eth_accounts: { params: []; result: readonly Hex[] };
  eth_baseFee: { params: []; result: Hex };
  eth_blobBaseFee: { params: []; result: Hex };
  eth_blockNumber: { params: []; result: Hex };
  eth_call: { params: OfCall; result: Hex };
  eth_chainId: { params: []; result: Hex };
  eth_coinbase: { params: []; result: Hex };
  eth_config: { params: []; result: Readonly<Record<'current' | 'next' | 'last', object | null>> };
  eth_createAccessList: {
    params: OfCall;
    result: {
      readonly accessList: readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[];
      readonly error?: string;
      readonly gasUsed: Hex;
    };
  };
  eth_estimateGas: { params: OfCall; result: Hex };
  eth_feeHistory: {
    params: [blocks: Hex | number, newest: LineaBlockJson, percentiles?: readonly number[] | null];
    result: {
      readonly oldestBlock: Hex;
      readonly baseFeePerGas: readonly Hex[];
      readonly baseFeePerBlobGas: readonly Hex[];
      readonly gasUsedRatio: readonly number[];
      readonly blobGasUsedRatio: readonly number[];
      readonly reward?: readonly (readonly Hex[])[];
    };
  };
  eth_fillTransaction: { params: [transaction: CallJson]; result: { readonly raw: Hex; readonly tx: object } };
  eth_gasPrice: { params: []; result: Hex };
  eth_getAccount: {
    params: OfAccount;
    result: Readonly<Record<'balance' | 'nonce' | 'codeHash' | 'storageRoot', Hex>> | null;
  };
  eth_getAccountInfo: { params: OfAccount; result: Readonly<Record<'balance' | 'nonce' | 'code', Hex>> };
  eth_getBalance: { params: OfAccount; result: Hex };
  eth_getBlockByHash: { params: [hash: Hex, full?: boolean]; result: BlockResultJson | null };
  eth_getBlockByNumber: { params: [block: LineaBlockJson, full?: boolean]; result: BlockResultJson | null };
  eth_getBlockReceipts: { params: [block: BlockJson]; result: readonly ReceiptJson[] | null };
  eth_getBlockTransactionCountByHash: { params: [hash: Hex]; result: Hex | null };
  eth_getBlockTransactionCountByNumber: { params: [block: LineaBlockJson]; result: Hex | null };
  eth_getCode: { params: OfAccount; result: Hex };
  eth_getFilterChanges: { params: [filter: Hex]; result: readonly Hex[] | readonly LogJson[] };
  eth_getFilterLogs: { params: [filter: Hex]; result: readonly LogJson[] };
  eth_getHeaderByHash: { params: [hash: Hex]; result: HeaderJson | null };
  eth_getHeaderByNumber: { params: [block: LineaBlockJson]; result: HeaderJson | null };
  eth_getLogs: { params: [filter: LogFilterJson]; result: readonly LogJson[] };
  eth_getProof: { params: [address: Hex, keys: readonly Hex[], block?: BlockJson]; result: TrieProofJson };
  eth_getRawTransactionByBlockHashAndIndex: { params: [hash: Hex, index: Hex]; result: Hex | null };
  eth_getRawTransactionByBlockNumberAndIndex: { params: [block: LineaBlockJson, index: Hex]; result: Hex | null };
  eth_getRawTransactionByHash: { params: [hash: Hex]; result: Hex | null };
  eth_getStorageAt: { params: [address: Hex, position: Hex, block?: BlockJson]; result: Hex };
  eth_getStorageValues: {
    params: [keys: { readonly [address: Hex]: readonly Hex[] }, block?: BlockJson];
    result: { readonly [address: Hex]: readonly Hex[] };
  };
  eth_getTransactionByBlockHashAndIndex: { params: [hash: Hex, index: Hex]; result: TransactionJson | null };
  eth_getTransactionByBlockNumberAndIndex: {
    params: [block: LineaBlockJson, index: Hex];
    result: TransactionJson | null;
  };
  eth_getTransactionByHash: { params: [hash: Hex]; result: TransactionJson | null };
  eth_getTransactionCount: { params: OfAccount; result: Hex };
  eth_getTransactionReceipt: { params: [hash: Hex]; result: ReceiptJson | null };
  eth_getUncleByBlockHashAndIndex: { params: [hash: Hex, index: Hex]; result: null };
  eth_getUncleByBlockNumberAndIndex: { params: [block: LineaBlockJson, index: Hex]; result: null };
  eth_getUncleCountByBlockHash: { params: [hash: Hex]; result: Hex | null };
  eth_getUncleCountByBlockNumber: { params: [block: LineaBlockJson]; result: Hex | null };
  eth_hashrate: { params: []; result: Hex };
  eth_maxPriorityFeePerGas: { params: []; result: Hex };
  eth_mining: { params: []; result: boolean };
  eth_newBlockFilter: { params: []; result: Hex };
  eth_newFilter: { params: [filter?: LogFilterJson]; result: Hex };
  eth_newPendingTransactionFilter: { params: []; result: Hex };
  eth_pendingTransactions: { params: []; result: readonly TransactionJson[] };
  eth_protocolVersion: { params: []; result: Hex };
  eth_sendRawTransaction: { params: [transaction: Hex]; result: Hex };
  eth_sendRawTransactionSync: { params: [transaction: Hex, timeoutMs?: Hex | number]; result: ReceiptJson };
  eth_simulateV1: { params: [simulation: object, block?: BlockJson]; result: readonly BlockResultJson[] };
  eth_subscribe: {
    params:
      | ['newHeads']
      | ['logs', filter?: Pick<LogFilterJson, 'address' | 'topics'>]
      | ['newPendingTransactions', whole?: boolean | { readonly includeTransactions: boolean }];
    result: Hex;
  };
  eth_syncing: { params: []; result: false };
  eth_uninstallFilter: { params: [filter: Hex]; result: boolean };
  eth_unsubscribe: { params: [subscription: Hex]; result: true };
  l2_estimateGas: ChainSchema['linea_estimateGas'];
  l2_getProof: ChainSchema['linea_getProof'];
  linea_estimateGas: {
    params:
      | [call: LineaCallJson, block?: LineaBlockJson, override?: LineaOverrideJson]
      | [call: LineaCallJson, override: LineaOverrideJson];
    result: LineaFeesJson;
  };
  linea_getForcedTransactionInclusionStatus: { params: [number: number | Hex]; result: unknown };
  linea_getProof: { params: [address: Hex, keys: readonly Hex[], block: LineaBlockJson]; result: LineaProofJson };
  linea_getTransactionExclusionStatusV1: {
    params: [hash: Hex];
    result: {
      readonly txHash: Hex;
      readonly from: Hex;
      readonly nonce: Hex;
      readonly txRejectionStage: string;
      readonly reasonMessage: string;
      readonly blockNumber?: Hex;
      readonly timestamp: string;
    } | null;
  };
  linea_sendForcedRawTransaction: { params: [transactions: readonly object[]]; result: unknown };
  net_listening: { params: []; result: true };
  net_peerCount: { params: []; result: Hex };
  net_version: { params: []; result: string };
  rpc_modules: { params: []; result: Readonly<Record<string, string>> };
  web3_clientVersion: { params: []; result: string };
  web3_sha3: { params: [data: Hex]; result: Hex };
}
