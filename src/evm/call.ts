import { PlumblineError } from '../errors.js';
import type { Network } from '../networks/network.js';
import { bytesToBigInt, equalBytes, ZERO_ADDRESS } from '../primitives/bytes.js';
import { type CallRequest, priceOf, type StateOverrides } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import type { BlockContext } from './block-context.js';
import { type Rules, transactionGasCap } from './common.js';
import { Machine } from './machine.js';
import { precompileOverrides, withOverrides } from './overrides.js';
import { RunBudget, type RunLimits } from './run-budget.js';
import { StateOverlay } from './state-overlay.js';
import type { StateReader } from './state-reader.js';
import { simulateTransaction } from './transaction.js';
import type { RunOptions, TransactionMessage, TransactionOutcome } from './transaction-message.js';

/** Values of the network profile that a simulation needs. */
export type SimulationRules = Pick<Network, 'forks' | 'chainId' | 'rpcGasCap' | 'pastNonces' | 'besuVersion'>;

export interface SimulatedCallOptions extends RunLimits {
  readonly network: SimulationRules;
  readonly overrides?: StateOverrides | undefined;
  /** The client whose rules overrides follow (docs/spec/fees.md 5.6); default Besu. */
  readonly overrideRules?: 'besu' | 'geth' | undefined;
  /** Fill in `touched` of the outcome. */
  readonly reportTouched?: RunOptions['reportTouched'];
  /** From Amsterdam on the call gets no more execution gas than a transaction; the rest is for the state (EIP-8037). */
  readonly splitsGas?: boolean;
  /** Shared with other runs of the request; a separate one by the limits above if left out. */
  readonly budget?: RunBudget | undefined;
}

/** Nothing is paid, and funds and nonces are not checked. */
export const FREE_RUN = {
  leniency: { nonce: 'any', contractSender: true, gasAboveCap: true, unfunded: true, lowPrice: true },
  baseFeePerGas: 0n,
} as const satisfies RunOptions;

/**
 * Runs a call on a state like `eth_call`. Nothing it does is kept. Without a price, price and base fee are zero and
 * funds are not checked; with a price, the sender must be able to pay as for a transaction. The call's `strict`, if
 * present, decides instead.
 *
 * @returns the outcome of a successful call
 * @throws PlumblineError `EXECUTION_REVERTED` with the return data, `EXECUTION_FAILED`, `TRANSACTION_REJECTED`,
 *   `INSUFFICIENT_FUNDS`, and errors of reading the state
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

/** Like `callAt`, but a call that reverts or fails is an outcome too. */
export async function simulateCallAt(
  reader: StateReader,
  block: BlockContext,
  call: CallRequest,
  options: SimulatedCallOptions,
): Promise<TransactionOutcome> {
  const { state, machineOptions } = groundOf(reader, options);
  const machine = Machine.open(options.network, block, state, machineOptions);
  try {
    const { message, run } = await runOf(machine, call, options);
    return await simulateTransaction(machine, message, run);
  } finally {
    machine.close();
  }
}

/** The state that a call is executed on, with its overrides. */
export function groundOf(reader: StateReader, { overrides = [], overrideRules }: SimulatedCallOptions) {
  const asGeth = overrideRules === 'geth';
  return {
    state: new StateOverlay(withOverrides(reader, overrides)),
    machineOptions: precompileOverrides(overrides, asGeth),
  };
}

/** What is executed for a call. */
export async function runOf(
  { block, state, rules }: Pick<Machine, 'block' | 'state' | 'rules'>,
  call: CallRequest,
  options: SimulatedCallOptions,
): Promise<{ readonly message: TransactionMessage; readonly run: RunOptions }> {
  const { network } = options;
  const free = !(call.strict ?? priceOf(call) > 0n);
  const account = await state.account(call.from ?? ZERO_ADDRESS);
  const gasLimit = call.gas === undefined ? defaultGas(block, rules, network) : least(call.gas, network.rpcGasCap);
  const message = transactionMessageOf(call, {
    gasLimit,
    nonce: account?.nonce ?? 0n,
    price: free ? 0n : block.baseFeePerGas,
    free,
  });
  const gasAboveCap = !(rules.amsterdam && options.splitsGas === true);
  const run: RunOptions = {
    leniency: { nonce: 'any', contractSender: true, gasAboveCap, unfunded: free, lowPrice: free },
    baseFeePerGas: free ? 0n : undefined,
    budget: options.budget ?? new RunBudget(options),
    reportTouched: options.reportTouched,
  };
  return { message, run };
}

/** Gas limit of a call that names none. */
export function defaultGas(block: BlockContext, rules: Rules, network: SimulationRules): bigint {
  const capped = least(network.rpcGasCap, block.gasLimit);
  return network.besuVersion === '26.9' ? capped : least(capped, transactionGasCap(rules) ?? capped);
}

/**
 * The call as Besu estimates it. If sender and recipient are the same and the balance is below the value, the value is
 * zero: nothing would move.
 */
export function withoutUnfundedSelfTransfer(call: CallRequest, balance: bigint): CallRequest {
  const { from, to, value = 0n } = call;
  const toItself = from !== undefined && to !== undefined && equalBytes(from, to);
  return toItself && value > balance ? { ...call, value: 0n } : call;
}

/** Values for what a call leaves out. */
export interface CallDefaults {
  readonly gasLimit: bigint;
  readonly nonce: bigint;
  /** Price if the call has none, wei. */
  readonly price: bigint;
  /** With it, the price is one of EIP-1559: `price` is the most that is paid, and this is the priority fee. */
  readonly tip?: bigint;
  /** Nothing is paid, even if the call has a price. */
  readonly free: boolean;
}

/** The transaction that runs for a call. */
export function transactionMessageOf(call: CallRequest, defaults: CallDefaults): TransactionMessage {
  const { price, tip } = defaults;
  const priced = !defaults.free && priceOf(call) > 0n;
  return {
    from: call.from ?? ZERO_ADDRESS,
    to: call.to,
    nonce: call.nonce ?? defaults.nonce,
    gasLimit: defaults.gasLimit,
    gasPrice: priced ? call.gasPrice : tip === undefined ? price : undefined,
    maxFeePerGas: priced ? call.maxFeePerGas : tip === undefined ? undefined : price,
    maxPriorityFeePerGas: priced ? call.maxPriorityFeePerGas : tip,
    value: call.value ?? 0n,
    data: call.data ?? new Uint8Array(0),
    accessList: call.accessList,
    authorizationList: call.authorizationList,
  };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

const ERROR_SELECTOR = '0x08c379a0';
const PANIC_SELECTOR = '0x4e487b71';

const PANICS: Readonly<Record<string, string>> = {
  '1': 'assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division or modulo by zero',
  '33': 'value is not of the enum',
  '34': 'incorrectly encoded storage byte array',
  '49': 'pop on an empty array',
  '50': 'array index out of bounds',
  '65': 'too much memory allocated',
  '81': 'call of a zero-initialized function',
};

/**
 * The message in the return data of a revert: the text of `Error(string)`, or the meaning of a `Panic(uint256)` code.
 * Undefined for other data.
 */
export function revertReason(data: Uint8Array): string | undefined {
  if (data.length < 36) return undefined;
  const selector = bytesToHex(data.subarray(0, 4));
  const word = (offset: number) => bytesToBigInt(data.subarray(4 + offset, 36 + offset));
  if (selector === PANIC_SELECTOR) return `Panic(${word(0)}): ${PANICS[word(0).toString()] ?? 'unknown code'}`;
  if (selector !== ERROR_SELECTOR || data.length < 68) return undefined;
  const offset = word(0);
  if (offset > BigInt(data.length - 36)) return undefined;
  const start = Number(offset) + 36;
  const length = word(Number(offset));
  if (length > BigInt(data.length - start)) return undefined;
  return new TextDecoder().decode(data.subarray(start, start + Number(length)));
}

/** The error for a run that failed: `EXECUTION_REVERTED` or `EXECUTION_FAILED`. */
export function callFailureOf(
  outcome: TransactionOutcome,
): PlumblineError<'EXECUTION_REVERTED'> | PlumblineError<'EXECUTION_FAILED'> {
  const { exception = 'unknown', returnData } = outcome;
  if (exception !== 'revert') {
    const { opcode } = outcome;
    const details = { reason: exception, ...(opcode !== undefined && { opcode }) };
    return new PlumblineError('EXECUTION_FAILED', exception, details);
  }
  const reason = revertReason(returnData);
  const message = reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`;
  return new PlumblineError('EXECUTION_REVERTED', message, {
    data: returnData,
    ...(reason !== undefined && { reason }),
  });
}
