import type { Chain, ChainCall } from '../chain/chain.js';
import { isPlumblineError, type TransactionRule } from '../errors.js';
import type { Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { CheckName } from './check-table.js';
import {
  type Conditions,
  callOf,
  capOf,
  type DiagnosedTransaction,
  type DiagnosisParts,
  hasLayerOnePool,
} from './diagnosed.js';
import type { FilledField } from './diagnosis.js';
import { couldNotCheck, type Finding } from './diagnosis.js';

/** A candidate with what could be filled in. */
export interface FilledCall {
  readonly candidate: DiagnosedTransaction;
  readonly filled: Partial<Record<FilledField, Hex>>;
  /** The check that the estimate shows to fail. */
  readonly failing: readonly Finding[];
  /** Why gas limit and prices could not be filled in. */
  readonly reason?: string;
}

const UNPRICED = { gasPrice: undefined, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined };

/** The check that fails where an estimate is refused by a rule. */
const CHECK_OF_RULE: Readonly<Partial<Record<TransactionRule, CheckName>>> = {
  'nonce-too-low': 'nonce-used',
  'nonce-too-high': 'nonce-distance',
  'intrinsic-gas': 'gas-minimum',
  'gas-limit': 'gas-cap',
  'gas-price': 'base-fee',
  'init-code': 'init-code',
  sender: 'sender',
  type: 'type',
};

/**
 * Fills in what a call leaves out: the next nonce of the account, gas limit and prices as `linea_estimateGas`, the suggested
 * maximum fee (docs/spec/fees.md 1).
 */
export async function fillCall(
  { chain, estimator }: DiagnosisParts,
  given: DiagnosedTransaction,
  conditions: Conditions,
  limits: ChainCall,
): Promise<FilledCall> {
  const nonce = given.nonce ?? nextNonce(conditions);
  const named = { ...given, nonce };
  const filled = given.nonce === undefined ? { nonce: toQuantity(nonce) } : {};
  const isPriced =
    given.gasPrice !== undefined || (given.maxFeePerGas !== undefined && given.maxPriorityFeePerGas !== undefined);
  const baseFee = conditions.context.baseFeePerGas;
  if (given.gasLimit !== undefined && isPriced) return withPrices(named, filled, baseFee, 0n);
  try {
    const { signal, gas } = limits;
    // Its gas limit is judged by a run, and a price below the base fee waits on a layer 1.
    const waits = hasLayerOnePool(chain) && (capOf(named) ?? baseFee) < baseFee;
    const sized = { ...named, gasLimit: undefined, ...(waits && UNPRICED) };
    const estimate = await estimator.fees({ call: callOf(sized), pending: true, signal, gas });
    const { gasLimit = estimate.gasLimit } = given;
    const more = given.gasLimit === undefined ? { gas: toQuantity(gasLimit) } : {};
    const complete = { ...named, gasLimit };
    return withPrices(complete, { ...filled, ...more }, estimate.baseFeePerGas, estimate.priorityFeePerGas);
  } catch (error) {
    const failing = failureOf(error, conditions, chain);
    const reason = failing?.reason ?? couldNotCheck(error);
    return { candidate: named, filled, failing: failing === undefined ? [] : [failing], reason };
  }
}

/** The first nonce that no transaction of the sender uses, as far as this node knows. */
function nextNonce({ sender, pending }: Conditions): bigint {
  const used = new Set(pending.map(({ nonce }) => nonce));
  let { nonce } = sender;
  while (used.has(nonce)) nonce++;
  return nonce;
}

function withPrices(
  candidate: DiagnosedTransaction,
  filled: FilledCall['filled'],
  baseFee: bigint,
  priorityFee: bigint,
): FilledCall {
  if (candidate.gasPrice !== undefined) return { candidate, filled, failing: [] };
  const cap = candidate.maxFeePerGas;
  const maxPriorityFeePerGas =
    candidate.maxPriorityFeePerGas ?? (cap !== undefined && cap < priorityFee ? cap : priorityFee);
  const maxFeePerGas = cap ?? baseFee + maxPriorityFeePerGas;
  return {
    candidate: { ...candidate, maxFeePerGas, maxPriorityFeePerGas },
    filled: {
      ...filled,
      ...(cap === undefined && { maxFeePerGas: toQuantity(maxFeePerGas) }),
      ...(candidate.maxPriorityFeePerGas === undefined && { maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGas) }),
    },
    failing: [],
  };
}

/** The failing check that an error of the estimate means; undefined for other errors. */
function failureOf(error: unknown, { context, rules }: Conditions, chain: Chain): Finding | undefined {
  const fails = (check: CheckName, more: Partial<Finding> = {}): Finding => ({
    check,
    outcome: 'fails',
    reason: (error as Error).message,
    ...more,
  });
  if (isPlumblineError(error, 'MODULE_LIMIT_EXCEEDED')) {
    const { module, count, limit } = error.details;
    return fails('line-counts', { found: BigInt(count), needed: BigInt(limit), reason: module });
  }
  if (isPlumblineError(error, 'INSUFFICIENT_FUNDS')) {
    const { balance, required } = error.details;
    return fails('funds', { found: balance, needed: required, remedy: String(required - balance) });
  }
  if (isPlumblineError(error, 'CALLDATA_TOO_LARGE')) {
    return fails('calldata', { found: BigInt(error.details.length), needed: BigInt(error.details.limit) });
  }
  if (isPlumblineError(error, 'UPFRONT_COST_EXCEEDS_BALANCE')) return fails('funds');
  if (isPlumblineError(error, 'GAS_ALLOWANCE_EXCEEDED')) {
    // As much as a block or a simulated run may have: no balance would help.
    const { allowance } = error.details;
    return fails(allowance >= context.gasLimit || allowance >= chain.network.rpcGasCap ? 'execution' : 'funds');
  }
  if (isPlumblineError(error, 'EXECUTION_REVERTED') || isPlumblineError(error, 'EXECUTION_FAILED')) {
    return fails('execution');
  }
  if (!isPlumblineError(error, 'TRANSACTION_REJECTED')) return undefined;
  const { rule } = error.details;
  // The searches stay below the cap of a gas limit from Amsterdam on.
  if (rule === 'gas-limit' && rules.amsterdam) return fails('intrinsic-cap');
  // A price below the base fee was left out.
  if (rule === 'gas-price' && hasLayerOnePool(chain)) return fails('priority-fee');
  return fails(CHECK_OF_RULE[rule] ?? 'encoding');
}
