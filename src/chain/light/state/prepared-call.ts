import type { BlockContext } from '../../../evm/block-context.js';
import type { Interpreters } from '../../../evm/interpreter/interpreters.js';
import type { Network } from '../../../networks/network.js';
import type { CallRequest } from '../../../primitives/call-request.js';
import { toQuantity } from '../../../primitives/quantity.js';
import type { StateOverrides } from '../../../primitives/state-overrides.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { Answer, Call, EndpointInfo } from '../../../upstream/transport/fault.js';
import type { HeadFollower } from '../heads/head-follower.js';
import type { LightBlock } from '../heads/light-block.js';
import { isNotThereYet } from '../refused.js';
import type { AccessLists } from './access-lists.js';
import type { Wants } from './access-set.js';
import { calldataWants, certainWants } from './call-hints.js';
import { LightState } from './light-state.js';
import type { ProvedState, ProvedStates } from './proved-state.js';
import { type StateBatch, stateBatch } from './state-batch.js';
import type { WorkingSet } from './working-set.js';

/** What prepared calls of one chain share. */
export interface CallGround {
  readonly group: EndpointGroup;
  readonly network: Network;
  readonly follower: HeadFollower;
  readonly states: ProvedStates;
  readonly workingSet: WorkingSet;
  readonly interpreters: Interpreters;
  readonly accessLists: AccessLists;
  contextAfter(block: LightBlock): BlockContext;
}

/** A call that is going to be executed. */
export interface PlannedCall {
  readonly call: CallRequest;
  readonly overrides?: StateOverrides | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One call that is about to be executed: what it reads is fetched in as few round trips as can be. */
export class PreparedCall {
  private listAsked: boolean;

  constructor(
    private readonly ground: CallGround,
    private readonly plan: PlannedCall,
  ) {
    // State overrides are not shown to endpoints: their list would be of another execution, and tell what is overridden.
    this.listAsked = !ground.accessLists.areOfUse || (plan.overrides?.length ?? 0) > 0;
  }

  /**
   * Head and state for the call: both with one request where the head has to be read.
   *
   * @throws as `HeadFollower.refresh`; what fetching the state throws
   */
  async atHead(): Promise<{ readonly block: LightBlock; readonly state: LightState }> {
    const { follower } = this.ground;
    const block = follower.fresh ?? (await this.readHead());
    return { block, state: await this.at(block) };
  }

  /** State after a block, for the call. */
  async at(block: LightBlock): Promise<LightState> {
    const { states, workingSet } = this.ground;
    const { call } = this.plan;
    const state = states.at(block.header.stateRoot);
    const open = state.missing(certainWants(call));
    if (!open.isEmpty) await this.obtain(block, state, open);
    return new LightState(state, (wants) => this.obtainMore(block, state, wants), workingSet.recordOf(call));
  }

  /** Asks for the head, and at once for what was read lately, what this call is sure to read, and what it may touch. */
  private async readHead(): Promise<LightBlock> {
    const { follower, states, workingSet } = this.ground;
    const { call } = this.plan;
    const wants = certainWants(call).add(workingSet.recent());
    await states.codes.recall(codedOf(wants));
    const batch = stateBatch(wants, 'latest', (address) => this.isCodeKnown(address));
    const list = workingSet.knows(call) ? [] : this.listCall('latest');
    const { head, beside } = await follower.refresh([...batch.calls, ...list], this.plan.signal);
    if (beside === undefined) {
      if (list.length > 0) this.listAsked = false;
      return head;
    }
    const { from, block, answers } = beside;
    const state = states.at(block.header.stateRoot);
    takeWhatHolds(batch, state, answers.slice(0, batch.calls.length), from);
    const listed = this.listOf(answers.slice(batch.calls.length));
    const atHead = states.at(head.header.stateRoot);
    const open = atHead.missing(listed?.add(certainWants(call)) ?? certainWants(call));
    if (!open.isEmpty) await this.fetch(head, atHead, open);
    return head;
  }

  /** Fetches what is sure to be read; then what an endpoint says the call touches. */
  private async obtain(block: LightBlock, state: ProvedState, wants: Wants): Promise<void> {
    const listed = await this.fetch(block, state, wants, this.listCall(toQuantity(block.header.number)));
    const open = listed && state.missing(listed);
    if (open !== undefined && !open.isEmpty) await this.fetch(block, state, open);
  }

  /** Execution has met something that is not known: looks ahead for what else it will meet. */
  private async obtainMore(block: LightBlock, state: ProvedState, wants: Wants): Promise<void> {
    const { ground, plan } = this;
    const { rehearse } = await import('./speculative-execution.js');
    const ahead = await rehearse(state, {
      call: plan.call,
      overrides: plan.overrides,
      context: ground.contextAfter(block),
      network: ground.network,
      interpreters: ground.interpreters,
      signal: plan.signal,
    });
    wants.add(ahead);
    if (!ground.accessLists.areOfUse) wants.add(calldataWants(plan.call));
    const missing = state.missing(wants);
    if (!missing.isEmpty) await this.obtain(block, state, missing);
  }

  /** @returns what `list` came to, where that was asked and answered */
  private async fetch(
    block: LightBlock,
    state: ProvedState,
    wants: Wants,
    list: readonly Call[] = [],
  ): Promise<Wants | undefined> {
    await state.codes.recall(codedOf(wants));
    const batch = stateBatch(wants, toQuantity(block.header.number), (address) => {
      return state.hasAccount(address) ? state.hasCodeOf(address) : state.codes.hasCodeOf(address);
    });
    const { signal } = this.plan;
    return this.ground.group.requestMany([...batch.calls, ...list], {
      ...(signal !== undefined && { signal }),
      mayCome: isNotThereYet,
      accept: (answers, from) => {
        batch.read(state, answers.slice(0, batch.calls.length), from);
        return this.listOf(answers.slice(batch.calls.length));
      },
    });
  }

  private listCall(at: string): Call[] {
    if (this.listAsked) return [];
    this.listAsked = true;
    return [this.ground.accessLists.callFor(this.plan.call, at)];
  }

  private listOf([answer]: readonly Answer[]): Wants | undefined {
    return answer === undefined ? undefined : this.ground.accessLists.read(answer);
  }

  /** Whether the code of an account was known at the last head; should it have changed since, it is asked for later. */
  private isCodeKnown(address: Uint8Array): boolean {
    const { follower, states } = this.ground;
    const { last } = follower;
    const state = last && states.at(last.header.stateRoot);
    return state?.hasAccount(address) === true ? state.hasCodeOf(address) : states.codes.hasCodeOf(address);
  }
}

function codedOf(wants: Wants): Uint8Array[] {
  return [...wants].flatMap(({ address, code }) => (code ? [address] : []));
}

/** What an endpoint said at a head of its own is used where it holds; where not, the head may have moved meanwhile. */
function takeWhatHolds(batch: StateBatch, state: ProvedState, answers: readonly Answer[], from: EndpointInfo): void {
  try {
    batch.read(state, answers, from);
  } catch {
    // It is asked for again, at the number of the head, and then it has to hold.
  }
}
