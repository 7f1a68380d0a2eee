import type { RunLimits } from '../../../evm/interpreter/run-budget.js';
import type { SpeculativeRun } from '../../../evm/simulation/simulation.js';
import { ZERO_ADDRESS } from '../../../primitives/bytes.js';
import type { PlannedRuns } from '../../chain.js';
import type { AccessSet } from './access-set.js';
import { PREFETCH_RUN_GAS, type PrefetchedCall, repeatRuns } from './prefetch-call.js';
import { PrefetchReader } from './prefetch-reader.js';
import type { ProvedState } from './proved-state.js';

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
const MAX_ACCESSES = 512;

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
  const reader = new PrefetchReader(state, senders, [coinbase], MAX_ACCESSES);
  return repeatCalls(reader, prefetch, (limits, speculativeRun) => run(reader, limits, speculativeRun));
}
