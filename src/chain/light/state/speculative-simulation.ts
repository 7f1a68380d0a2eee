import type { BlockRequest, SimulationBase, SimulationOptions } from '../../../evm/simulation/simulation.js';
import { ZERO_ADDRESS, ZERO_WORD } from '../../../primitives/bytes.js';
import { AccessSet, calldataAccesses, certainAccesses } from './access-set.js';
import { GuessingReader } from './guessing-reader.js';
import type { ProvedState } from './proved-state.js';
import { repeatCalls } from './repeat-calls.js';
import type { SpeculativeCall } from './speculative-execution.js';

/** The blocks to simulate, and what they stand on. */
export interface SpeculativeSimulation extends SimulationOptions, Pick<SpeculativeCall, 'left'> {
  readonly base: Omit<SimulationBase, 'state' | 'stateRoot'>;
  readonly requests: readonly BlockRequest[];
}

/** Most accounts and slots in the result. */
const MAX_ACCESSES = 512;

/** What the calls and overrides name: senders, recipients, access lists, coinbases, and accounts in calldata, as far as there is room. */
export function namedAccesses({ base, requests }: SpeculativeSimulation): AccessSet {
  const accesses = new AccessSet();
  const guesses = new AccessSet();
  for (const { overrides, stateOverrides, calls } of requests) {
    const coinbase = overrides.feeRecipient ?? base.header.miner;
    for (const call of calls) {
      accesses.addAll(certainAccesses(call, coinbase), MAX_ACCESSES);
      guesses.addAll(calldataAccesses(call), MAX_ACCESSES);
    }
    for (const { address, stateDiff = [] } of stateOverrides) {
      if (accesses.size >= MAX_ACCESSES) break;
      accesses.addAccount(address);
      for (const [slot] of stateDiff) if (accesses.size < MAX_ACCESSES) accesses.addSlot(address, slot);
    }
  }
  return accesses.addAll(guesses, MAX_ACCESSES);
}

/**
 * The unknown accounts, slots and code that the calls of all blocks will probably read, as far as gas and time suffice to find
 * them. Guesses are made as for one call, for each call that fails.
 *
 * @throws PlumblineError as `executeSpeculatively`
 */
export async function simulateSpeculatively(
  state: ProvedState,
  speculative: SpeculativeSimulation,
): Promise<AccessSet> {
  const { base, requests, left: _, ...options } = speculative;
  const { simulateBlocks } = await import('../../../evm/simulation/simulate.js');
  const senders = requests.flatMap(({ calls }) => calls.map(({ from = ZERO_ADDRESS }) => from));
  const coinbases = requests.map(({ overrides }) => overrides.feeRecipient ?? base.header.miner);
  const reader = new GuessingReader(state, senders, coinbases, MAX_ACCESSES);
  const guessed = { ...base, state: reader, stateRoot: async () => ZERO_WORD };
  return repeatCalls(reader, speculative, (limits, speculativeRun) =>
    simulateBlocks(guessed, requests, { ...options, ...limits }, speculativeRun),
  );
}
