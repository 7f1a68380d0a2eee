import type { TrieProof } from '../../../ethereum/state-trie.js';
import type { BlockContext } from '../../../evm/block-context.js';
import { toQuantity } from '../../../primitives/quantity.js';
import type { AccountRequest } from '../../../proof/ethereum-proof.js';
import { loadOnce } from '../../../scheduling/load-once.js';
import type { Block } from '../../block.js';
import type { LightBlock } from '../heads/light-block.js';
import type { LightChainParts } from '../light-parts.js';
import type { LightHeads } from '../open-heads.js';
import { isNotAvailableYet } from '../refused.js';
import type { AccessSet } from './access-set.js';
import type { FetchedState } from './fetch-with-nodes.js';
import {
  AccessLists,
  type CallDependencies,
  type PlannedCall,
  PreparedCall,
  prefetchAccesses,
  prefetchBudget,
  RecentReads,
} from './prepared-call.js';
import { CodeCache, LightState, type ProvedState, ProvedStates } from './proved-state.js';
import type { SimulationStates } from './simulation-states.js';
import { stateBatch } from './state-batch.js';
import type { ZkStateSource } from './zk-state.js';

/** The states of a light chain, fetched from endpoints and proved against the state roots of headers. */
export class LightStates {
  private readonly dependencies: CallDependencies;
  /** States for simulations. Loaded with the first one. */
  readonly simulations: () => Promise<SimulationStates>;

  /** @param contextAfter - context of the next block after a given one */
  constructor(
    { upstream: group, network, clock, cache, accessLists }: LightChainParts,
    { follower, headers }: Pick<LightHeads, 'follower' | 'headers'>,
    contextAfter: (block: LightBlock) => BlockContext,
  ) {
    const now = () => clock.now();
    const isComplete = network.accessLists === 'complete';
    this.dependencies = {
      group,
      network,
      follower,
      states: new ProvedStates(new CodeCache(cache?.codes), isComplete),
      recentReads: new RecentReads(now),
      accessLists: new AccessLists(accessLists, now),
      contextAfter,
      lists: isComplete
        ? loadOnce(async () => new (await import('./block-lists.js')).BlockLists({ group, network, headers }))
        : undefined,
    };
    this.simulations = loadOnce(async () => {
      const { SimulationStates } = await import('./simulation-states.js');
      return new SimulationStates(this.dependencies);
    });
  }

  /** The state for a call that is about to be executed. */
  prepare(plan: PlannedCall): PreparedCall {
    return new PreparedCall(this.dependencies, plan);
  }

  /**
   * State after a block. An account or slot that is not proved yet is fetched and proved when it is read.
   *
   * @param signal - ends what is being fetched
   */
  at(block: Pick<Block, 'header' | 'hash'>, signal?: AbortSignal): LightState {
    const state = this.dependencies.states.after(block);
    return new LightState(state, (accesses) => this.obtain(block, state, accesses, signal));
  }

  /** The state after the parent of a block, in which the block is executed again: what its access list names is fetched together. */
  async before(block: Block, parent: Block, signal?: AbortSignal): Promise<LightState> {
    const state = this.dependencies.states.after(parent);
    const lists = await this.dependencies.lists?.();
    const named = await lists?.accessesOf(block, signal);
    if (named !== undefined) await this.obtain(parent, state, named, signal);
    return new LightState(state, (accesses) => this.obtain(parent, state, accesses, signal));
  }

  private async obtain(
    block: Pick<Block, 'header' | 'hash'>,
    state: ProvedState,
    accesses: AccessSet,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { group, lists: load } = this.dependencies;
    const lists = await load?.();
    await lists?.bring(block, state, signal);
    const open = lists === undefined ? accesses : state.missing(accesses);
    if (open.isEmpty) return;
    const batch = stateBatch(open, toQuantity(block.header.number));
    await group.requestMany(batch.calls, {
      ...(signal !== undefined && { signal }),
      isTransient: isNotAvailableYet,
      accept: (answers, from) => {
        batch.read(state, answers, from);
        lists?.measure(answers);
      },
    });
  }

  /** The zk state after a finalized block. @param signal - ends what is being fetched */
  async zk(source: ZkStateSource, signal?: AbortSignal): Promise<LightState> {
    const { zkState } = await import('./zk-state.js');
    return zkState(this.dependencies, source, signal);
  }

  /** As `zk`, for a call that is about to be executed. @param block - of the state */
  async zkForCall(source: ZkStateSource, block: LightBlock, plan: PlannedCall): Promise<LightState> {
    const { zkState } = await import('./zk-state.js');
    const { network, contextAfter } = this.dependencies;
    const prefetch = { ...plan, context: contextAfter(block), network, left: prefetchBudget() };
    return zkState(this.dependencies, source, plan.signal, async (state, accesses) =>
      accesses.addAll(await prefetchAccesses(state, prefetch)),
    );
  }

  /** As `fetchWithNodes`. */
  async fetch(fetched: FetchedState): Promise<void> {
    const { fetchWithNodes } = await import('./fetch-with-nodes.js');
    await fetchWithNodes(this.dependencies.group, fetched);
  }

  /** As `fetchAccountProof`. */
  async proof(block: LightBlock, request: AccountRequest, signal?: AbortSignal): Promise<TrieProof> {
    const { fetchAccountProof } = await import('./fetch-with-nodes.js');
    return fetchAccountProof(this.dependencies.group, block, request, signal);
  }
}
