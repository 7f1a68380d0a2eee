import type { RunLimits } from '../../evm/interpreter/run-budget.js';
import type { SimulationBase } from '../../evm/simulation/simulation.js';
import { StateOverlay } from '../../evm/state/state-overlay.js';
import type { StateReader } from '../../evm/state/state-reader.js';
import { equalBytes, ZERO_WORD } from '../../primitives/bytes.js';
import type { Block } from '../block.js';
import type { ChainCall, SimulationPlan } from '../chain.js';
import type { BlockMaker } from '../devnet/mining/block-maker.js';
import type { Ledger } from '../devnet/records/ledger.js';
import type { Reading, RunOnGuesses } from '../devnet/state/flat-state.js';
import { runSpeculatively, SPECULATIVE_RUN_GAS, type SpeculativeCall } from '../light/state/speculative-execution.js';
import { applyEdits } from '../state-edits.js';
import type { ForkState } from './fork-state.js';
import type { ForkOrigin } from './fork-store.js';

/** What the states of a fork are made of. */
interface StateParts {
  readonly state: ForkState;
  readonly ledger: Ledger;
  readonly maker: BlockMaker;
  readonly origin: ForkOrigin;
}

/** State after the block of the network, or one that was made here; after the newest one with the pending edits. */
export async function ownState(
  { ledger, maker, state, origin }: StateParts,
  block: Block,
  { signal, gas, note }: ChainCall,
  runOnGuesses?: Reading['runOnGuesses'],
): Promise<StateReader> {
  const edits = equalBytes(block.hash, ledger.head.hash) ? maker.pendingEdits : [];
  const edited = async (below: StateReader) => {
    if (edits.length === 0) return below;
    const overlay = new StateOverlay(below);
    await applyEdits(overlay, edits);
    return overlay;
  };
  let isEdited = false;
  const reading = {
    signal,
    gas,
    // What the edits read is not what the caller reads.
    onBelow: () => isEdited && note?.block(origin.block),
    runOnGuesses:
      runOnGuesses && (async (guesses: StateReader, limits: RunLimits) => runOnGuesses(await edited(guesses), limits)),
  };
  const found = await edited(state.flat.at(block.header.number, reading));
  isEdited = true;
  return found;
}

/** Runs a call for what it reads. */
export function callOnGuesses(call: Omit<SpeculativeCall, 'left'>): RunOnGuesses {
  return (guesses, limits) => runSpeculatively(guesses, call, limits);
}

/** Simulates the blocks of a plan for what they read. */
export function blocksOnGuesses(base: Omit<SimulationBase, 'state' | 'stateRoot'>, plan: SimulationPlan): RunOnGuesses {
  return async (guesses, limits) => {
    const { simulateBlocks } = await import('../../evm/simulation/simulate.js');
    const guessed = { ...base, state: guesses, stateRoot: async () => ZERO_WORD };
    let hasFailed = false;
    const ended = (succeeded: boolean) => {
      hasFailed ||= !succeeded;
    };
    const speculativeRun = { gas: SPECULATIVE_RUN_GAS, begin() {}, ended };
    await simulateBlocks(guessed, plan.requests, { ...plan, ...limits }, speculativeRun);
    return !hasFailed;
  };
}
