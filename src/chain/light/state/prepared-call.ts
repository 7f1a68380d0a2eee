import type { BlockContext } from '../../../evm/block-context.js';
import type { RunLimits } from '../../../evm/run-budget.js';
import type { Network } from '../../../networks/network.js';
import { bytesToKey } from '../../../primitives/bytes.js';
import type { CallRequest } from '../../../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { type Answer, type Call, type EndpointInfo, isMethodMissing } from '../../../upstream/failure.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { CallPlan } from '../../chain.js';
import type { HeadFollower } from '../heads/head-follower.js';
import type { LightBlock } from '../heads/light-block.js';
import { isNotAvailableYet } from '../refused.js';
import { AccessSet, calldataAccesses, certainAccesses } from './access-set.js';
import type { BlockLists } from './block-lists.js';
import type { ReadCall } from './mapping-guesses.js';
import type { PrefetchedCall } from './prefetch-call.js';
import { LightState, type ProvedState, type ProvedStates } from './proved-state.js';
import { type StateBatch, stateBatch } from './state-batch.js';

/** What the prepared calls of one chain share. */
export interface CallDependencies {
  readonly group: EndpointGroup;
  readonly network: Network;
  readonly follower: HeadFollower;
  readonly states: ProvedStates;
  readonly recentReads: RecentReads;
  readonly accessLists: AccessLists;
  /** Brings values from block to block. Left out where access lists are not complete; loaded when it is first used. */
  readonly lists?: (() => Promise<BlockLists>) | undefined;
  /** Context of the next block after `block`. */
  contextAfter(block: LightBlock): BlockContext;
}

/** A call that is about to be executed. */
export type PlannedCall = Omit<CallPlan, 'block' | 'tag'> & RunLimits;

/** Gas and time of all prefetch runs of one call together. */
const PREFETCH_GAS = 50_000_000;
const PREFETCH_MS = 1_000;

/** What the prefetch runs of one call may use. They subtract from it. */
export const prefetchBudget = () => ({ gas: PREFETCH_GAS, ms: PREFETCH_MS });

/**
 * What the planned execution will probably read, as far as gas and time suffice to find it.
 *
 * @throws PlumblineError as `prefetchCall`
 */
export async function prefetchAccesses(state: ProvedState, prefetch: PrefetchedCall): Promise<AccessSet> {
  const { left, runs } = prefetch;
  if (left.gas <= 0 || left.ms <= 0) return new AccessSet();
  if (runs !== undefined) {
    const { prefetchByRuns } = await import('./prefetch-call.js');
    return prefetchByRuns(state, runs, prefetch);
  }
  const { prefetchCall } = await import('./prefetch-call.js');
  return prefetchCall(state, prefetch);
}

/** The state for one call that is about to be executed. What the call reads is fetched in as few round trips as possible. */
export class PreparedCall {
  /** No access list may be requested. */
  private readonly isListRefused: boolean;
  /** Whether the access list has been requested, or must not be. */
  private isListRequested: boolean;
  /** What is left for prefetch runs. */
  private readonly budget = prefetchBudget();
  /** What was fetched for the call, or is about to be. */
  private readonly fetched = new AccessSet();

  constructor(
    private readonly dependencies: CallDependencies,
    private readonly plan: PlannedCall,
  ) {
    // With state overrides no list is requested: it would be of another execution, and reveal the overrides.
    this.isListRefused = plan.accessLists === false || (plan.overrides?.length ?? 0) > 0;
    this.isListRequested = this.isListRefused || !dependencies.accessLists.isAvailable;
  }

  /**
   * Head and state for the call, by one request if the head is not known.
   *
   * @throws as `HeadFollower.refresh`; what fetching the state throws
   */
  async atHead(): Promise<{ readonly block: LightBlock; readonly state: LightState }> {
    const { follower } = this.dependencies;
    const block = follower.fresh ?? (await this.readHead());
    return { block, state: await this.at(block) };
  }

  /** State after a block, for the call. @throws what fetching the state throws */
  async at(block: LightBlock): Promise<LightState> {
    const { states, recentReads } = this.dependencies;
    const { call } = this.plan;
    const state = states.after(block);
    const open = state.missing((await this.alike()).addAll(certainAccesses(call)));
    for (const other of this.plan.runs?.calls ?? []) open.addAll(state.missing(certainAccesses(other)));
    if (!open.isEmpty) await this.obtain(block, state, open);
    return new LightState(state, (accesses) => this.obtainMore(block, state, accesses), recentReads.recordOf(call));
  }

  /** What another call of the same function read of another contract, as far as this one will probably read it too. */
  private async alike(): Promise<AccessSet> {
    const { call } = this.plan;
    const { recentReads } = this.dependencies;
    if (recentReads.kinds.size === 0 || recentReads.knows(call)) return new AccessSet();
    const { guessedAlike } = await import('./mapping-guesses.js');
    return guessedAlike(call, recentReads.kinds.values());
  }

  /** Requests the head and, in the same batch, recent reads, the certain reads of this call and its access list. */
  private async readHead(): Promise<LightBlock> {
    const { follower, states, recentReads } = this.dependencies;
    const { call } = this.plan;
    const lists = await this.dependencies.lists?.();
    const next = lists?.callForNext(follower.last) ?? [];
    if (next.length > 0) {
      const { head, batched } = await follower.refresh(next, this.plan.signal);
      if (batched !== undefined) lists?.offer(batched.block, batched.answers[0]);
      return head;
    }
    const accesses = certainAccesses(call)
      .addAll(await this.alike())
      .addAll(recentReads.recent());
    await states.codes.recall(addressesWithCode(accesses));
    const batch = stateBatch(accesses, 'latest', (address) => this.isCodeKnown(address));
    const list = recentReads.knows(call) ? [] : this.listCall('latest');
    const { head, batched } = await follower.refresh([...batch.calls, ...list], this.plan.signal);
    if (batched === undefined) {
      if (list.length > 0) this.isListRequested = false;
      return head;
    }
    const { from, block, answers } = batched;
    const state = states.after(block);
    readUnlessWrong(batch, state, answers.slice(0, batch.calls.length), from);
    await lists?.bring(block, state, this.plan.signal);
    const listed = this.listOf(answers.slice(batch.calls.length));
    const atHead = states.after(head);
    const open = atHead.missing(listed?.addAll(certainAccesses(call)) ?? certainAccesses(call));
    if (!open.isEmpty) await this.fetch(head, atHead, open);
    return head;
  }

  /** Fetches accesses together with the access list of the call, then what the list names. */
  private async obtain(block: LightBlock, state: ProvedState, accesses: AccessSet): Promise<void> {
    const listed = await this.fetch(block, state, accesses, this.listCall(toQuantity(block.header.number)));
    if (listed === undefined) return;
    // Several calls read more than the first does.
    if (this.plan.runs !== undefined) listed.addAll(await this.toPrefetch(block, state));
    const open = state.missing(listed);
    if (!open.isEmpty) await this.fetch(block, state, open);
  }

  /** Called when the execution reads something unknown: fetches it together with the reads that will probably follow. */
  private async obtainMore(block: LightBlock, state: ProvedState, accesses: AccessSet): Promise<void> {
    accesses.addAll(await this.toPrefetch(block, state));
    if (this.isListRefused || !this.dependencies.accessLists.isAvailable) {
      const { call, runs } = this.plan;
      const { guessedOfTokens } = await import('./mapping-guesses.js');
      const read = new AccessSet().addAll(this.fetched).addAll(accesses);
      for (const one of runs?.calls ?? [call]) {
        accesses.addAll(calldataAccesses(one)).addAll(guessedOfTokens(one, state, read, runs !== undefined));
      }
    }
    const missing = state.missing(accesses);
    if (!missing.isEmpty) await this.obtain(block, state, missing);
  }

  private toPrefetch(block: LightBlock, state: ProvedState): Promise<AccessSet> {
    const { network, contextAfter } = this.dependencies;
    const context = contextAfter(block);
    return prefetchAccesses(state, { ...this.plan, context, network, left: this.budget });
  }

  /** @returns the accesses of the access list, if `list` requests it and the endpoint has it */
  private async fetch(
    block: LightBlock,
    state: ProvedState,
    accesses: AccessSet,
    list: readonly Call[] = [],
  ): Promise<AccessSet | undefined> {
    const { signal, runs } = this.plan;
    this.fetched.addAll(accesses);
    const lists = await this.dependencies.lists?.();
    if (lists !== undefined) {
      await lists.bring(block, state, signal);
      accesses = state.missing(accesses);
      if (accesses.isEmpty) return undefined;
    }
    await state.codes.recall(addressesWithCode(accesses));
    const batch = stateBatch(accesses, toQuantity(block.header.number), (address) => {
      return state.hasAccount(address) ? state.hasCodeOf(address) : state.codes.hasCodeOf(address);
    });
    return this.dependencies.group.requestMany([...batch.calls, ...list], {
      ...(signal !== undefined && { signal }),
      ...(runs !== undefined && {
        onAsk: ({ id }) => runs.onAsk(id, { accounts: accesses, call: list.length > 0 }),
      }),
      isTransient: isNotAvailableYet,
      accept: (answers, from) => {
        batch.read(state, answers.slice(0, batch.calls.length), from);
        lists?.measure(answers);
        return this.listOf(answers.slice(batch.calls.length));
      },
    });
  }

  private listCall(at: string): Call[] {
    if (this.isListRequested) return [];
    this.isListRequested = true;
    return [this.dependencies.accessLists.callFor(this.plan.call, at)];
  }

  private listOf([answer]: readonly Answer[]): AccessSet | undefined {
    return answer === undefined ? undefined : this.dependencies.accessLists.read(answer);
  }

  /** Whether the code of an account was known at the last head. If it has changed since, it is fetched later. */
  private isCodeKnown(address: Uint8Array): boolean {
    const { follower, states } = this.dependencies;
    const { last } = follower;
    const state = last && states.after(last);
    return state?.hasAccount(address) === true ? state.hasCodeOf(address) : states.codes.hasCodeOf(address);
  }
}

function addressesWithCode(accesses: AccessSet): Uint8Array[] {
  return [...accesses].flatMap(({ address, code }) => (code ? [address] : []));
}

/** Reads answers for the endpoint's own head. Wrong answers are ignored: its head may have changed between the calls. */
function readUnlessWrong(batch: StateBatch, state: ProvedState, answers: readonly Answer[], from: EndpointInfo): void {
  try {
    batch.read(state, answers, from);
  } catch {
    // It is requested again by the number of the head. A wrong answer to that is an error.
  }
}

/** Kinds of calls that are remembered; the least recently used is dropped first. */
const MAX_KINDS = 32;
/** Accounts and slots that are proved again with a new head. */
const MAX_ACCESSES = 192;
/** Older reads are not proved again. */
const MAX_AGE_MS = 10 * 60_000;

/** What recent executions read. Most of it is read again after the next block. */
export class RecentReads {
  /** The newest last. */
  readonly kinds = new Map<string, ReadCall>();

  /** @param now - milliseconds */
  constructor(private readonly now: () => number) {}

  /** Whether a call of this kind was executed recently. */
  knows(call: CallRequest): boolean {
    return this.kinds.has(kindOf(call));
  }

  /** An empty set for the reads of a call; the caller fills it. */
  recordOf(call: CallRequest): AccessSet {
    const key = kindOf(call);
    const read = new AccessSet();
    this.kinds.delete(key);
    this.kinds.set(key, { call, read, at: this.now() });
    if (this.kinds.size > MAX_KINDS) this.kinds.delete(this.kinds.keys().next().value!);
    return read;
  }

  /** What was read recently, the newest first. */
  recent(): AccessSet {
    const accesses = new AccessSet();
    for (const { read, at } of [...this.kinds.values()].reverse()) {
      if (this.now() - at <= MAX_AGE_MS) accesses.addAll(read, MAX_ACCESSES);
    }
    return accesses;
  }
}

/** Calls of one sender to one function of a contract mostly read the same accounts and slots. */
function kindOf({ from, to, data }: CallRequest): string {
  const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? '' : bytesToKey(bytes));
  return [part(from), part(to), part(data?.subarray(0, 4))].join('|');
}

/** How long the method counts as missing after an endpoint answered that it does not have it, milliseconds. */
const MISSING_FOR_MS = 300_000;
/** Most accounts and slots that are taken from an access list. */
const MAX_LISTED = 600;

/**
 * Access lists by `eth_createAccessList`. A list saves round trips and is a hint only: what it names is proved like any other
 * read. The endpoint learns the call. Most public endpoints do not have the method.
 */
export class AccessLists {
  private missingUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param allowed - whether calls may be sent to endpoints in this way
   * @param now - milliseconds
   */
  constructor(
    private readonly allowed: boolean,
    private readonly now: () => number,
  ) {}

  /** Whether it is allowed to ask for lists, and no endpoint answered lately that it does not have the method. */
  get isAvailable(): boolean {
    return this.allowed && this.now() >= this.missingUntil;
  }

  callFor({ from, to, data, value }: CallRequest, at: string): Call {
    const call = {
      ...(from !== undefined && { from: bytesToHex(from) }),
      ...(to !== undefined && { to: bytesToHex(to) }),
      ...(data !== undefined && { data: bytesToHex(data) }),
      ...(value !== undefined && { value: toQuantity(value) }),
    };
    return { method: 'eth_createAccessList', params: [call, at] };
  }

  /** @returns undefined for an error */
  read(answer: Answer): AccessSet | undefined {
    if (answer.kind === 'result') return listedAccesses(answer.result);
    if (isMethodMissing(answer.error)) this.missingUntil = this.now() + MISSING_FOR_MS;
    return undefined;
  }
}

/** The accounts and slots of an answer, up to the first entry that is not well formed. */
function listedAccesses(answer: unknown): AccessSet {
  const accesses = new AccessSet();
  const list = member(answer, 'accessList');
  if (!Array.isArray(list)) return accesses;
  try {
    for (const entry of list) {
      const address = hexToBytes(member(entry, 'address') as string, 20);
      if (accesses.size >= MAX_LISTED) break;
      accesses.addAccount(address, true);
      const keys = member(entry, 'storageKeys');
      for (const key of Array.isArray(keys) ? keys : []) {
        if (accesses.size < MAX_LISTED) accesses.addSlot(address, hexToBytes(key as string, 32));
      }
    }
  } catch {
    // The entries before the malformed one are still useful hints.
  }
  return accesses;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
