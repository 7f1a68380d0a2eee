import type { BlockContext } from '../../../evm/block-context.js';
import { type SimulationRules, transactionMessageOf } from '../../../evm/call.js';
import { Machine } from '../../../evm/machine.js';
import { precompileOverrides, withOverrides } from '../../../evm/overrides.js';
import { type GasCount, RunBudget, type RunLimits } from '../../../evm/run-budget.js';
import type { SpeculativeRun } from '../../../evm/simulation.js';
import { StateOverlay } from '../../../evm/state-overlay.js';
import type { StateReader } from '../../../evm/state-reader.js';
import { simulateTransaction } from '../../../evm/transaction.js';
import { ZERO_ADDRESS } from '../../../primitives/bytes.js';
import { monotonicMs } from '../../../scheduling/clock.js';
import { openDeadline } from '../../../scheduling/deadline.js';
import type { CallPlan, PlannedRuns } from '../../chain.js';
import type { AccessSet } from './access-set.js';
import { PrefetchReader } from './prefetch-reader.js';
import type { ProvedState } from './proved-state.js';

/*
 * Without an access list, each unknown read of an execution would cost a round trip of its own. So the call is executed
 * to prefetch what it reads: unknown values are replaced by guesses, and the run is repeated with other guesses until one succeeds.
 * Everything that these runs read is then fetched at once. Their results are discarded.
 */

/** The call whose reads are prefetched, and its environment. */
export interface PrefetchedCall extends Omit<CallPlan, 'block' | 'tag'>, RunLimits {
  readonly context: BlockContext;
  readonly network: SimulationRules;
  /** Gas and milliseconds that are left for all prefetch runs of the call. What is used is subtracted. */
  readonly left: { gas: number; ms: number };
}

/** Most runs. */
const MAX_RUNS = 12;
/** Gas of each run. What an execution reads before that is enough. */
export const PREFETCH_RUN_GAS = 10_000_000n;
/** Most accounts and slots in the result. */
const MAX_ACCESSES = 128;

/**
 * The unknown accounts, slots and code that the call will probably read, as far as gas and time suffice to find them.
 *
 * @throws PlumblineError `ABORTED`, `REQUEST_TIMED_OUT`, `GAS_BUDGET_EXCEEDED`: of the request to which the call belongs
 */
export async function prefetchCall(state: ProvedState, prefetch: PrefetchedCall): Promise<AccessSet> {
  const { call, context } = prefetch;
  const reader = new PrefetchReader(state, [call.from ?? ZERO_ADDRESS], [context.coinbase], MAX_ACCESSES);
  await repeatRuns(prefetch, async (limits) => {
    reader.beginRun();
    const ended = await runToPrefetch(reader, prefetch, limits);
    return !ended && reader.nextGuess();
  });
  return reader.accesses;
}

/**
 * Repeats runs while they ask for it, and gas and time suffice.
 *
 * @param run - returns whether to run again
 * @throws PlumblineError as `prefetchCall`
 */
export async function repeatRuns(
  { left, signal, gas: within }: Pick<PrefetchedCall, 'left' | 'signal' | 'gas'>,
  run: (limits: RunLimits) => Promise<boolean>,
): Promise<void> {
  const began = monotonicMs();
  const deadline = openDeadline(signal, left.ms);
  const gas: GasCount = { budget: left.gas, spent: 0, within };
  try {
    for (let runs = 0; runs < MAX_RUNS; runs++) if (!(await run({ gas, signal: deadline.signal }))) break;
  } finally {
    deadline.close();
    left.gas -= gas.spent;
    left.ms -= monotonicMs() - began;
  }
  if (signal?.aborted) throw signal.reason;
  // Throws if the gas of the request is used up.
  new RunBudget({ gas: within }).spend(0);
}

/**
 * Runs a call whose result does not count.
 *
 * @param state - some of its values may be guesses
 * @returns whether the run succeeded, or would fail with any guesses
 */
export async function runToPrefetch(
  state: StateReader,
  { call, overrides = [], context, network }: Pick<PrefetchedCall, 'call' | 'overrides' | 'context' | 'network'>,
  limits: RunLimits,
): Promise<boolean> {
  const overlay = new StateOverlay(withOverrides(state, overrides));
  const machine = Machine.open(network, context, overlay, precompileOverrides(overrides));
  try {
    const { nonce: _, ...rest } = call;
    const message = transactionMessageOf(rest, { gasLimit: PREFETCH_RUN_GAS, nonce: 0n, price: 0n, free: true });
    const { succeeded } = await simulateTransaction(machine, message, {
      leniency: { nonce: 'any', contractSender: true, gasAboveCap: true, unfunded: true, lowPrice: true },
      baseFeePerGas: 0n,
      budget: new RunBudget(limits),
    });
    return succeeded;
  } catch {
    // The real execution comes later and reports the error.
    return true;
  } finally {
    machine.close();
  }
}

/**
 * Repeats runs of several calls, while a call of the last run failed and has a guess left. A run that throws is the last one: the
 * real run comes later and reports the error.
 *
 * @throws PlumblineError as `prefetchCall`
 */
export async function repeatCalls(
  reader: PrefetchReader,
  prefetch: Pick<PrefetchedCall, 'left' | 'signal' | 'gas'>,
  run: (limits: RunLimits, speculativeRun: SpeculativeRun) => Promise<unknown>,
): Promise<AccessSet> {
  await repeatRuns(prefetch, async (limits) => {
    let isGuessLeft = false;
    const speculativeRun: SpeculativeRun = {
      gas: PREFETCH_RUN_GAS,
      begin(created) {
        reader.beginRun();
        if (created !== undefined) reader.expectAbsent(created);
      },
      ended(succeeded) {
        if (!succeeded) isGuessLeft = reader.nextGuess() || isGuessLeft;
      },
    };
    try {
      await run(limits, speculativeRun);
    } catch {
      return false;
    }
    return isGuessLeft;
  });
  return reader.accesses;
}

/** Most accounts and slots in the result. */
const MAX_RUN_ACCESSES = 512;

/**
 * The unknown accounts, slots and code that a question of several calls will probably read.
 *
 * @throws PlumblineError as `prefetchCall`
 */
export function prefetchByRuns(
  state: ProvedState,
  { calls, coinbase, run }: PlannedRuns,
  prefetch: Pick<PrefetchedCall, 'left' | 'signal' | 'gas'>,
): Promise<AccessSet> {
  const senders = calls.map(({ from = ZERO_ADDRESS }) => from);
  const reader = new PrefetchReader(state, senders, [coinbase], MAX_RUN_ACCESSES);
  return repeatCalls(reader, prefetch, (limits, speculativeRun) => run(reader, limits, speculativeRun));
}
