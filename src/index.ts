/**
 * Entry point `plumbline-l2`: a node in a Worker, and everything that a page needs to use it.
 *
 * @module plumbline-l2
 */

export type { LineaProofJson } from './accumulator/proof-shape.js';
export type { BlockLevel, BlockTag, HeadLevel, TrustLevel } from './chain/block.js';
export type { LayerOneEvidence } from './chain/chain.js';
export type { DevnetChainOptions, FinalityOptions, MiningMode } from './chain/devnet/options.js';
export {
  DEV_ACCOUNTS,
  DEV_MNEMONIC,
  type DevAccount,
  TEST_TOKEN,
  tokenBalanceSlot,
} from './chain/devnet/state/dev-accounts.js';
export type { GenesisAccount, GenesisAlloc } from './chain/devnet/state/genesis.js';
export type { GenesisJson } from './chain/devnet/state/genesis-json.js';
export type { ForkChainOptions, ForkOptions } from './chain/fork/fork-options.js';
export type { LayerOneOptions, LayerOneSource, LightChainOptions } from './chain/light/light-options.js';
export type { ForwardOutcome, NameFailure, ReverseOutcome, Unresolved } from './chain/names.js';
export type { ReplicaChainOptions } from './chain/replica/settings.js';
export type { CheckBasis, CheckName, CheckUnit } from './diagnosis/check-table.js';
export type { FilledField, InclusionVerdict, TransactionCheck, TransactionDiagnosis } from './diagnosis/diagnosis.js';
export {
  type ErrorCode,
  type ErrorDetails,
  isPlumblineError,
  type LayerOneProblem,
  PlumblineError,
  type ReplicaCheck,
  type SimulationRule,
  type TransactionRule,
  type UpstreamReason,
  type WalletRule,
} from './errors.js';
export type { EvidenceBundle, EvidenceClaim, EvidenceHistory, UnchangedSlot } from './evidence/evidence-bundle.js';
export type { CallFrame, FrameLog } from './evm/tracing/tracer.js';
export type {
  DictionarySource,
  NodeInfo,
  NodeOptions,
  OpenProgress,
  StorageBudgets,
  StorageOptions,
} from './hosts/options/options.js';
export type { ScriptUrl } from './hosts/options/script-url.js';
export { announceProvider, type ProviderInfo } from './hosts/provider/announce.js';
export type { PlumblineNode } from './hosts/provider/node-handle.js';
export type {
  AnswerOptions,
  LayerOneSchema,
  MethodType,
  Provider,
  ProviderEvents,
  ProviderMessage,
  RequestArguments,
  RequestOptions,
  RpcSchema,
  UntypedMethod,
} from './hosts/provider/provider.js';
export { isProviderRpcError, ProviderRpcError, type ProviderRpcErrorParts } from './hosts/provider/provider-error.js';
export type { NodeSession, SessionListener } from './hosts/provider/transport.js';
export {
  type RpcProxy,
  type RpcProxyOptions,
  registerRpcProxy,
  type StopOptions,
  unregisterRpcProxy,
} from './hosts/proxy/register.js';
export { type ClientOptions, createNode } from './hosts/worker/client.js';
export type {
  ClaimOptions,
  ClaimPreparation,
  DepositStatus,
  LayerOneView,
  MessageJson,
  MessageList,
  MessageProofJson,
  MessageQuery,
  PreparedClaim,
  ProvedBlocks,
  SentMessage,
  TokenTransfer,
} from './messages/withdrawal.js';
export { beaconNetwork } from './networks/beacon-networks.js';
export { devnet, layerOneOfDevnet } from './networks/devnet.js';
export { endpointProviders } from './networks/endpoint-providers.js';
export { ethereum, hoodi, sepolia } from './networks/ethereum.js';
export { GAS_SEARCHES, type GasSearch } from './networks/gas-searches.js';
export { linea, lineaSepolia } from './networks/linea.js';
export type {
  BeaconFork,
  BeaconNetwork,
  LayerOneName,
  NameService,
  Network,
  RollupNetwork,
  TokenBridge,
} from './networks/network.js';
export { NETWORKS, type NetworkName } from './networks/networks.js';
export type { Cited, EndpointProvider } from './networks/providers.js';
export type {
  Approval,
  ApprovalBase,
  Asset,
  BalanceChange,
  ContractChange,
  KnownNames,
  OwnerChange,
  PreviewedCall,
  PreviewedChanges,
  PreviewedRevert,
  PreviewWarning,
  Right,
  Severity,
  SignatureFinding,
  TokenName,
  Transfer,
  Validity,
} from './preview/preview.js';
export type { LotJson, PreviewedSignature } from './preview/signature-preview.js';
export type { Hex } from './primitives/hex.js';
export type { ClaimRefusal } from './proof/messages.js';
export type { AnswerClass, AnswerReport } from './rpc/answer-report.js';
export type { NodeFault, Reply, RpcFailure, RpcId, RpcResponse, RpcSuccess } from './rpc/envelope.js';
export type { AccessRule, Caller, FetchHandlerOptions, HttpCaller } from './rpc/http.js';
export type { RpcErrorObject, WireError } from './rpc/rpc-errors.js';
export type {
  AddressLookup,
  ChainImport,
  DictionaryReport,
  EndpointProblem,
  EndpointReport,
  ExplainedEstimate,
  ExplainOptions,
  NameOptions,
  NameResolution,
  NameTrust,
  NodeStatus,
  SharingReport,
  StorageReport,
  TableReport,
} from './rpc/schema/answers.js';
export type {
  AccountAccessesJson,
  AuthorizationJson,
  BatchJson,
  BatchStatusJson,
  BlockJson,
  BlockResultJson,
  CallJson,
  CapabilitiesJson,
  DevnetMetadataJson,
  ForkedNetworkJson,
  HeaderJson,
  HeldFromJson,
  LineaAccessList,
  LineaBlockJson,
  LineaCallJson,
  LineaFeesJson,
  LineaOverrideJson,
  LogFilterJson,
  LogJson,
  NodeCapabilitiesJson,
  PermissionJson,
  PermissionRequestJson,
  PlainHex,
  ReceiptJson,
  SentCallJson,
  TransactionJson,
  TrieProofJson,
  TypedDataJson,
} from './rpc/schema/json.js';
export type { ChainSchema, DevnetSchema, WalletSchema } from './rpc/schema/methods.generated.js';
export type {
  AbiInput,
  ErrorAbi,
  PreviewCall,
  PreviewedFee,
  PreviewOptions,
  SeenByEndpoint,
  SignatureOptions,
  SignaturePreview,
  SignatureToPreview,
  TransactionPreview,
} from './rpc/schema/transaction-preview.js';
export type { SubscriptionMessage } from './rpc/subscriptions.js';
export type { LateSignal } from './scheduling/deadline.js';
export type { Durability, Table } from './store/page-store.js';
export type { StoreFailure, StoreRepair, StoreStatus } from './store/store-status.js';
export type { Eip1193Provider } from './upstream/json-rpc.js';
export type { EndpointSource, FeedEndpoint, ProviderEndpoint, UrlEndpoint } from './upstream/options.js';
