import { invalidParameter, isPlumblineError, PlumblineError, type UpstreamReason } from '../errors.js';
import { type Clock, raceSignal, sleep } from '../scheduling/clock.js';
import { type Deadline, openDeadline } from '../scheduling/deadline.js';
import {
  type BackOff,
  createBackOff,
  Endpoint,
  type EndpointEvent,
  type EndpointHost,
  type UpstreamObserver,
} from './endpoint.js';
import {
  type Answer,
  allFailed,
  blockOf,
  type Call,
  type EndpointInfo,
  type Failure,
  type Fault,
  type FaultKind,
  hanging,
  isMethodMissing,
  listed,
  type Outcome,
  type RpcErrorBody,
  reasonsOf,
  rejection,
  requestFailureOf,
  saying,
  tooFew,
  upstreamError,
} from './failure.js';
import {
  clockOf,
  type EndpointSource,
  type GroupOptions,
  limitsOf,
  type OpenTransport,
  openJsonRpc,
} from './options.js';

/** Options of a request to a group. */
export interface UpstreamRequestOptions {
  /** Aborts the request, and calls in flight that no other request waits for. */
  readonly signal?: AbortSignal;
  /** Time limit of the whole request in milliseconds. Default: the group's. */
  readonly timeoutMs?: number;
  /** Id of the only endpoint to ask. */
  readonly endpoint?: string;
  /**
   * Whether to wait and ask again when no endpoint has answered, for example because of a rate limit. Default: true. Set it to
   * false with `endpoint` while there are other endpoints to ask.
   */
  readonly waits?: boolean;
  /** Ids of endpoints not to ask. */
  readonly exclude?: readonly string[];
  /**
   * Whether to wait for identical calls in flight, and not to send them again. Default: true. Set it to false for calls that
   * change something.
   */
  readonly deduplicate?: boolean;
  /**
   * Whether to ask another endpoint after this JSON-RPC error. If all endpoints return errors, the first one is thrown.
   * Default: always, because an error is an unverified claim of one endpoint.
   */
  readonly tryNext?: (error: RpcErrorBody) => boolean;
  /** Called before an endpoint is asked, each time. */
  readonly onAsk?: (endpoint: EndpointInfo) => void;
  /** Called when an endpoint gave no usable answer, before the next one is asked. The call may have arrived there. */
  readonly onFault?: (fault: Fault) => void;
  /**
   * Whether an error may pass: one that `accept` threw, or a JSON-RPC error. The endpoint is then asked again, like one that
   * could not be reached. Default: never.
   */
  readonly isTransient?: (error: unknown) => boolean;
  /** Whether JSON-RPC errors are marked as forwarded from the endpoint. Default: false. */
  readonly forwarded?: boolean;
}

/**
 * Checks an answer, or a batch of them, and converts it. If it throws, the answer is refused and the next endpoint is asked;
 * the error is thrown if no endpoint gives a better answer. When another endpoint's answer is accepted, the endpoints whose answers
 * were refused come last for a while.
 */
export type AnswerValidator<Answer, T> = (answer: Answer, from: EndpointInfo) => T | Promise<T>;

/** Answers to a batch, all from one endpoint, in the order of the calls. */
interface BatchAnswer {
  readonly answers: readonly Answer[];
  readonly from: EndpointInfo;
}

/** An endpoint and its state. */
export interface EndpointStatus extends EndpointInfo {
  readonly readiness: Readiness;
  /** Milliseconds until a rate limit ends; 0 without one. */
  readonly pausedForMs: number;
}

/** The endpoints of one role, asked in their order, with failover. Only the form of answers is checked here. */
export class EndpointGroup {
  readonly role: string;
  /** What the endpoints are asked with, if not the global one. */
  readonly fetch: typeof fetch | undefined;
  private readonly members: readonly GroupEndpoint[];
  /** One for each running request. */
  private readonly running = new Set<AbortController>();
  private readonly relay = new SignalRelay();
  private closed: PlumblineError | undefined;
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly observer: UpstreamObserver | undefined;

  /** @throws PlumblineError `INVALID_PARAMETER` for an empty list, or a malformed endpoint */
  constructor(
    private readonly options: GroupOptions,
    open: OpenTransport = openJsonRpc,
  ) {
    if (options.endpoints.length === 0) throw invalidParameter('endpoints', 'must name at least one endpoint');
    this.role = options.role;
    this.fetch = options.fetch;
    this.clock = clockOf(options);
    this.random = options.random ?? Math.random;
    this.observer = options.observer;
    this.members = openMembers(options.endpoints, open, options.fetch, {
      clock: this.clock,
      random: this.random,
      onExchange: (record) => {
        const { endpoint, startedAt, endedAt, fault } = record;
        const member = this.members.find(({ info }) => info.id === endpoint)!;
        // Its callers may be gone.
        if (fault === 'timed-out')
          noteFault(member, [], { kind: fault, reason: hanging(endedAt - startedAt) }, endedAt, this.report);
        this.notify(() => this.observer?.exchange?.(record, this.role));
      },
    });
  }

  /** The endpoints in their order, with their state now. */
  get endpoints(): readonly EndpointStatus[] {
    const now = this.clock.now();
    return this.members.map(({ info, health, endpoint }) => ({
      ...info,
      readiness: health.readiness(now),
      pausedForMs: endpoint.pausedForMs(),
    }));
  }

  /**
   * Calls a method. Calls of the same turn share one HTTP request.
   *
   * @throws PlumblineError `UPSTREAM_ERROR` for a JSON-RPC error; `UPSTREAM_CONFIGURATION`, `UPSTREAM_RATE_LIMITED`,
   *   `UPSTREAM_MALFORMED` if every endpoint failed in that way, `UPSTREAM_UNAVAILABLE` if they failed in different ways;
   *   `REQUEST_TIMED_OUT`, `ABORTED`; what `accept` throws
   */
  request<T>(
    method: string,
    params: readonly unknown[],
    options: UpstreamRequestOptions & { readonly accept: AnswerValidator<unknown, T> },
  ): Promise<T>;
  request(method: string, params: readonly unknown[], options?: UpstreamRequestOptions): Promise<unknown>;
  request(
    method: string,
    params: readonly unknown[],
    options: UpstreamRequestOptions & { readonly accept?: AnswerValidator<unknown, unknown> } = {},
  ): Promise<unknown> {
    const { deduplicate = true, tryNext = () => true, forwarded = false, isTransient, accept } = options;
    const settle: GroupRequest<unknown>['settle'] = async ([answer], member) => {
      if (answer!.kind === 'result') {
        const { result } = answer!;
        return accept === undefined
          ? { value: result }
          : accepted(() => accept(result, member.info), member, isTransient);
      }
      const failure = this.noteError(member, { method, params }, answer!.error, forwarded);
      if (!tryNext(answer!.error)) throw failure.error;
      return isTransient?.(failure.error) === true ? { ...failure, isFinal: false } : failure;
    };
    return this.run({ calls: [{ method, params }], deduplicate, settle }, options);
  }

  /**
   * Sends calls in one HTTP request to one endpoint. More calls than its batch limit are sent in several requests at the same
   * time, and so are batches that it refuses. JSON-RPC errors are returned among the answers, not thrown.
   *
   * @throws PlumblineError as `request`, without `UPSTREAM_ERROR`; what `accept` throws
   */
  requestMany<T>(
    calls: readonly Call[],
    options: UpstreamRequestOptions & { readonly accept: AnswerValidator<readonly Answer[], T> },
  ): Promise<T>;
  requestMany(calls: readonly Call[], options?: UpstreamRequestOptions): Promise<BatchAnswer>;
  requestMany(
    calls: readonly Call[],
    options: UpstreamRequestOptions & { readonly accept?: AnswerValidator<readonly Answer[], unknown> } = {},
  ): Promise<unknown> {
    const { deduplicate = true, isTransient, accept } = options;
    const settle: GroupRequest<unknown>['settle'] = async (answers, member) => {
      for (const [i, answer] of answers.entries())
        if (answer.kind === 'error') this.noteError(member, calls[i]!, answer.error);
      if (accept === undefined) return { value: { answers, from: member.info } satisfies BatchAnswer };
      return accepted(() => accept(answers, member.info), member, isTransient);
    };
    return this.run({ calls, deduplicate, settle }, options);
  }

  /**
   * Sends the same call to several endpoints at the same time, and settles as soon as enough of them agree.
   *
   * @throws PlumblineError `UPSTREAM_DISAGREEMENT` if enough answered but too few agree; `INVALID_PARAMETER` if there are
   *   fewer origins than needed; otherwise as `request`
   */
  requestAll<T>(method: string, params: readonly unknown[], options: QuorumOptions<T>): Promise<QuorumAnswer<T>> {
    const { signal, timeoutMs, endpoints, accept, deduplicate = true } = options;
    const chosen = this.members.filter(({ info }) => endpoints?.includes(info.id) ?? true).map(({ info }) => info);
    const block = blockOf({ method, params });
    return askQuorum(
      block === undefined ? method : `${method} of block ${block}`,
      chosen,
      options,
      (info, stop) => {
        const limit = timeoutMs !== undefined && { timeoutMs };
        return this.request(method, params, { endpoint: info.id, deduplicate, ...limit, signal: stop, accept });
      },
      signal,
    );
  }

  /** Origins of the endpoints that are not known to lack the method. If there are none, a call would fail. */
  originsWith(method: string): readonly string[] {
    const now = this.clock.now();
    const having = this.members.filter(({ health }) => health.missingMethod(method, now) === undefined);
    return [...new Set(having.map(({ info }) => info.origin))];
  }

  /**
   * Reports that an accepted answer of an endpoint turned out to be false. The endpoint comes last for a while.
   *
   * @param reason - shown in the event; it must not contain text of the endpoint
   */
  reportFalse(endpoint: string, reason: string): void {
    const member = this.members.find(({ info }) => info.id === endpoint);
    if (member === undefined) throw invalidParameter('endpoint', 'must be one of this group');
    noteFault(member, [], { kind: 'rejected', reason }, this.clock.now(), this.report);
  }

  /** Call it after a key or a plan was changed: endpoints that refused to serve are asked again. */
  forgetRefusals(): void {
    for (const { health } of this.members) health.forgetRefusals();
  }

  /** Ends all requests with `ABORTED` and clears all timers. */
  close(): void {
    this.closed = new PlumblineError('ABORTED', 'the endpoints were closed; open a new node to go on', {});
    for (const controller of this.running) controller.abort(this.closed);
    for (const { endpoint } of this.members) endpoint.close();
  }

  private async run<T>(request: GroupRequest<T>, options: UpstreamRequestOptions): Promise<T> {
    const { endpoint, exclude = [] } = options;
    if (endpoint !== undefined && !this.members.some(({ info }) => info.id === endpoint))
      throw invalidParameter('endpoint', 'must be one of this group');
    const members = this.members.filter(
      ({ info }) => (endpoint === undefined || info.id === endpoint) && !exclude.includes(info.id),
    );
    if (this.closed !== undefined) throw this.closed;
    const stop = new AbortController();
    this.running.add(stop);
    const leave = options.signal && this.relay.pass(options.signal, stop);
    try {
      return await failOver(members, request, {
        timeoutMs: options.timeoutMs ?? this.options.totalTimeoutMs ?? 30_000,
        signal: stop.signal,
        retries: this.options.retries ?? 2,
        waits: options.waits ?? true,
        clock: this.clock,
        random: this.random,
        report: this.report,
        onFault: options.onFault,
        onAsk: options.onAsk,
      });
    } finally {
      leave?.();
      this.running.delete(stop);
    }
  }

  /** The failure for a JSON-RPC error. A missing method is remembered. */
  private noteError(member: GroupEndpoint, call: Call, error: RpcErrorBody, forwarded = false): Failure {
    const thrown = upstreamError(member.info, call, error, forwarded);
    const fault: Fault = { kind: 'unavailable', reason: saying(error.message) };
    const failure: Failure = { fault, isFinal: true, error: thrown };
    if (isMethodMissing(error)) member.health.lacks(call.method, failure, this.clock.now());
    return failure;
  }

  private readonly report: ReportEvent = ({ info }, type, fault) => {
    const what = fault === undefined ? {} : { kind: fault.kind, reason: fault.reason };
    const event: EndpointEvent = { type, role: this.role, endpoint: info.id, origin: info.origin, ...what };
    this.notify(() => this.observer?.event?.(event));
  };

  private notify(act: () => void): void {
    try {
      act();
    } catch {
      // An error of the observer must not fail the request.
    }
  }
}

async function accepted<T>(
  accept: () => T | Promise<T>,
  { info }: GroupEndpoint,
  isTransient: UpstreamRequestOptions['isTransient'],
): Promise<{ readonly value: T } | Failure> {
  try {
    return { value: await accept() };
  } catch (error) {
    return rejection(error, info, isTransient?.(error) !== true);
  }
}

/** Adds one listener per signal for any number of controllers: Node reports many listeners on one signal as a leak. */
export class SignalRelay {
  private readonly listened = new Map<AbortSignal, Set<AbortController>>();

  /** Aborts `controller` with the reason of `signal` when that is aborted. @returns a function that ends that */
  pass(signal: AbortSignal, controller: AbortController): () => void {
    if (signal.aborted) controller.abort(signal.reason);
    const controllers = this.listened.get(signal) ?? this.listen(signal);
    controllers.add(controller);
    return () => {
      if (controllers.delete(controller) && controllers.size === 0) this.leave(signal);
    };
  }

  private listen(signal: AbortSignal): Set<AbortController> {
    const controllers = new Set<AbortController>();
    this.listened.set(signal, controllers);
    signal.addEventListener('abort', this.abort, { once: true });
    return controllers;
  }

  private leave(signal: AbortSignal): void {
    this.listened.delete(signal);
    signal.removeEventListener('abort', this.abort);
  }

  private readonly abort = ({ target }: Event): void => {
    const signal = target as AbortSignal;
    const controllers = this.listened.get(signal)!;
    this.listened.delete(signal);
    for (const controller of controllers) controller.abort(signal.reason);
  };
}

/** Upper bounds of the waits before all endpoints are tried again, milliseconds. */
const ROUNDS = { initialMs: 250, maxMs: 8_000 };
/** Shortest wait for an endpoint that limits its rate, even if it asks for zero milliseconds. */
const LEAST_PAUSE_MS = 100;
/** How often the missing part of a batch is requested again from an endpoint that answered the other part. */
const MAX_REFILLS = 2;
/** Longest wait before that, milliseconds. If the endpoint asks for more, the whole batch goes to the next one. */
const LONGEST_REFILL_PAUSE_MS = 2_000;

/** Code of a method that the endpoint refuses to serve: as one that it does not have. */
const METHOD_REFUSED = -32601;

/** A request to a group of endpoints. */
export interface GroupRequest<T> {
  readonly calls: readonly Call[];
  /** Whether to wait for identical calls in flight, and not to send them again. */
  readonly deduplicate: boolean;
  /** Turns the answers of one endpoint into the result, or returns why not. Throws errors that end the whole request. */
  settle(answers: readonly Answer[], member: GroupEndpoint): Promise<{ readonly value: T } | Failure>;
}

/** Limits and dependencies of a request. */
export interface FailoverOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** How often an endpoint that could not be reached is asked again. */
  readonly retries: number;
  /** Whether to wait and ask again when no endpoint has answered. */
  readonly waits: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly report: ReportEvent;
  /** Called before an endpoint is asked. */
  readonly onAsk: ((endpoint: EndpointInfo) => void) | undefined;
  /** Called for each endpoint that gave no usable answer. */
  readonly onFault: ((fault: Fault) => void) | undefined;
}

/**
 * Asks one endpoint after the other until one answers. Waits if endpoints ask for it, and with growing random waits if none
 * could be reached. The time of the whole request is limited.
 *
 * @throws PlumblineError `UPSTREAM_*`, `REQUEST_TIMED_OUT` (its cause is what went wrong until then), `ABORTED`; what `settle`
 *   throws
 */
export async function failOver<T>(
  members: readonly GroupEndpoint[],
  request: GroupRequest<T>,
  options: FailoverOptions,
): Promise<T> {
  const limit = openDeadline(options.signal, options.timeoutMs, options.clock);
  const failover = new Failover(members, request, options, limit);
  try {
    return await failover.run();
  } catch (error) {
    if (isPlumblineError(error, 'REQUEST_TIMED_OUT') && error === limit.signal.reason && failover.endsHanging())
      throw new PlumblineError('REQUEST_TIMED_OUT', error.message, error.details, { cause: failover.failure() });
    throw error;
  } finally {
    limit.close();
  }
}

class Failover<T> {
  private readonly failures = new Map<GroupEndpoint, Failure>();
  /** How often each endpoint was asked without a usable answer. */
  private readonly misses = new Map<GroupEndpoint, number>();
  private asking: GroupEndpoint | undefined;

  constructor(
    private readonly members: readonly GroupEndpoint[],
    private readonly request: GroupRequest<T>,
    private readonly options: FailoverOptions,
    private readonly limit: Deadline,
  ) {}

  /** Called at the end of the time: an endpoint that is being asked has failed too. @returns whether any has */
  endsHanging(): boolean {
    const { asking } = this;
    const fault: Fault = { kind: 'timed-out', reason: hanging(this.options.timeoutMs) };
    if (asking !== undefined && !this.failures.has(asking)) this.failures.set(asking, { fault, isFinal: false });
    return this.failures.size > 0;
  }

  failure(): unknown {
    const pauses = this.members.map(({ endpoint }) => endpoint.pausedForMs()).filter((pauseMs) => pauseMs > 0);
    const failures = [...this.failures].map(([{ info }, failure]) => [info, failure] as const);
    return requestFailureOf(this.request.calls, failures, pauses.length === 0 ? undefined : Math.min(...pauses));
  }

  async run(): Promise<T> {
    const { clock, random } = this.options;
    const rounds = createBackOff({ ...ROUNDS, random });
    if (this.limit.signal.aborted) throw this.limit.signal.reason;
    for (;;) {
      const tried = new Set<GroupEndpoint>();
      for (let member = this.next(tried); member !== undefined; member = this.next(tried)) {
        tried.add(member);
        const done = await this.attempt(member);
        if ('value' in done) {
          this.failures.delete(member);
          this.penalizeRejected();
          return done.value;
        }
        this.failures.set(member, done);
        this.options.onFault?.(done.fault);
        if (!['rate-limited', 'configuration'].includes(done.fault.kind))
          this.misses.set(member, (this.misses.get(member) ?? 0) + 1);
      }
      const waitMs = this.options.waits ? this.waitMs(() => rounds.next()) : undefined;
      if (waitMs === undefined || clock.now() + waitMs >= this.limit.endsAt) throw this.failure();
      await sleep(clock, waitMs, this.limit.signal);
    }
  }

  /** The endpoint to ask next in this round. Records why others are skipped. */
  private next(tried: ReadonlySet<GroupEndpoint>): GroupEndpoint | undefined {
    const now = this.options.clock.now();
    for (const member of this.members) {
      if (tried.has(member) || member.health.readiness(now) !== 'refused') continue;
      this.failures.set(member, { fault: member.health.refusal!, isFinal: true });
    }
    return orderMembers(this.members, now).find((member) => !tried.has(member) && this.mayAsk(member, now));
  }

  private mayAsk(member: GroupEndpoint, now: number): boolean {
    const { calls } = this.request;
    const failure = this.failures.get(member);
    if (failure?.isFinal || (this.misses.get(member) ?? 0) > this.options.retries) return false;
    const missing = calls.length === 1 ? member.health.missingMethod(calls[0]!.method, now) : undefined;
    if (missing !== undefined) {
      this.failures.set(member, missing);
      return false;
    }
    const pauseMs = member.endpoint.pausedForMs();
    if (pauseMs <= 0) return true;
    const { lastFault } = member;
    const fault: Fault = { kind: 'rate-limited', reason: 'waiting as the endpoint asked' };
    this.failures.set(member, { fault: lastFault?.kind === 'rate-limited' ? lastFault : fault, isFinal: false });
    return false;
  }

  /** Milliseconds until the endpoints should be tried again. @returns undefined if that cannot help */
  private waitMs(nextRound: () => number): number | undefined {
    const waits: number[] = [];
    let again = false;
    for (const [member, { fault, isFinal }] of this.failures) {
      if (isFinal || (this.misses.get(member) ?? 0) > this.options.retries) continue;
      const pauseMs = member.endpoint.pausedForMs();
      if (fault.kind === 'rate-limited' || pauseMs > 0) waits.push(Math.max(LEAST_PAUSE_MS, pauseMs));
      else again = true;
    }
    if (again) waits.push(nextRound());
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  private async attempt(member: GroupEndpoint): Promise<{ readonly value: T } | Failure> {
    const { clock, report } = this.options;
    const { calls, deduplicate } = this.request;
    const isProbe = member.health.readiness(clock.now()) === 'probe';
    if (isProbe) member.health.isProbed = true;
    let outcomes: readonly Outcome[];
    this.options.onAsk?.(member.info);
    this.asking = member;
    try {
      outcomes = await this.ask(member, calls, deduplicate);
    } finally {
      if (isProbe) member.health.isProbed = false;
    }
    this.asking = undefined;
    noteOutcomes(member, calls, outcomes, clock.now(), report);
    const answers: Answer[] = [];
    const isServed = outcomes.some(({ kind }) => kind !== 'fault');
    for (const outcome of outcomes) {
      // A refusal of one method beside answers to others is of that method.
      if (isServed && outcome.kind === 'fault' && outcome.fault.kind === 'configuration')
        answers.push({ kind: 'error', error: { code: METHOD_REFUSED, message: outcome.fault.reason } });
      else if (outcome.kind === 'fault')
        return { fault: outcome.fault, isFinal: outcome.fault.kind === 'configuration' };
      else answers.push(outcome);
    }
    return raceSignal(this.request.settle(answers, member), this.limit.signal);
  }

  /** Sends all calls; if only some were answered, sends the rest again. */
  private async ask(member: GroupEndpoint, calls: readonly Call[], deduplicate: boolean): Promise<readonly Outcome[]> {
    const { clock } = this.options;
    const { signal } = this.limit;
    const outcomes = [...(await member.endpoint.ask(calls, { signal, deduplicate }))];
    for (let again = 0; again < MAX_REFILLS; again++) {
      const open = outcomes.flatMap((outcome, i) =>
        outcome.kind === 'fault' && outcome.fault.kind !== 'configuration' ? [i] : [],
      );
      if (open.length === 0 || open.length === calls.length) break;
      const pauseMs = member.endpoint.pausedForMs();
      if (pauseMs > (this.options.waits ? LONGEST_REFILL_PAUSE_MS : 0)) break;
      if (pauseMs > 0) await sleep(clock, pauseMs, signal);
      const rest = open.map((i) => calls[i]!);
      const filled = await member.endpoint.ask(rest, { signal, deduplicate });
      for (const [k, i] of open.entries()) outcomes[i] = filled[k]!;
    }
    return outcomes;
  }

  /** Called when another endpoint's answer was accepted: endpoints whose answers were refused come last for a while. */
  private penalizeRejected(): void {
    const { clock, report } = this.options;
    const { calls } = this.request;
    const isByHash = calls.every(({ method }) => method === 'eth_getBlockByHash');
    for (const [member, { fault, error }] of this.failures) {
      // A header of that hash, all of whose members are known, shows that the one with unknown members was false.
      const isFalse = isByHash && isPlumblineError(error, 'HEADER_UNSUPPORTED');
      const found: Fault = isFalse ? { kind: 'rejected', reason: 'its header is not that of the hash' } : fault;
      if (found.kind === 'rejected') noteFault(member, calls, found, clock.now(), report);
    }
  }
}

/** Options of a request that several endpoints must agree on. */
export interface QuorumOptions<T> {
  /** Number of origins that must agree. Several endpoints of one origin count once, because one operator runs them. */
  readonly needed: number;
  /** Checks an answer and converts it. If it throws, the answer does not count. */
  readonly accept: (result: unknown, from: EndpointInfo) => T | Promise<T>;
  /** Two values agree if their keys are equal. */
  readonly key: (value: T) => string;
  /** `enough` settles as soon as enough agree and aborts the other requests; `all` waits for all. Default: `enough`. */
  readonly wait?: 'enough' | 'all';
  /** Ids of the endpoints to ask. Default: all. */
  readonly endpoints?: readonly string[];
  readonly signal?: AbortSignal;
  /** Time limit of the whole request in milliseconds. Default: the group's. */
  readonly timeoutMs?: number;
  /** As in `UpstreamRequestOptions`. */
  readonly deduplicate?: boolean;
}

/** The answer of one endpoint, or why it gave none. */
export type Vote<T> =
  | { readonly from: EndpointInfo; readonly value: T; readonly key: string }
  | { readonly from: EndpointInfo; readonly error: unknown };

/** The value that enough endpoints agree on. */
export interface QuorumAnswer<T> {
  readonly value: T;
  readonly key: string;
  /** Endpoints that agree. */
  readonly agreed: readonly EndpointInfo[];
  /** All answers and errors, in the order in which they arrived. Requests without one were aborted. */
  readonly votes: readonly Vote<T>[];
}

/**
 * Asks all of `endpoints` at the same time.
 *
 * @param what - is asked, for the error
 * @param ask - asks one endpoint; ends when its signal is aborted
 * @throws PlumblineError `UPSTREAM_DISAGREEMENT`, `INVALID_PARAMETER`, `ABORTED`; with the code of the first error if too few
 *   answered
 */
export async function askQuorum<T>(
  what: string,
  endpoints: readonly EndpointInfo[],
  { needed, key, wait = 'enough' }: QuorumOptions<T>,
  ask: (endpoint: EndpointInfo, signal: AbortSignal) => Promise<T>,
  caller?: AbortSignal,
): Promise<QuorumAnswer<T>> {
  const origins = new Set(endpoints.map(({ origin }) => origin)).size;
  if (!Number.isInteger(needed) || needed < 1 || needed > origins) {
    throw invalidParameter('needed', `must be from 1 to ${origins}, the number of origins`);
  }
  const controller = new AbortController();
  const stop = () => controller.abort(caller?.reason);
  if (caller?.aborted) stop();
  else caller?.addEventListener('abort', stop, { once: true });
  const votes: Vote<T>[] = [];
  try {
    return await new Promise<QuorumAnswer<T>>((resolve, reject) => {
      const count = (vote: Vote<T>) => {
        votes.push(vote);
        const best = leadingValue(votes);
        const isOver = votes.length === endpoints.length;
        if (best !== undefined && best.support >= needed && (isOver || wait === 'enough'))
          resolve({ value: best.value, key: best.key, agreed: best.agreed, votes: [...votes] });
        else if (isOver) reject(failureOf(what, votes, needed, best?.support ?? 0, caller));
      };
      for (const from of endpoints) {
        ask(from, controller.signal)
          .then((value) => ({ from, value, key: key(value) }))
          .catch((error: unknown) => ({ from, error }))
          .then(count);
      }
    });
  } finally {
    caller?.removeEventListener('abort', stop);
    controller.abort(new PlumblineError('ABORTED', 'enough endpoints have answered', {}));
  }
}

interface LeadingValue<T> {
  readonly value: T;
  readonly key: string;
  readonly agreed: readonly EndpointInfo[];
  /** Number of origins that agree on it. */
  readonly support: number;
}

/** The value that most origins agree on; of several, the one that arrived first. */
function leadingValue<T>(votes: readonly Vote<T>[]): LeadingValue<T> | undefined {
  let best: LeadingValue<T> | undefined;
  for (const vote of votes) {
    if ('error' in vote || vote.key === best?.key) continue;
    const agreed = votes.filter((other) => 'key' in other && other.key === vote.key).map(({ from }) => from);
    const support = new Set(agreed.map(({ origin }) => origin)).size;
    if (best === undefined || support > best.support) best = { value: vote.value, key: vote.key, agreed, support };
  }
  return best;
}

function failureOf<T>(
  what: string,
  votes: readonly Vote<T>[],
  needed: number,
  agreed: number,
  caller?: AbortSignal,
): unknown {
  const answers = votes.filter((vote) => !('error' in vote));
  const errors = votes.flatMap((vote) => ('error' in vote ? [vote] : []));
  const answered = new Set(answers.map(({ from }) => from.origin)).size;
  const timedOut = caller?.aborted ? errors.find(({ error }) => error instanceof PlumblineError) : undefined;
  if (timedOut !== undefined) return timedOut.error;
  const failures = errors.map(({ error }) => error);
  if (answered === 0) return allFailed(failures);
  if (answered < needed)
    return tooFew(
      failures,
      answers.map(({ from }) => from.origin),
      needed,
    );
  const endpoints: UpstreamReason[] = errors.map(({ from, error }) => ({
    origin: from.origin,
    kind: 'unavailable',
    reason: error instanceof PlumblineError ? error.code : 'failed',
  }));
  const said = votes.flatMap((vote) =>
    'key' in vote ? [{ origin: vote.from.origin, answer: vote.key.slice(0, 100) }] : [],
  );
  const details = { needed, agreed, answers: answers.length, said, endpoints };
  const listed = said.map(({ origin, answer }) => `${origin} says ${answer}`).join('; ');
  const message = `about ${what}, ${agreed === 1 ? 'no two endpoints' : `${agreed} endpoints`} agree, but ${needed} must (${listed})`;
  return new PlumblineError('UPSTREAM_DISAGREEMENT', message, details);
}

/** An endpoint of a group, with its health. */
interface GroupEndpoint {
  readonly info: EndpointInfo;
  readonly endpoint: Endpoint;
  readonly health: Health;
  /** The last fault. */
  lastFault: Fault | undefined;
}

/** Reports that an endpoint began to fail or recovered. */
type ReportEvent = (
  member: GroupEndpoint,
  type: 'degraded' | 'recovered',
  fault?: { kind: FaultKind; reason: string },
) => void;

/** @throws PlumblineError `INVALID_PARAMETER` */
function openMembers(
  sources: readonly EndpointSource[],
  open: OpenTransport,
  given: typeof fetch | undefined,
  host: EndpointHost,
): GroupEndpoint[] {
  const seen = new Map<string, number>();
  return sources.map((source) => {
    const transport = open(source, given, host.clock);
    const { origin } = transport;
    const count = (seen.get(origin) ?? 0) + 1;
    seen.set(origin, count);
    const id = count === 1 ? origin : `${origin}#${count}`;
    const endpoint = new Endpoint(id, transport, limitsOf(source), host);
    return { info: { id, origin }, endpoint, health: new Health(), lastFault: undefined };
  });
}

/** Updates the health of an endpoint by the outcomes of `calls`. */
function noteOutcomes(
  member: GroupEndpoint,
  calls: readonly Call[],
  outcomes: readonly Outcome[],
  now: number,
  report: ReportEvent,
): void {
  const { health } = member;
  const answered = calls.filter((_, i) => outcomes[i]!.kind !== 'fault').map(({ method }) => method);
  const [first] = outcomes;
  if (answered.length > 0) {
    if (health.answered(answered)) report(member, 'recovered');
  } else if (first?.kind === 'fault') noteFault(member, calls, first.fault, now, report);
}

/** Updates the health of an endpoint after a fault. */
function noteFault(
  member: GroupEndpoint,
  calls: readonly Call[],
  fault: Fault,
  now: number,
  report: ReportEvent,
): void {
  const { health } = member;
  member.lastFault = fault;
  const methods = calls.map(({ method }) => method);
  const isFirst =
    fault.kind === 'configuration' && fault.mayPass !== true
      ? health.refused(methods, fault, now)
      : fault.kind === 'rate-limited'
        ? health.degrade()
        : health.failed(now);
  if (isFirst) report(member, 'degraded', fault);
}

/** Endpoints in the order in which they are asked. Those that failed recently come last, the earliest failure first. */
function orderMembers(members: readonly GroupEndpoint[], now: number): GroupEndpoint[] {
  const isLast = ({ health }: GroupEndpoint) => health.readiness(now) === 'last';
  const last = members.filter(isLast).sort((a, b) => a.health.breakEndsAt - b.health.breakEndsAt);
  return [...members.filter((member) => !isLast(member)), ...last];
}

/** First and longest time for which a failing endpoint comes last, milliseconds. */
const BREAK = { initialMs: 1_000, maxMs: 60_000 };
/** How long a refusal or a missing method is remembered, milliseconds. */
const MEMORY_MS = 300_000;
/** Methods that are remembered of an endpoint. Of one that serves REST each path is a method. */
const MAX_METHODS = 256;
/** Refusals in a row after which an endpoint that has answered before is no longer asked. */
const MAX_REFUSALS = 3;

/**
 * - `healthy`: asked in its turn
 * - `probe`: failed, and its break is over: one request may try it in its turn
 * - `last`: failed recently: asked if no other endpoint answers
 * - `refused`: refuses to serve this node; not asked
 */
type Readiness = 'healthy' | 'probe' | 'last' | 'refused';

/** Health of one endpoint, judged by its answers. */
export class Health {
  private readonly breaks: BackOff = createBackOff(BREAK);
  private readonly missing = new Map<string, { readonly until: number; readonly failure: Failure }>();
  private failing = false;
  /** When the break of a failing endpoint ends, milliseconds since 1970. */
  breakEndsAt = 0;
  private refusedUntil = 0;
  /** The last one. */
  refusal: Fault | undefined;
  /** While a request tries whether it answers again. No other request may. */
  isProbed = false;
  /** Methods that it has answered. */
  private readonly served = new Set<string>();
  /** Refusals since the last answer. Those of the same moment count once. */
  private refusals = 0;
  private refusedAt = 0;
  private isDegraded = false;

  readiness(now: number): Readiness {
    if (now < this.refusedUntil) return 'refused';
    if (!this.failing) return 'healthy';
    return now < this.breakEndsAt || this.isProbed ? 'last' : 'probe';
  }

  /** Records answers. @returns whether the endpoint has recovered */
  answered(methods: readonly string[]): boolean {
    if (this.served.size < MAX_METHODS) for (const method of methods) this.served.add(method);
    this.refusals = 0;
    this.failing = false;
    this.refusedUntil = 0;
    this.breaks.reset();
    const recovered = this.isDegraded;
    this.isDegraded = false;
    return recovered;
  }

  /** Records a failure. @returns whether this is the first fault after good answers */
  failed(now: number): boolean {
    // Concurrent requests fail together. That counts once.
    if (!this.failing || now >= this.breakEndsAt) this.breakEndsAt = now + this.breaks.next();
    this.failing = true;
    return this.degrade();
  }

  /**
   * Records a refusal. A plan may lack some methods, so an endpoint that serves others is skipped only for methods that it has
   * never answered. It is skipped for all methods if it goes on refusing, as it does without a valid key.
   *
   * @returns whether this is the first fault after good answers
   */
  refused(methods: readonly string[], fault: Fault, now: number): boolean {
    this.refusal = fault;
    if (now !== this.refusedAt) this.refusals++;
    this.refusedAt = now;
    if (this.served.size === 0 || this.refusals > MAX_REFUSALS) this.refusedUntil = now + MEMORY_MS;
    for (const method of methods) if (!this.served.has(method)) this.lacks(method, { fault, isFinal: true }, now);
    return this.degrade();
  }

  /** Remembers that a method is missing, and how a request for it fails. */
  lacks(method: string, failure: Failure, now: number): void {
    if (this.missing.size >= MAX_METHODS) this.missing.clear();
    this.missing.set(method, { until: now + MEMORY_MS, failure });
  }

  /** How a request for the method fails, if the method is known to be missing or refused. */
  missingMethod(method: string, now: number): Failure | undefined {
    const known = this.missing.get(method);
    return known === undefined || now >= known.until ? undefined : known.failure;
  }

  /** Forgets refusals and missing methods, after the key or the plan was changed. */
  forgetRefusals(): void {
    this.refusedUntil = 0;
    this.missing.clear();
  }

  /** Records a fault; of a rate limit this is all, since the endpoint's pause handles it. @returns whether it is the first after good answers */
  degrade(): boolean {
    const first = !this.isDegraded;
    this.isDegraded = true;
    return first;
  }
}

/**
 * Asks one endpoint after the other until one has what is requested. Absence cannot be proved, so it takes several origins.
 *
 * @param options.accept - returns undefined if the endpoint does not have it
 * @param options.agreeing - origins that must not have it, 2 by default; all origins that have the method if there are fewer
 * @returns undefined if that many origins do not have it and no other endpoint does
 * @throws PlumblineError `UPSTREAM_UNAVAILABLE` if too few origins answered; of the endpoints; what `accept` throws
 */
export async function requestFirstFound<T>(
  group: EndpointGroup,
  method: string,
  params: readonly unknown[],
  options: UpstreamRequestOptions & {
    readonly accept: AnswerValidator<unknown, T | undefined>;
    readonly agreeing?: number;
  },
): Promise<T | undefined> {
  const { accept, agreeing = 2, ...rest } = options;
  const without = new Set<string>();
  try {
    return await group.request(method, params, {
      ...rest,
      accept: async (answer, from) => {
        const value = await accept(answer, from);
        if (value !== undefined) return value;
        without.add(from.origin);
        throw new Error('it does not have it');
      },
    });
  } catch (error) {
    if (isPlumblineError(error, 'ABORTED') || rest.signal?.aborted) throw error;
    // A feed, for one, cannot be asked for a transaction by its hash.
    const origins = group.originsWith(method);
    if (without.size >= Math.min(agreeing, origins.length || 1)) return undefined;
    const endpoints = reasonsOf(error)?.filter(({ origin }) => !without.has(origin));
    if (without.size === 0 || endpoints === undefined) throw error;
    const message = `too few endpoints answered to tell that it does not exist (${listed(endpoints)})`;
    throw new PlumblineError('UPSTREAM_UNAVAILABLE', message, { endpoints });
  }
}
