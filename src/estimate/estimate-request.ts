import type { Block, TrustLevel } from '../chain/block.js';
import type { ChainCall } from '../chain/chain.js';
import { isPlumblineError, type PlumblineError } from '../errors.js';
import type { BlockContext, BlockOverrides } from '../evm/block-context.js';
import type { GasEstimate } from '../evm/gas.js';
import type { RunLimits } from '../evm/run-budget.js';
import type { StateReader } from '../evm/state-reader.js';
import type { Prices } from '../fees/prices.js';
import type { GasSearch } from '../networks/gas-searches.js';
import type { CountedModule } from '../networks/module-limits.js';
import type { CallRequest, StateOverrides } from '../primitives/call-request.js';

/** Where a call is executed. */
export interface ExecutionPoint {
  readonly on: Block;
  /** The block in which it is executed. */
  readonly context: BlockContext;
  readonly state: StateReader;
  /** Of the block after `on`, wei, without overrides; asked of the chain if left out. */
  readonly baseFeePerGas?: bigint | undefined;
}

/** The parameters of an estimate. */
export interface EstimateRequest extends ChainCall {
  readonly call: CallRequest;
  readonly overrides?: StateOverrides | undefined;
  readonly blockOverrides?: BlockOverrides | undefined;
  /** Where the call is executed; `overrides` count on top of its state. The members below do not count then. */
  readonly at?: ExecutionPoint | undefined;
  /** State and prices after this block; the head when left out. */
  readonly block?: Block | undefined;
  /**
   * Whether to run in the simulated block after that one. Default: as the reference node does. Networks of Besu always do;
   * networks of geth run in the block itself unless the tag is `pending`.
   */
  readonly pending?: boolean | undefined;
  /** Replaces the node's gas search. */
  readonly search?: GasSearch | undefined;
}

/** Gas limit and fees, with the evidence for them. Amounts in wei per gas. */
export interface FeeEstimate {
  readonly gasLimit: bigint;
  readonly baseFeePerGas: bigint;
  readonly priorityFeePerGas: bigint;
  /** Left out on a layer 1, whose prices rest on nothing but its blocks. */
  readonly evidence?: EstimateEvidence;
}

/** Options of all estimates of a node. */
export interface EstimatorOptions extends Pick<RunLimits, 'maxAnswerBytes'> {
  /** Replaces the gas search of the network profile. */
  readonly gasSearch?: GasSearch | undefined;
}

/** The evidence for an estimate. Amounts in wei. */
export interface EstimateEvidence {
  /** The gas search: its name, every limit it tried, gas used with the answer, before and after refunds. */
  readonly gas: GasEstimate;
  /** Number of the block on whose state the call was executed. */
  readonly block: number;
  /** Trust level of the state and the header of that block. */
  readonly trust: TrustLevel;
  /** Which bytes of the transaction were compressed (docs/spec/compression.md 3, 8); `transactionBytes`: their number. */
  readonly sizing: 'current' | 'signed';
  readonly transactionBytes: number;
  readonly compressedTxSize: number;
  /** `networkOwn` is false when another dictionary was used; `reason` says why. The size is then an approximation. */
  readonly dictionary: { readonly name: string; readonly networkOwn: boolean; readonly reason?: string };
  readonly pricingModel: 'extra-data' | 'verification-cost';
  readonly prices: Prices;
  /** Block whose header set the prices; undefined while the profile's defaults hold. */
  readonly pricesFromBlock: number | undefined;
  /** Factor over cost. */
  readonly margin: number;
  /** Whether the base fee is that of the network profile. If not, it follows from the header. */
  readonly baseFeeIsConstant: boolean;
  /** Base fee plus priority fee, without a reserve on top (docs/spec/fees.md 1). */
  readonly maxFeePerGas: bigint;
  /** Largest fee of the transaction: gas limit times `maxFeePerGas`. Its value is not included. */
  readonly totalFee: bigint;
  /** Limits of the prover. */
  readonly limits: {
    /** Those that were checked. The transaction keeps all of them; otherwise there is no estimate. */
    readonly checked: readonly LineCount[];
    /** Those that cannot be checked here. */
    readonly unchecked: readonly string[];
  };
}

/** One limit of the sequencer's line counter, and the count of one transaction alone. */
export interface LineCount {
  readonly module: CountedModule;
  readonly count: number;
  readonly limit: number;
}

const ABOUT_THE_CALL = [
  'EXECUTION_REVERTED',
  'EXECUTION_FAILED',
  'GAS_ALLOWANCE_EXCEEDED',
  'CALLDATA_TOO_LARGE',
  'MODULE_LIMIT_EXCEEDED',
  'TRANSACTION_REJECTED',
  'INSUFFICIENT_FUNDS',
  'UPFRONT_COST_EXCEEDS_BALANCE',
] as const;

/** Whether an error of an estimate says something of the call. Of others nothing follows: it could not be checked. */
export function isAboutCall(error: unknown): error is PlumblineError {
  return ABOUT_THE_CALL.some((code) => isPlumblineError(error, code));
}
