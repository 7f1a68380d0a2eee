/**
 * The gas that a call needs, found by runs with different limits (docs/spec/fees.md 5).
 *
 * Nodes search in different ways, and so do we: as Besu, as geth, or for the least limit that is enough. The ceiling of a search is
 * what the block allows and the sender can pay. The kernel says of each run how much less gas would have given the same execution, so
 * `Probe` leaves out runs whose success is proved.
 */

import { isPlumblineError, PlumblineError } from '../errors.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import type { GasSearch } from '../networks/gas-searches.js';
import { equalBytes, ZERO_ADDRESS } from '../primitives/bytes.js';
import { type CallRequest, priceOf } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import type { BlockContext } from './block-context.js';
import { callFailureOf, type SimulatedCallOptions, transactionMessageOf, withoutUnfundedSelfTransfer } from './call.js';
import { transactionGasCap } from './common.js';
import { Machine } from './machine.js';
import { precompileOverrides, withOverrides } from './overrides.js';
import { LEAST_BASE } from './resource-prices.js';
import type { ModuleCounts } from './run-budget.js';
import { RunBudget } from './run-budget.js';
import { StateOverlay } from './state-overlay.js';
import { type Account, hasCode, ReadCache, type StateReader } from './state-reader.js';
import { simulateTransaction } from './transaction.js';
import { TRANSACTION_GAS } from './transaction-checks.js';
import type { Leniency, TransactionOutcome } from './transaction-message.js';

/** Options of a gas search. */
interface EstimateOptions extends SimulatedCallOptions {
  readonly search: GasSearch;
  /** Count module lines, as the prover does. */
  readonly counting?: boolean;
}

const SEARCHES: Record<GasSearch, (run: RunWithGas, input: ExactInput) => Promise<GasEstimate>> = {
  besu: besuSearch,
  geth: gethSearch,
  exact: exactSearch,
};
const BESU_LENIENCY: Leniency = { lowPrice: true, unfunded: true, contractSender: true };
const GETH_LENIENCY: Leniency = { contractSender: true };

/**
 * A gas limit with which the call succeeds, by the search in `options`. Overrides apply to this estimate only. `exact`
 * runs with Besu's checks.
 *
 * @throws PlumblineError `UPFRONT_COST_EXCEEDS_BALANCE`, `INSUFFICIENT_FUNDS`, `GAS_ALLOWANCE_EXCEEDED`,
 *   `EXECUTION_REVERTED`, `EXECUTION_FAILED`, `TRANSACTION_REJECTED`, `ABORTED`, and errors of reading the state
 * @source docs/spec/fees.md 5.2, 5.3
 */
export async function estimateGasAt(
  reader: StateReader,
  block: BlockContext,
  call: CallRequest,
  options: EstimateOptions,
): Promise<GasEstimate> {
  const { network, overrides = [], search } = options;
  const asGeth = search === 'geth';
  const onChain = ReadCache.over(reader);
  const state = new StateOverlay(withOverrides(onChain, overrides));
  const machine = Machine.open(network, block, state, precompileOverrides(overrides, asGeth));
  try {
    const from = call.from ?? ZERO_ADDRESS;
    const sender = await state.account(from);
    const spendable = sender?.balance ?? 0n;
    // Besu looks at the chain alone. A balance given by an override also pays here (docs/decisions.md 3).
    const held = asGeth ? spendable : ((await onChain.account(from))?.balance ?? 0n);
    const ceilingInput: CeilingInput = {
      from: call.from,
      balance: held > spendable ? held : spendable,
      value: call.value ?? 0n,
      price: priceOf(call),
      blockGasLimit: block.gasLimit,
      transactionGasCap: transactionGasCap(machine.rules),
    };
    const ceiling = asGeth
      ? gethCeiling(ceilingInput, call.gas, network.rpcGasCap)
      : besuCeiling(ceilingInput, call.strict);
    const pastNonces = network.pastNonces ?? (asGeth ? 'ignored' : 'refused');
    const nonce = pastNonces === 'ignored' ? 'any' : 'future';
    const leniency: Leniency = { nonce, ...(asGeth ? GETH_LENIENCY : BESU_LENIENCY) };
    // geth treats a call without a price as free. Besu charges the base fee unless `strict` is false.
    const free = asGeth ? priceOf(call) === 0n : call.strict === false;
    const defaults = { nonce: sender?.nonce ?? 0n, price: free ? 0n : block.baseFeePerGas, free };
    const budget = options.budget ?? new RunBudget(options);
    const payable = asGeth ? call : withoutUnfundedSelfTransfer(call, spendable);
    const run = { leniency, baseFeePerGas: free ? 0n : undefined, budget, counting: options.counting };
    const execute: RunWithGas = (gas) => {
      const gasLimit = gas < network.rpcGasCap ? gas : network.rpcGasCap;
      return simulateTransaction(machine, transactionMessageOf(payable, { gasLimit, ...defaults }), run);
    };
    const empty = (call.data?.length ?? 0) === 0;
    const plain = empty && (!asGeth || (call.to !== undefined && !(await hasCode(state, call.to))));
    const least = machine.rules.amsterdam ? LEAST_BASE : TRANSACTION_GAS;
    const confirms = empty && network.besuVersion === '26.9';
    // The exact search proves its answer by execution only.
    const proves = search !== 'exact' && mayProve(machine, call, sender);
    return await SEARCHES[search](execute, { ceiling, plain, least, confirms, proves });
  } finally {
    machine.close();
  }
}

/** Whether `spareGas` holds for the call. Code of the sender could read the balance, from which the gas was paid. */
function mayProve({ rules }: Machine, call: CallRequest, sender: Account | undefined): boolean {
  const plainSender = sender === undefined || equalBytes(sender.codeHash, EMPTY_CODE_HASH);
  return rules.london && plainSender && call.authorizationList === undefined;
}

/** A gas limit with which the transaction succeeds, and the outcome of that run. */
export interface GasEstimate {
  readonly gasLimit: bigint;
  /** Number of gas limits tried. */
  readonly runs: number;
  /** Number of executions. Fewer than `runs` if the success of some was proved without one. */
  readonly executed: number;
  /** Charged with this limit. */
  readonly gasUsed: bigint;
  readonly gasUsedBeforeRefund: bigint;
  /** The two kinds of it that a block counts (EIP-8037). Before Amsterdam all is execution gas. */
  readonly executionGas: bigint;
  readonly stateGas: bigint;
  readonly search: GasSearch;
  /** Every limit that was tried, in order, with its result. */
  readonly probes: readonly GasProbe[];
  /** Module lines of the run with this limit, if counted. */
  readonly counts?: ModuleCounts | undefined;
  /** Logs of that run. */
  readonly logs: TransactionOutcome['logs'];
}

/** One gas limit that a search tried. */
interface GasProbe {
  readonly gasLimit: bigint;
  readonly succeeded: boolean;
}

/** Runs the transaction once with this gas limit, always on the same state. */
export type RunWithGas = (gasLimit: bigint) => Promise<TransactionOutcome>;

/** Bounds of a gas search. */
interface SearchInput {
  /** Largest limit to try. */
  readonly ceiling: bigint;
  /** Whether to try 21 000 first. Besu and geth have different rules for it. */
  readonly plain: boolean;
  /** Whether to try the gas that the first run used, as Besu's search does from 26.9 on without data. */
  readonly confirms?: boolean;
  /** Whether `spareGas` holds for the transaction: runs whose success it proves are not made. */
  readonly proves?: boolean;
}

interface ExactInput extends SearchInput {
  /** No transaction uses less gas. */
  readonly least: bigint;
}

/** The search ends when the interval is smaller than this share of the limit. */
const TOLERANCE = 0.015;
/** Free gas in a call with value. The searches allow for it. */
const CALL_STIPEND = 2_300n;
/** A call keeps one 64th of the gas (EIP-150). */
const CALL_RESERVE = 64 / 63;

/**
 * Besu's search.
 *
 * From 26.9 on (besu-eth/besu#11178) a call without data is tried with the gas that its first run used, which is exact unless an inner call
 * needs more for its 64th.
 *
 * Under Amsterdam the same steps run over the new rules. Not verified: there is no source yet of what Besu does there.
 *
 * @throws PlumblineError `EXECUTION_REVERTED`, `EXECUTION_FAILED` when the run at the ceiling fails
 * @source docs/spec/fees.md 5.2
 */
export async function besuSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  const { ceiling, plain, confirms, proves } = input;
  const probe = new Probe(run, 'besu', proves);
  if (plain && (await probe.succeeds(TRANSACTION_GAS))) return probe.result();
  const first = await probe.runAtCeiling(ceiling);
  let low = first.gasUsedBeforeRefund - 1n;
  let high = ceiling;
  if (confirms === true) {
    // With the floor of calldata, which counts after refunds.
    const used = first.gasUsed > first.gasUsedBeforeRefund ? first.gasUsed : first.gasUsedBeforeRefund;
    if (await probe.succeeds(used)) return probe.result();
    low = used;
  }
  const optimistic = BigInt(Math.trunc(Number(first.gasUsedBeforeRefund + CALL_STIPEND) * CALL_RESERVE));
  if (await probe.succeeds(optimistic)) high = optimistic;
  else low = optimistic;
  while (low + 1n < high && !isClose(low, high)) {
    const middle = (low + high) / 2n;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.result();
}

/**
 * geth's search.
 *
 * @throws PlumblineError `GAS_ALLOWANCE_EXCEEDED` when the run at the ceiling is out of gas, `EXECUTION_REVERTED`,
 *   `EXECUTION_FAILED`
 * @source docs/spec/fees.md 5.3
 */
export function gethSearch(run: RunWithGas, input: SearchInput): Promise<GasEstimate> {
  return narrowingSearch(new Probe(run, 'geth', input.proves), input, isClose);
}

/**
 * The smallest limit that succeeds, as far as bisection can find it: a run proves that one gas less fails. Code that
 * continues after an inner call ran out of gas may succeed with less than all its work needs.
 *
 * @throws PlumblineError `EXECUTION_REVERTED`, `EXECUTION_FAILED`
 */
export async function exactSearch(run: RunWithGas, input: ExactInput): Promise<GasEstimate> {
  const probe = new Probe(run, 'exact', input.proves);
  const found = await narrowingSearch(probe, input, () => false);
  let { gasLimit: high } = found;
  if (input.plain && high <= TRANSACTION_GAS) return found;
  // Limits below the gas used by the first run have not been tried yet. Code that reads the gas left may succeed with
  // less.
  if (high === input.least || probe.hasFailed(high - 1n) || !(await probe.succeeds(high - 1n))) return probe.result();
  let low = input.least - 1n;
  high -= 1n;
  while (low + 1n < high) {
    const middle = (low + high) / 2n;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.result();
}

async function narrowingSearch(
  probe: Probe,
  { ceiling, plain }: SearchInput,
  isCloseEnough: (low: bigint, high: bigint) => boolean,
): Promise<GasEstimate> {
  if (plain && (await probe.succeeds(TRANSACTION_GAS))) return probe.usedResult();
  const first = await probe.runAtCeiling(ceiling);
  let low = first.gasUsed - 1n;
  let high = ceiling;
  const optimistic = ((first.gasUsedBeforeRefund + CALL_STIPEND) * 64n) / 63n;
  if (optimistic < high) {
    if (await probe.succeeds(optimistic)) high = optimistic;
    else low = optimistic;
  }
  while (low + 1n < high && !isCloseEnough(low, high)) {
    let middle = low + (high - low) / 2n;
    // Most transactions need little more than they use, so limits far above are not tried.
    if (middle > 2n * low) middle = 2n * low;
    if (await probe.succeeds(middle)) high = middle;
    else low = middle;
  }
  return probe.result();
}

function isClose(low: bigint, high: bigint): boolean {
  return Number(high - low) / Number(high) < TOLERANCE;
}

/**
 * Runs the transaction and keeps the last limit that succeeded, which is the result of every search.
 *
 * Runs whose success is proved are not made. `spareGas` tells down to which limit a successful run would have gone the same way;
 * runs between the two limits have the same outcome. Everything else is executed, failures always.
 */
class Probe {
  private readonly probes: GasProbe[] = [];
  private best: { gasLimit: bigint; outcome: TransactionOutcome } | undefined;
  private executed = 0;
  private proof: { readonly from: bigint; readonly to: bigint; readonly outcome: TransactionOutcome } | undefined;

  constructor(
    private readonly run: RunWithGas,
    private readonly search: GasSearch,
    private mayProve = false,
  ) {}

  /** Whether a run with this limit failed. */
  hasFailed(gasLimit: bigint): boolean {
    return this.probes.some((probe) => !probe.succeeded && probe.gasLimit === gasLimit);
  }

  /** A limit with which the transaction is not even admitted counts as a failure. */
  async succeeds(gasLimit: bigint): Promise<boolean> {
    try {
      return (await this.attempt(gasLimit)).succeeded;
    } catch (error) {
      if (isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS'))
        return false;
      throw error;
    }
  }

  /** The first run, which must succeed. */
  async runAtCeiling(ceiling: bigint): Promise<TransactionOutcome> {
    let outcome: TransactionOutcome;
    try {
      outcome = await this.attempt(ceiling);
    } catch (error) {
      const tooLow = isPlumblineError(error, 'TRANSACTION_REJECTED') && error.details.rule === 'intrinsic-gas';
      throw tooLow && this.search === 'geth' ? allowanceExceeded(ceiling) : error;
    }
    if (outcome.succeeded) return outcome;
    throw this.search === 'geth' && outcome.exception === 'out of gas'
      ? allowanceExceeded(ceiling)
      : callFailureOf(outcome);
  }

  /** With the gas that the run used as its limit; from Amsterdam on a plain transaction uses less than 21 000. */
  usedResult(): GasEstimate {
    return { ...this.result(), gasLimit: this.best!.outcome.gasUsed };
  }

  result(): GasEstimate {
    const { gasLimit, outcome } = this.best!;
    const { gasUsed, gasUsedBeforeRefund, executionGas, stateGas, counts, logs } = outcome;
    const { search, probes, executed } = this;
    return {
      gasLimit,
      runs: probes.length,
      executed,
      gasUsed,
      gasUsedBeforeRefund,
      executionGas,
      stateGas,
      search,
      probes,
      counts,
      logs,
    };
  }

  private async attempt(gasLimit: bigint): Promise<TransactionOutcome> {
    let succeeded = false;
    try {
      const { proof } = this;
      const isProved = proof !== undefined && proof.from <= gasLimit && gasLimit <= proof.to;
      if (!isProved) this.executed++;
      const outcome = isProved ? proof.outcome : await this.run(gasLimit);
      succeeded = outcome.succeeded;
      if (this.mayProve && succeeded) this.proveBelow(gasLimit, outcome);
      if (succeeded) this.best = { gasLimit, outcome };
      return outcome;
    } finally {
      this.probes.push({ gasLimit, succeeded });
    }
  }

  /** Only the first successful run that proves anything is used: it has the largest limit of these. */
  private proveBelow(gasLimit: bigint, outcome: TransactionOutcome): void {
    const { spareGas } = outcome;
    if (spareGas === undefined) return;
    this.mayProve = false;
    // The limit must also cover the data floor of EIP-7623.
    const floor = outcome.gasUsedBeforeRefund;
    const least = gasLimit - spareGas;
    this.proof = { from: least > floor ? least : floor, to: gasLimit, outcome };
  }
}

function allowanceExceeded(allowance: bigint): PlumblineError<'GAS_ALLOWANCE_EXCEEDED'> {
  const text = `gas required exceeds allowance (${allowance})`;
  return new PlumblineError('GAS_ALLOWANCE_EXCEEDED', text, { allowance });
}

/** Values that bound the gas limits of a search. */
export interface CeilingInput {
  /** 20 bytes; undefined if the caller gave none. */
  readonly from: Uint8Array | undefined;
  /** Wei. Besu: on chain or with overrides, the larger one; geth: with overrides. */
  readonly balance: bigint;
  /** Wei. */
  readonly value: bigint;
  /** `maxFeePerGas`, else `gasPrice`, else zero; wei. */
  readonly price: bigint;
  readonly blockGasLimit: bigint;
  /** Gas cap of one transaction (EIP-7825), if in force. */
  readonly transactionGasCap: bigint | undefined;
}

const WORD = 256;

/**
 * Upper bound of Besu's search: what the sender can pay for, if there is a price.
 *
 * @param strict - the call's `strict`; if false, funds are not checked
 * @throws PlumblineError `UPFRONT_COST_EXCEEDS_BALANCE` below 21 000
 * @source docs/spec/fees.md 5.2, steps 1 to 3
 */
export function besuCeiling(input: CeilingInput, strict?: boolean): bigint {
  let ceiling = least(input.blockGasLimit, input.transactionGasCap);
  if (input.from !== undefined && strict !== false && input.price > 0n) {
    // The difference is an unsigned word, so it wraps for a value above the balance. The run then refuses it.
    const spendable = BigInt.asUintN(WORD, input.balance - input.value);
    ceiling = input.balance === 0n ? 0n : least(ceiling, spendable / input.price);
  }
  if (ceiling >= TRANSACTION_GAS) return ceiling;
  const sender = bytesToHex(input.from ?? new Uint8Array(20));
  throw new PlumblineError('UPFRONT_COST_EXCEEDS_BALANCE', 'Upfront cost exceeds account balance', { sender });
}

/**
 * Upper bound of geth's search.
 *
 * @param gas - the caller's limit; ignored below 21 000
 * @throws PlumblineError `INSUFFICIENT_FUNDS` when nothing is left for gas
 * @source docs/spec/fees.md 5.3, steps 1 and 2
 */
export function gethCeiling(input: CeilingInput, gas: bigint | undefined, rpcGasCap: bigint): bigint {
  const requested = gas !== undefined && gas >= TRANSACTION_GAS ? gas : input.blockGasLimit;
  let ceiling = least(requested, input.transactionGasCap);
  if (input.price > 0n) {
    const { value, balance } = input;
    if (value >= balance) {
      const sender = bytesToHex(input.from ?? new Uint8Array(20));
      const details = { sender, required: value, balance };
      throw new PlumblineError('INSUFFICIENT_FUNDS', 'insufficient funds for transfer', details);
    }
    ceiling = least(ceiling, (balance - value) / input.price);
  }
  return least(ceiling, rpcGasCap);
}

function least(a: bigint, b: bigint | undefined): bigint {
  return b === undefined || a < b ? a : b;
}
