import { RunBudget, type RunLimits } from '../../../evm/run-budget.js';
import { type BlockRequest, planBlocks, type SimulationBase, type SimulationOptions } from '../../../evm/simulation.js';
import type { StateReader } from '../../../evm/state-reader.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { bytesToKey, ZERO_ADDRESS, ZERO_WORD } from '../../../primitives/bytes.js';
import type { ImaginedRoots, SimulationPlan } from '../../chain.js';
import type { LightBlock } from '../heads/light-block.js';
import { AccessSet, calldataAccesses, certainAccesses } from './access-set.js';
import { fetchWithNodes } from './fetch-with-nodes.js';
import { type PrefetchedCall, repeatCalls } from './prefetch-call.js';
import { PrefetchReader } from './prefetch-reader.js';
import { type CallDependencies, prefetchBudget } from './prepared-call.js';
import { provedRoots } from './proved-roots.js';
import { LightState, ProvedState } from './proved-state.js';
import { type ZkStateSource, zkState } from './zk-state.js';

/** A state with the nodes of its proofs, by `bytesToKey` of their hash. */
interface StateWithNodes {
  readonly state: ProvedState;
  readonly nodes: Map<string, Uint8Array>;
}

/** States that are kept; the least recently used is dropped first. */
const MAX_STATES = 2;
/** A state with more accounts and slots is replaced by an empty one, as in `ProvedStates`. */
const MAX_ENTRIES = 4_096;

/** A simulation that is about to be run on the state after a block. */
export type PlannedSimulation = Omit<SimulationPlan, 'block' | 'tag'> & RunLimits;

/** The state for a simulation, and the state roots after its blocks. */
export interface SimulationState {
  readonly state: StateReader;
  readonly stateRoot: ImaginedRoots;
}

/** States for simulations. What all calls of all blocks read is fetched in as few round trips as possible. */
export class SimulationStates {
  private readonly states = new Map<string, StateWithNodes>();

  constructor(private readonly dependencies: CallDependencies) {}

  /** The state after a block. @throws what fetching the state throws */
  async at(block: LightBlock, plan: PlannedSimulation): Promise<SimulationState> {
    const held = this.held(block.header.stateRoot);
    const { state, nodes } = held;
    const prefetch = this.prefetch(block, plan);
    const obtain = async (accesses: AccessSet) => {
      const missing = state.missing(await withPrefetched(state, accesses, prefetch));
      if (!missing.isEmpty) await this.fetch(held, block, missing, plan.signal);
    };
    await obtain(namedAccesses(prefetch));
    const proofs = {
      nodes,
      fetch: (accesses: AccessSet) => this.fetch(held, block, accesses, plan.signal),
      pause: new RunBudget(plan).pause,
    };
    return { state: new LightState(state, obtain), stateRoot: provedRoots(proofs, block.header.stateRoot) };
  }

  /** The zk state after a block. Its proofs show no ordinary state root. */
  async zk(source: ZkStateSource, block: LightBlock, plan: PlannedSimulation): Promise<SimulationState> {
    const prefetch = this.prefetch(block, plan);
    const named = namedAccesses(prefetch);
    const state = zkState(this.dependencies, source, plan.signal, async (known, accesses) => {
      return known.missing(await withPrefetched(known, accesses.addAll(named), prefetch));
    });
    return { state, stateRoot: async () => undefined };
  }

  private prefetch(block: LightBlock, plan: PlannedSimulation): PrefetchedSimulation {
    const { network, contextAfter } = this.dependencies;
    const { header, hash } = block;
    // What is refused as a whole is refused before anything is fetched for it.
    planBlocks(plan.requests, header, network.slotSeconds);
    const { blockHash } = contextAfter(block);
    return { ...plan, base: { network, header, hash, blockHash }, left: prefetchBudget() };
  }

  private held(root: Uint8Array): StateWithNodes {
    const key = bytesToKey(root);
    let held = this.states.get(key);
    if (held === undefined || held.state.size > MAX_ENTRIES) {
      held = { state: new ProvedState(root, this.dependencies.states.codes), nodes: new Map() };
    }
    this.states.delete(key);
    this.states.set(key, held);
    if (this.states.size > MAX_STATES) this.states.delete(this.states.keys().next().value!);
    return held;
  }

  private fetch(
    { state, nodes }: StateWithNodes,
    block: LightBlock,
    accesses: AccessSet,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const onNode = (node: Uint8Array) => nodes.set(bytesToKey(keccak256(node)), node);
    return fetchWithNodes(this.dependencies.group, { block, state, accesses, signal, onNode });
  }
}

/** Adds what will probably be read next, as far as gas and time suffice to find it. */
async function withPrefetched(
  state: ProvedState,
  accesses: AccessSet,
  prefetch: PrefetchedSimulation,
): Promise<AccessSet> {
  const { gas, ms } = prefetch.left;
  return gas > 0 && ms > 0 ? accesses.addAll(await prefetchBlocks(state, prefetch)) : accesses;
}

/** The blocks to simulate, and what they stand on. */
export interface PrefetchedSimulation extends SimulationOptions, Pick<PrefetchedCall, 'left'> {
  readonly base: Omit<SimulationBase, 'state' | 'stateRoot'>;
  readonly requests: readonly BlockRequest[];
}

/** Most accounts and slots in the result. */
const MAX_ACCESSES = 512;

/** What the calls and overrides name: senders, recipients, access lists, coinbases, and accounts in calldata, as far as there is room. */
export function namedAccesses({ base, requests }: PrefetchedSimulation): AccessSet {
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
 * @throws PlumblineError as `prefetchCall`
 */
export async function prefetchBlocks(state: ProvedState, prefetch: PrefetchedSimulation): Promise<AccessSet> {
  const { base, requests, left: _, ...options } = prefetch;
  const { simulateBlocks } = await import('../../../evm/simulate.js');
  const senders = requests.flatMap(({ calls }) => calls.map(({ from = ZERO_ADDRESS }) => from));
  const coinbases = requests.map(({ overrides }) => overrides.feeRecipient ?? base.header.miner);
  const reader = new PrefetchReader(state, senders, coinbases, MAX_ACCESSES);
  const guessed = { ...base, state: reader, stateRoot: async () => ZERO_WORD };
  return repeatCalls(reader, prefetch, (limits, speculativeRun) =>
    simulateBlocks(guessed, requests, { ...options, ...limits }, speculativeRun),
  );
}
