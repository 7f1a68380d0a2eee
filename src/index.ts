/**
 * Door `plumbline`: a node in a Worker, and what a page needs to talk to it.
 *
 * @module plumbline
 */

export type { LineaProofJson } from './accumulator/proof-shape.js';
export type { BlockTag } from './chain/block-reference.js';
export type { TrustLevel } from './chain/chain.js';
export { DEV_ACCOUNTS, DEV_MNEMONIC, type DevAccount } from './chain/devnet/dev-accounts.js';
export type { FinalityOptions } from './chain/devnet/finality.js';
export type { GenesisAccount, GenesisAlloc } from './chain/devnet/genesis.js';
export type { GenesisJson } from './chain/devnet/genesis-json.js';
export type { MiningMode } from './chain/devnet/options.js';
export { TEST_TOKEN, tokenBalanceSlot } from './chain/devnet/test-token.js';
export type { HeadLevel } from './chain/light/heads.js';
export {
  type ErrorCode,
  type ErrorDetails,
  isPlumblineError,
  PlumblineError,
  type ReplicaCheck,
  type SimulationRule,
  type TransactionRule,
  type UpstreamReason,
} from './errors.js';
export { type ClientOptions, createNode } from './hosts/client.js';
export type { LightChainOptions } from './hosts/light-options.js';
export type { PlumblineNode } from './hosts/node-handle.js';
export type { DevnetChainOptions, DictionarySource, NodeInfo, NodeOptions, OpenProgress } from './hosts/options.js';
export type { Provider, ProviderEvents, ProviderMessage, RequestArguments, RequestOptions } from './hosts/provider.js';
export { ProviderRpcError } from './hosts/provider-error.js';
export {
  type RpcProxy,
  type RpcProxyOptions,
  registerRpcProxy,
  type StopOptions,
  unregisterRpcProxy,
} from './hosts/register.js';
export type { ReplicaChainOptions } from './hosts/replica-options.js';
export type { StorageBudgets, StorageOptions } from './hosts/storage-options.js';
export type { NodeSession, SessionListener } from './hosts/transport.js';
export { devnet } from './networks/devnet.js';
export { linea, lineaSepolia } from './networks/linea.js';
export type { Network } from './networks/network.js';
export type { Hex } from './primitives/hex.js';
export type { AnswerClass, AnswerReport } from './rpc/answer-report.js';
export type { Reply, RpcFailure, RpcId, RpcResponse, RpcSuccess } from './rpc/envelope.js';
export type { ExplainedEstimate, ExplainOptions } from './rpc/explained-estimate.js';
export type { FetchHandlerOptions } from './rpc/http.js';
export type { RpcErrorObject } from './rpc/rpc-errors.js';
export type { SharingReport } from './rpc/sharing-report.js';
export type { ChainImport, StorageReport, TableReport } from './rpc/storage-control.js';
export type { SubscriptionMessage } from './rpc/subscriptions/subscriptions.js';
export type { Durability, Table } from './store/page-store.js';
export type { StoreFailure, StoreRepair, StoreStatus } from './store/store-status.js';
export type { EndpointSource, ProviderEndpoint, UrlEndpoint } from './upstream/options.js';
export type { Eip1193Provider } from './upstream/provider-transport.js';
