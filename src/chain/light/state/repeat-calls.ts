import type { RunLimits } from '../../../evm/interpreter/run-budget.js';
import type { SpeculativeRun } from '../../../evm/simulation/simulation.js';
import { ZERO_ADDRESS } from '../../../primitives/bytes.js';
import type { PlannedRuns } from '../../chain.js';
import type { AccessSet } from './access-set.js';
import { GuessingReader } from './guessing-reader.js';
import type { ProvedState } from './proved-state.js';
import { repeatRuns, SPECULATIVE_RUN_GAS, type SpeculativeCall } from './speculative-execution.js';

/**
 * Repeats runs of several calls, while a call of the last run failed and has a guess left. A run that throws is the last one: the
 * real run comes later and reports the error.
 *
 * @throws PlumblineError as `executeSpeculatively`
 */
export async function repeatCalls(
  reader: GuessingReader,
  speculative: Pick<SpeculativeCall, 'left' | 'signal' | 'gas'>,
  run: (limits: RunLimits, speculativeRun: SpeculativeRun) => Promise<unknown>,
): Promise<AccessSet> {
  await repeatRuns(speculative, async (limits) => {
    let isGuessLeft = false;
    const speculativeRun: SpeculativeRun = {
      gas: SPECULATIVE_RUN_GAS,
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
 * @throws PlumblineError as `executeSpeculatively`
 */
export function foreseenByRuns(
  state: ProvedState,
  { calls, coinbase, run }: PlannedRuns,
  speculative: Pick<SpeculativeCall, 'left' | 'signal' | 'gas'>,
): Promise<AccessSet> {
  const senders = calls.map(({ from = ZERO_ADDRESS }) => from);
  const reader = new GuessingReader(state, senders, [coinbase], MAX_ACCESSES);
  return repeatCalls(reader, speculative, (limits, speculativeRun) => run(reader, limits, speculativeRun));
}
