import type { Chain } from '../../chain/chain.js';
import type { AnswerClass } from './answer-report.js';

/*
 * What is known of each method apart from its code. Nodes without a method, the RPC proxy and the client of a shared store
 * read this table, so it imports no method. A method cannot be defined without a row here, and no default stands in for a
 * missing one.
 */

/** What is known of one method. */
export interface MethodInfo {
  /** The class of its answers on each kind of chain; `off` where that kind does not have the method. */
  readonly answers: Readonly<Record<Chain['kind'], AnswerClass | 'off'>>;
  /**
   * What a request changes of what the node keeps. `none`: nothing. `idempotent`: sending it a second time changes nothing
   * more. `every-time`: a second request changes something again, so that it is never sent twice. A filter, a subscription or a
   * permission does not count: it ends with the node that holds it.
   */
  readonly effect: 'none' | 'idempotent' | 'every-time';
  /** Whether the time limit of a request ends it. Without, it runs until it is done, and its batch has no time limit. */
  readonly timed: boolean;
}

const held = { devnet: 'held', light: 'held', replica: 'held' } as const;
const computed = { devnet: 'computed', light: 'computed', replica: 'computed' } as const;
const proved = { devnet: 'proved', light: 'proved', replica: 'proved' } as const;
const devnetOnly = { devnet: 'held', light: 'off', replica: 'off' } as const;

/** Reads blocks or state: a devnet holds them, the others have them proved. */
const READS = {
  answers: { devnet: 'held', light: 'proved', replica: 'proved' },
  effect: 'none',
  timed: true,
} as const satisfies MethodInfo;
/** A constant, a filter or a subscription of the node itself. */
const OF_THE_NODE = { answers: held, effect: 'none', timed: true } as const satisfies MethodInfo;
const COMPUTES = { answers: computed, effect: 'none', timed: true } as const satisfies MethodInfo;
const PROVES = { answers: proved, effect: 'none', timed: true } as const satisfies MethodInfo;
/** Reads something that only a devnet has. */
const READS_DEVNET = { answers: devnetOnly, effect: 'none', timed: true } as const satisfies MethodInfo;
/** Changes a devnet. */
const CHANGES_DEVNET = { answers: devnetOnly, effect: 'every-time', timed: true } as const satisfies MethodInfo;

/** As the method sends a transaction: a second request with the same one changes nothing more. */
const SENDS_RAW = {
  answers: { devnet: 'computed', light: 'forwarded', replica: 'forwarded' },
  effect: 'idempotent',
  timed: true,
} as const satisfies MethodInfo;
/** Passes the request on to an endpoint. A devnet has none. */
const FORWARDS = {
  answers: { devnet: 'off', light: 'forwarded', replica: 'forwarded' },
  effect: 'none',
  timed: true,
} as const satisfies MethodInfo;
/** Puts another devnet in the place of this one. That is carried out to its end. */
const RESETS_DEVNET = { answers: devnetOnly, effect: 'every-time', timed: false } as const satisfies MethodInfo;

/** JSON-RPC methods of every kind of chain. */
export const EVERYWHERE = {
  debug_getRawBlock: READS,
  debug_getRawHeader: READS,
  debug_getRawReceipts: READS,
  debug_getRawTransaction: READS,
  debug_traceBlockByHash: COMPUTES,
  debug_traceBlockByNumber: COMPUTES,
  debug_traceCall: COMPUTES,
  debug_traceTransaction: COMPUTES,
  eth_accounts: OF_THE_NODE,
  eth_baseFee: COMPUTES,
  eth_blobBaseFee: COMPUTES,
  eth_blockNumber: READS,
  eth_call: COMPUTES,
  eth_chainId: OF_THE_NODE,
  eth_coinbase: OF_THE_NODE,
  eth_config: COMPUTES,
  eth_createAccessList: COMPUTES,
  eth_estimateGas: COMPUTES,
  eth_feeHistory: COMPUTES,
  eth_fillTransaction: COMPUTES,
  eth_gasPrice: COMPUTES,
  eth_getAccount: READS,
  eth_getAccountInfo: READS,
  eth_getBalance: READS,
  eth_getBlockByHash: READS,
  eth_getBlockByNumber: READS,
  eth_getBlockReceipts: READS,
  eth_getBlockTransactionCountByHash: READS,
  eth_getBlockTransactionCountByNumber: READS,
  eth_getCode: READS,
  eth_getFilterChanges: READS,
  eth_getFilterLogs: READS,
  eth_getHeaderByHash: READS,
  eth_getHeaderByNumber: READS,
  eth_getLogs: READS,
  eth_getProof: PROVES,
  eth_getRawTransactionByBlockHashAndIndex: READS,
  eth_getRawTransactionByBlockNumberAndIndex: READS,
  eth_getRawTransactionByHash: READS,
  eth_getStorageAt: READS,
  eth_getStorageValues: READS,
  eth_getTransactionByBlockHashAndIndex: READS,
  eth_getTransactionByBlockNumberAndIndex: READS,
  eth_getTransactionByHash: READS,
  eth_getTransactionCount: READS,
  eth_getTransactionReceipt: READS,
  eth_getUncleByBlockHashAndIndex: READS,
  eth_getUncleByBlockNumberAndIndex: READS,
  eth_getUncleCountByBlockHash: READS,
  eth_getUncleCountByBlockNumber: READS,
  eth_hashrate: OF_THE_NODE,
  eth_maxPriorityFeePerGas: COMPUTES,
  eth_mining: OF_THE_NODE,
  eth_newBlockFilter: OF_THE_NODE,
  eth_newFilter: OF_THE_NODE,
  eth_newPendingTransactionFilter: OF_THE_NODE,
  eth_pendingTransactions: OF_THE_NODE,
  eth_protocolVersion: OF_THE_NODE,
  eth_sendRawTransaction: SENDS_RAW,
  eth_sendRawTransactionSync: SENDS_RAW,
  eth_simulateV1: COMPUTES,
  eth_subscribe: OF_THE_NODE,
  eth_syncing: OF_THE_NODE,
  eth_uninstallFilter: OF_THE_NODE,
  eth_unsubscribe: OF_THE_NODE,
  linea_estimateGas: COMPUTES,
  linea_getForcedTransactionInclusionStatus: FORWARDS,
  linea_getProof: PROVES,
  linea_getTransactionExclusionStatusV1: {
    answers: { devnet: 'held', light: 'forwarded', replica: 'forwarded' },
    effect: 'none',
    timed: true,
  },
  linea_sendForcedRawTransaction: { ...FORWARDS, effect: 'every-time' },
  net_listening: OF_THE_NODE,
  net_peerCount: OF_THE_NODE,
  net_version: OF_THE_NODE,
  rpc_modules: OF_THE_NODE,
  web3_clientVersion: OF_THE_NODE,
  web3_sha3: OF_THE_NODE,
} as const satisfies Rows;

/** JSON-RPC methods that only a devnet has. Other nodes answer -32604, and the RPC proxy forwards them. */
export const ON_A_DEVNET = {
  admin_nodeInfo: READS_DEVNET,
  anvil_addBalance: CHANGES_DEVNET,
  anvil_autoImpersonateAccount: CHANGES_DEVNET,
  anvil_deal: CHANGES_DEVNET,
  anvil_dealERC20: CHANGES_DEVNET,
  anvil_dropAllTransactions: CHANGES_DEVNET,
  anvil_dropTransaction: CHANGES_DEVNET,
  anvil_dumpState: READS_DEVNET,
  anvil_getAutomine: READS_DEVNET,
  anvil_getGenesisTime: READS_DEVNET,
  anvil_getIntervalMining: READS_DEVNET,
  anvil_impersonateAccount: CHANGES_DEVNET,
  anvil_increaseTime: CHANGES_DEVNET,
  anvil_loadState: CHANGES_DEVNET,
  anvil_metadata: READS_DEVNET,
  anvil_mine: CHANGES_DEVNET,
  anvil_mine_detailed: CHANGES_DEVNET,
  anvil_nodeInfo: READS_DEVNET,
  anvil_removeBlockTimestampInterval: CHANGES_DEVNET,
  anvil_removePoolTransactions: CHANGES_DEVNET,
  anvil_reorg: CHANGES_DEVNET,
  anvil_reset: RESETS_DEVNET,
  anvil_revert: CHANGES_DEVNET,
  anvil_rollback: CHANGES_DEVNET,
  anvil_setAutomine: CHANGES_DEVNET,
  anvil_setBalance: CHANGES_DEVNET,
  anvil_setBlockGasLimit: CHANGES_DEVNET,
  anvil_setBlockTimestampInterval: CHANGES_DEVNET,
  anvil_setChainId: CHANGES_DEVNET,
  anvil_setCode: CHANGES_DEVNET,
  anvil_setCoinbase: CHANGES_DEVNET,
  anvil_setERC20Allowance: CHANGES_DEVNET,
  anvil_setERC20Balance: CHANGES_DEVNET,
  anvil_setIntervalMining: CHANGES_DEVNET,
  anvil_setLoggingEnabled: CHANGES_DEVNET,
  anvil_setMinGasPrice: CHANGES_DEVNET,
  anvil_setNextBlockBaseFeePerGas: CHANGES_DEVNET,
  anvil_setNextBlockTimestamp: CHANGES_DEVNET,
  anvil_setNonce: CHANGES_DEVNET,
  anvil_setRpcUrl: CHANGES_DEVNET,
  anvil_setStorageAt: CHANGES_DEVNET,
  anvil_setTime: CHANGES_DEVNET,
  anvil_snapshot: CHANGES_DEVNET,
  anvil_stopImpersonatingAccount: CHANGES_DEVNET,
  eth_capabilities: READS_DEVNET,
  eth_sendTransactionSync: CHANGES_DEVNET,
  eth_sendUnsignedTransaction: CHANGES_DEVNET,
  evm_increaseTime: CHANGES_DEVNET,
  evm_mine: CHANGES_DEVNET,
  evm_mine_detailed: CHANGES_DEVNET,
  evm_revert: CHANGES_DEVNET,
  evm_setAccountBalance: CHANGES_DEVNET,
  evm_setAccountCode: CHANGES_DEVNET,
  evm_setAccountNonce: CHANGES_DEVNET,
  evm_setAccountStorageAt: CHANGES_DEVNET,
  evm_setAutomine: CHANGES_DEVNET,
  evm_setBlockGasLimit: CHANGES_DEVNET,
  evm_setIntervalMining: CHANGES_DEVNET,
  evm_setNextBlockTimestamp: CHANGES_DEVNET,
  evm_setTime: CHANGES_DEVNET,
  evm_snapshot: CHANGES_DEVNET,
  hardhat_addBalance: CHANGES_DEVNET,
  hardhat_autoImpersonateAccount: CHANGES_DEVNET,
  hardhat_dealERC20: CHANGES_DEVNET,
  hardhat_dropAllTransactions: CHANGES_DEVNET,
  hardhat_dropTransaction: CHANGES_DEVNET,
  hardhat_dumpState: READS_DEVNET,
  hardhat_getAutomine: READS_DEVNET,
  hardhat_impersonateAccount: CHANGES_DEVNET,
  hardhat_loadState: CHANGES_DEVNET,
  hardhat_metadata: READS_DEVNET,
  hardhat_mine: CHANGES_DEVNET,
  hardhat_removeBlockTimestampInterval: CHANGES_DEVNET,
  hardhat_reset: RESETS_DEVNET,
  hardhat_setBalance: CHANGES_DEVNET,
  hardhat_setBlockTimestampInterval: CHANGES_DEVNET,
  hardhat_setCode: CHANGES_DEVNET,
  hardhat_setCoinbase: CHANGES_DEVNET,
  hardhat_setLoggingEnabled: CHANGES_DEVNET,
  hardhat_setMinGasPrice: CHANGES_DEVNET,
  hardhat_setNextBlockBaseFeePerGas: CHANGES_DEVNET,
  hardhat_setNonce: CHANGES_DEVNET,
  hardhat_setPrevRandao: CHANGES_DEVNET,
  hardhat_setStorageAt: CHANGES_DEVNET,
  hardhat_stopImpersonatingAccount: CHANGES_DEVNET,
  tenderly_addBalance: CHANGES_DEVNET,
  tenderly_setBalance: CHANGES_DEVNET,
  txpool_content: READS_DEVNET,
  txpool_contentFrom: READS_DEVNET,
  txpool_inspect: READS_DEVNET,
  txpool_status: READS_DEVNET,
} as const satisfies Rows<{ readonly light: 'off'; readonly replica: 'off' }>;

/** JSON-RPC methods of wallets. Only a devnet holds keys: the others answer -32604, with what to do. */
export const OF_A_WALLET = {
  eth_requestAccounts: READS_DEVNET,
  eth_sendTransaction: CHANGES_DEVNET,
  eth_sign: READS_DEVNET,
  eth_signTransaction: READS_DEVNET,
  eth_signTypedData_v4: READS_DEVNET,
  personal_sign: READS_DEVNET,
  wallet_addEthereumChain: READS_DEVNET,
  wallet_getCallsStatus: READS_DEVNET,
  wallet_getCapabilities: READS_DEVNET,
  wallet_getPermissions: READS_DEVNET,
  wallet_requestPermissions: READS_DEVNET,
  wallet_revokePermissions: READS_DEVNET,
  wallet_sendCalls: CHANGES_DEVNET,
  wallet_switchEthereumChain: READS_DEVNET,
  wallet_watchAsset: READS_DEVNET,
} as const satisfies Rows<{ readonly light: 'off'; readonly replica: 'off' }>;

/** What the library offers beside JSON-RPC. It is not reachable over HTTP. */
export const INSPECT = {
  clear: { answers: { devnet: 'held', light: 'held', replica: 'off' }, effect: 'every-time', timed: false },
  diagnoseTransaction: COMPUTES,
  explainEstimate: COMPUTES,
  exportEvidence: { answers: { devnet: 'off', light: 'proved', replica: 'off' }, effect: 'none', timed: true },
  exportChain: { answers: devnetOnly, effect: 'none', timed: false },
  previewTransaction: COMPUTES,
  importChain: { answers: devnetOnly, effect: 'every-time', timed: false },
  sharing: OF_THE_NODE,
  status: OF_THE_NODE,
  storage: OF_THE_NODE,
} as const satisfies Rows;

/** The simulated layer 1 of a devnet. */
export const L1 = {
  beacon_get: READS_DEVNET,
  eth_blockNumber: READS_DEVNET,
  eth_call: READS_DEVNET,
  eth_chainId: READS_DEVNET,
  eth_getBlockByHash: READS_DEVNET,
  eth_getBlockByNumber: READS_DEVNET,
  eth_getBlockReceipts: READS_DEVNET,
  eth_getCode: READS_DEVNET,
  eth_getLogs: READS_DEVNET,
  eth_getProof: READS_DEVNET,
  eth_getTransactionByHash: READS_DEVNET,
  eth_getTransactionReceipt: READS_DEVNET,
  net_version: READS_DEVNET,
} as const satisfies Rows;

type Rows<Answers = unknown> = Readonly<Record<string, MethodInfo & { readonly answers: Answers }>>;
