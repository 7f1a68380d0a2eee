import { isPlumblineError, type SimulationRule, type TransactionRule } from '../../errors.js';
import { encodeTransaction } from '../../ethereum/encode-transaction.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { keccak256 } from '../../kernel/keccak.js';
import { ZERO_ADDRESS } from '../../primitives/bytes.js';
import type { Machine } from '../interpreter/machine.js';
import type { RunBudget } from '../interpreter/run-budget.js';
import { runTransaction } from '../transactions/transaction.js';
import type { TransactionMessage, TransactionOutcome } from '../transactions/transaction-message.js';
import { simulationRefused } from './simulate-plan.js';
import type { BlockCall } from './simulation.js';

const LAST_NONCE = 2n ** 64n - 1n;
const NO_SIGNATURE = { v: 0n, r: 0n, s: 0n };

/** Gas available to a call. */
export interface GasLeft {
  readonly inBlock: bigint;
  /** Of the limit for all calls of the simulation together. */
  readonly inSimulation: bigint;
}

/** A call as a transaction, and its outcome. */
export interface RunCall {
  readonly transaction: SignedTransaction;
  readonly outcome: TransactionOutcome;
}

/**
 * Runs one call of a simulated block. Defaults: the sender's nonce, all available gas, no price.
 *
 * @throws PlumblineError `SIMULATION_REFUSED` for a call that may not run; `GAS_BUDGET_EXCEEDED`, `ABORTED`, and
 *   errors of reading the state
 */
export async function runCall(
  machine: Machine,
  call: BlockCall,
  gas: GasLeft,
  validation: boolean,
  budget: RunBudget,
): Promise<RunCall> {
  const { rules, block, state } = machine;
  const { from = ZERO_ADDRESS, gas: requested = gas.inBlock } = call;
  if (requested > gas.inBlock) {
    throw simulationRefused(
      'block-gas-limit',
      `block gas limit reached: remaining: ${gas.inBlock}, required: ${requested}`,
    );
  }
  if (call.chainId !== undefined && call.chainId !== BigInt(rules.chainId)) {
    throw simulationRefused('parameter', `chainId does not match node's (have=${call.chainId}, want=${rules.chainId})`);
  }
  const held = (await state.account(from))?.nonce ?? 0n;
  const nonce = call.nonce ?? held;
  if (validation) checkNonce(nonce, held);
  const gasLimit = requested < gas.inSimulation ? requested : gas.inSimulation;
  const transaction = transactionOf(call, {
    from,
    nonce,
    gasLimit,
    chainId: BigInt(rules.chainId),
    typed: rules.london,
  });
  const message: TransactionMessage = { ...transaction, accessList: call.accessList };
  const maxPrice = message.gasPrice ?? message.maxFeePerGas ?? 0n;
  const unpriced = maxPrice === 0n && (message.maxPriorityFeePerGas ?? 0n) === 0n;
  const lowPrice = !validation && unpriced;
  const leniency = { nonce: 'any', lowPrice, freeBlobs: !validation, contractSender: true, gasAboveCap: true } as const;
  try {
    return { transaction, outcome: await runTransaction(machine, message, { leniency, budget }) };
  } catch (error) {
    if (isPlumblineError(error, 'INSUFFICIENT_FUNDS')) throw simulationRefused('funds', error.message, error);
    if (!isPlumblineError(error, 'TRANSACTION_REJECTED')) throw error;
    throw simulationRefused(ruleOf(error.details.rule, message, block.baseFeePerGas), error.message, error);
  }
}

/** Checked first: a wrong nonce is reported before a wrong price. */
function checkNonce(nonce: bigint, held: bigint): void {
  if (nonce < held) throw simulationRefused('nonce-too-low', `nonce too low: next nonce ${held}, tx nonce ${nonce}`);
  if (nonce > held) throw simulationRefused('nonce-too-high', `nonce too high: next nonce ${held}, tx nonce ${nonce}`);
  if (nonce === LAST_NONCE) throw simulationRefused('nonce-too-high', `nonce has max value: ${nonce}`);
}

interface FilledCall {
  readonly from: Uint8Array;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  readonly chainId: bigint;
  /** Whether there are transactions with two prices. */
  readonly typed: boolean;
}

/** A call with a gas price, or before London, is a legacy transaction. Others have the type that their fields need. */
function transactionOf(call: BlockCall, { typed, chainId, ...filled }: FilledCall): SignedTransaction {
  const legacy = call.gasPrice !== undefined || !typed;
  const { authorizationList, blobVersionedHashes } = call;
  const type = legacy ? 0 : authorizationList !== undefined ? 4 : blobVersionedHashes !== undefined ? 3 : 2;
  const tx: Omit<SignedTransaction, 'raw' | 'hash'> = {
    ...filled,
    ...NO_SIGNATURE,
    type,
    to: call.to,
    value: call.value ?? 0n,
    data: call.data ?? new Uint8Array(0),
    gasPrice: legacy ? (call.gasPrice ?? 0n) : undefined,
    maxFeePerGas: legacy ? undefined : (call.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: legacy ? undefined : (call.maxPriorityFeePerGas ?? 0n),
    chainId: legacy ? undefined : chainId,
    accessList: legacy ? undefined : (call.accessList ?? []),
    authorizationList: type === 4 ? authorizationList : undefined,
    ...(type === 3 && { blobVersionedHashes, maxFeePerBlobGas: call.maxFeePerBlobGas ?? 0n }),
  };
  const raw = encodeTransaction(tx, NO_SIGNATURE);
  return { ...tx, raw, hash: keccak256(raw) };
}

function ruleOf(rule: TransactionRule, message: TransactionMessage, baseFee: bigint): SimulationRule {
  switch (rule) {
    case 'intrinsic-gas':
    case 'init-code':
    case 'nonce-too-high':
      return rule;
    case 'gas-price': {
      const maxPrice = message.gasPrice ?? message.maxFeePerGas ?? 0n;
      if (message.gasPrice === undefined && (message.maxPriorityFeePerGas ?? 0n) > maxPrice) return 'parameter';
      return maxPrice < baseFee ? 'base-fee' : 'parameter';
    }
    default:
      return 'parameter';
  }
}
