import type { Block } from '../chain/chain.js';
import type { BlockOverrides } from '../evm/block-overrides.js';
import type { StepLimits } from '../evm/interpreter/step-budget.js';
import type { GasSearch } from '../networks/gas-searches.js';
import type { CallRequest } from '../primitives/call-request.js';
import type { StateOverrides } from '../primitives/state-overrides.js';
import type { EstimateEvidence } from './evidence.js';

/** What an estimate is asked for. */
export interface EstimateRequest {
  readonly call: CallRequest;
  readonly overrides?: StateOverrides | undefined;
  readonly blockOverrides?: BlockOverrides | undefined;
  /** State and prices after this block; the head when left out. */
  readonly block?: Block | undefined;
  /**
   * Run in the simulated block after that one. The default is what the reference node does: Besu's networks always do,
   * geth's run in the block itself unless the pending one was named.
   */
  readonly pending?: boolean | undefined;
  /** Instead of the node's search. */
  readonly search?: GasSearch | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The three numbers, and how they came about. Amounts in wei per gas. */
export interface FeeEstimate {
  readonly gasLimit: bigint;
  readonly baseFeePerGas: bigint;
  readonly priorityFeePerGas: bigint;
  readonly evidence: EstimateEvidence;
}

/** What holds for every estimate of a node. */
export interface EstimatorOptions extends Pick<StepLimits, 'stepBudget'> {
  /** Search, where it is not the one of the network profile. */
  readonly gasSearch?: GasSearch | undefined;
}
