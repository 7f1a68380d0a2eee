import type { Block } from '../chain/block.js';
import type { ChainCall } from '../chain/chain.js';
import type { BlockContext } from '../evm/block-context.js';
import type { BlockOverrides } from '../evm/block-overrides.js';
import type { RunLimits } from '../evm/interpreter/run-budget.js';
import type { StateReader } from '../evm/state/state-reader.js';
import type { GasSearch } from '../networks/gas-searches.js';
import type { CallRequest, StateOverrides } from '../primitives/call-request.js';
import type { EstimateEvidence } from './evidence.js';

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
  readonly evidence: EstimateEvidence;
}

/** Options of all estimates of a node. */
export interface EstimatorOptions extends Pick<RunLimits, 'maxAnswerBytes'> {
  /** Replaces the gas search of the network profile. */
  readonly gasSearch?: GasSearch | undefined;
}
