/**
 * Entry point `plumbline-l2/fees`: computes what a transaction costs on these networks, without a chain and without an EVM. You give
 * the gas limit. This entry point computes transaction bytes, compressed size and priority fee.
 *
 * @module plumbline-l2/fees
 */

export { type ErrorCode, type ErrorDetails, isPlumblineError, PlumblineError } from './errors.js';
export type { BlobSchedule } from './ethereum/base-fee.js';
export { type BaseFeeParent, nextBaseFee } from './ethereum/base-fee.js';
export type { DictionaryAddress } from './fees/dictionary.js';
export { type Dictionary, generalDictionary, loadDictionary } from './fees/dictionary.js';
export {
  adjustForCongestion,
  baseVariableCost,
  type CongestionRule,
  congestionCalldata,
  DEFAULT_CONGESTION_RULE,
  headerPrices,
  type LayerOneFees,
  REFERENCE_TRANSFER,
  type ReferenceTransfer,
  recommendedGasPrice,
  type SubmissionCost,
  weightedAverage,
} from './fees/operator-pricing.js';
export type { Prices, TransactionUse } from './fees/prices.js';
export { type ExtraDataReading, encodeExtraData, parseExtraData } from './fees/prices.js';
export {
  compatibilityPriorityFee,
  type OfferedPrice,
  type Profitability,
  payingGasPrice,
  priorityFeePerGas,
  profitability,
  variableCostPriorityFee,
  verificationCostPriorityFee,
} from './fees/pricing.js';
export {
  encodeForSizing,
  encodeSigned,
  SIZING_SIGNATURE,
  type Signature,
  type SizedTransaction,
  type SizingContext,
  sizingBytes,
  transactionForSizing,
} from './fees/transaction-bytes.js';
export { loadCalldataSizer } from './kernel/calldata-sizer.js';
export type { CalldataSizer, HashScheme, KernelBuild, KernelOptions } from './kernel/contracts.js';
export {
  DEVNET_EXTRA_DATA_PRICING,
  DEVNET_VERIFICATION_COST_PRICING,
  type DevnetLayerOneOptions,
  type DevnetOptions,
  devnet,
  layerOneOfDevnet,
} from './networks/devnet.js';
export { ethereum, hoodi, sepolia } from './networks/ethereum.js';
export type { GasSearch } from './networks/gas-searches.js';
export { LINEA_DICTIONARY, linea, lineaSepolia } from './networks/linea.js';
export type { CountedModule } from './networks/module-limits.js';
export {
  type BlockSealing,
  type CliqueSealing,
  type DictionaryReference,
  type ExtraDataPricing,
  type ForkActivation,
  type Hardfork,
  type MaruSealing,
  type Network,
  type PoolRules,
  type PricingModel,
  type RollupContract,
  type RollupNetwork,
  schemeAt,
  type VerificationCostPricing,
} from './networks/network.js';
export { NETWORKS, type NetworkName } from './networks/networks.js';
export type { AccessListEntry, Authorization, CallRequest } from './primitives/call-request.js';
export type { Hex } from './primitives/hex.js';
