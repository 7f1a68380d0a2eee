import type { Network } from '../../networks/network.js';
import { equalBytes, ZERO_ADDRESS } from '../../primitives/bytes.js';
import { type CallRequest, priceOf } from '../../primitives/call-request.js';
import type { StateOverrides } from '../../primitives/state-overrides.js';
import type { BlockContext } from '../block-context.js';
import { TRANSACTION_GAS_CAP } from '../common.js';
import { Machine } from '../interpreter/machine.js';
import { StepBudget, type StepLimits } from '../interpreter/step-budget.js';
import { StateOverlay } from '../state/state-overlay.js';
import type { StateReader } from '../state/state-reader.js';
import { runTransaction } from '../transactions/transaction.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from '../transactions/transaction-message.js';
import { precompileOverrides, withOverrides } from './overrides.js';
import { callFailureOf } from './revert-reason.js';

/** What a simulation takes from the network profile. */
export type SimulationRules = Pick<Network, 'forks' | 'chainId' | 'rpcGasCap'>;

export interface SimulatedCallOptions extends StepLimits {
  readonly network: SimulationRules;
  readonly overrides?: StateOverrides | undefined;
  /** Whose rules overrides follow (docs/spec/fees.md 5.6); Besu's when left out. */
  readonly overrideRules?: 'besu' | 'geth' | undefined;
  /** Fill in `touched` of the outcome. */
  readonly reportTouched?: RunOptions['reportTouched'];
  /** Steps left to a request that runs more than this; its own, by the limits above, when left out. */
  readonly steps?: StepBudget | undefined;
}

/**
 * Runs a call on a state, as `eth_call` does, and leaves no trace. Without a price the price and the base fee are zero
 * and funds are not checked; with one the call has to be payable like a transaction. The call's `strict` decides
 * instead where it is present.
 *
 * @returns the outcome of a call that succeeded
 * @throws PlumblineError `EXECUTION_REVERTED` with the return data, `EXECUTION_FAILED`, `TRANSACTION_REJECTED`,
 *   `INSUFFICIENT_FUNDS`, and whatever reading the state throws
 * @source docs/spec/json-rpc.md 2.2
 */
export async function callAt(
  reader: StateReader,
  block: BlockContext,
  call: CallRequest,
  options: SimulatedCallOptions,
): Promise<TransactionOutcome> {
  const outcome = await simulateCallAt(reader, block, call, options);
  if (!outcome.succeeded) throw callFailureOf(outcome);
  return outcome;
}

/** As `callAt`, but a call that reverts or fails is an outcome too. */
export async function simulateCallAt(
  reader: StateReader,
  block: BlockContext,
  call: CallRequest,
  options: SimulatedCallOptions,
): Promise<TransactionOutcome> {
  const { network, overrides = [] } = options;
  const asGeth = options.overrideRules === 'geth';
  const state = new StateOverlay(withOverrides(reader, overrides, { oneStorageForm: asGeth }));
  const machine = await Machine.open(network, block, state, precompileOverrides(overrides, asGeth));
  const free = !(call.strict ?? priceOf(call) > 0n);
  const account = await state.account(call.from ?? ZERO_ADDRESS);
  const gasLimit = call.gas === undefined ? defaultGas(machine, network) : least(call.gas, network.rpcGasCap);
  const message = transactionMessageOf(call, {
    gasLimit,
    nonce: account?.nonce ?? 0n,
    price: free ? 0n : block.baseFeePerGas,
    free,
  });
  return runTransaction(machine, message, {
    leniency: { nonce: 'any', contractSender: true, gasAboveCap: true, unfunded: free, lowPrice: free },
    ...(free && { baseFeePerGas: 0n }),
    steps: options.steps ?? new StepBudget(options),
    reportTouched: options.reportTouched,
  });
}

function defaultGas(machine: Machine, network: SimulationRules): bigint {
  const capped = least(network.rpcGasCap, machine.block.gasLimit);
  return machine.rules.osaka ? least(capped, TRANSACTION_GAS_CAP) : capped;
}

/**
 * The call as an estimate of Besu runs it: nothing moves when the sender is the recipient, so a value the sender does not
 * have is none then.
 */
export function withoutIdleValue(call: CallRequest, balance: bigint): CallRequest {
  const { from, to, value = 0n } = call;
  const toItself = from !== undefined && to !== undefined && equalBytes(from, to);
  return toItself && value > balance ? { ...call, value: 0n } : call;
}

/** What a call leaves open. */
export interface CallDefaults {
  readonly gasLimit: bigint;
  readonly nonce: bigint;
  /** Price where the call names none, wei. */
  readonly price: bigint;
  /** Nothing is paid, whatever the call says. */
  readonly free: boolean;
}

/** The transaction that stands for a call. */
export function transactionMessageOf(call: CallRequest, defaults: CallDefaults): TransactionMessage {
  const priced = !defaults.free && priceOf(call) > 0n;
  return {
    from: call.from ?? ZERO_ADDRESS,
    to: call.to,
    nonce: call.nonce ?? defaults.nonce,
    gasLimit: defaults.gasLimit,
    gasPrice: priced ? call.gasPrice : defaults.price,
    maxFeePerGas: priced ? call.maxFeePerGas : undefined,
    maxPriorityFeePerGas: priced ? call.maxPriorityFeePerGas : undefined,
    value: call.value ?? 0n,
    data: call.data ?? new Uint8Array(0),
    accessList: call.accessList,
    authorizationList: call.authorizationList,
  };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
