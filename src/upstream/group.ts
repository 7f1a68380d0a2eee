import { invalidParameter, PlumblineError } from '../errors.js';
import type { Clock } from '../scheduling/clock.js';
import { failOver, type Task } from './failover.js';
import { rejection, upstreamError } from './failure.js';
import type { Readiness } from './health.js';
import { type GroupEndpoint, noteFault, openMembers, type ReportEvent } from './member.js';
import type { EndpointEvent, UpstreamObserver } from './observer.js';
import { clockOf, type GroupOptions } from './options.js';
import { askQuorum, type QuorumAnswer, type QuorumOptions } from './quorum.js';
import { SignalRelay } from './signal-relay.js';
import { isMethodMissing } from './transport/classify-error.js';
import type { Answer, Call, EndpointInfo, Failure, Fault, RpcErrorBody } from './transport/fault.js';

/** How a group is asked. */
export interface UpstreamRequestOptions {
  /** Ends the request, and what is under way for it alone. */
  readonly signal?: AbortSignal;
  /** Time of the whole request in milliseconds, in place of the group's. */
  readonly timeoutMs?: number;
  /** Id of the one endpoint to ask; it is then asked in vain rather than another. */
  readonly endpoint?: string;
  /** Ids of endpoints not to ask. */
  readonly exclude?: readonly string[];
  /**
   * Whether the same calls under way may be waited for in place of new ones; true unless told. For calls that change
   * nothing.
   */
  readonly share?: boolean;
  /**
   * Whether another endpoint is asked after this JSON-RPC error; where all answer so, the first error is thrown. Unless
   * told, always: an error is a claim of one endpoint like any other.
   */
  readonly tryNext?: (error: RpcErrorBody) => boolean;
  /** Told why an endpoint gave no answer that could be taken, before the next one is asked. What was sent may have arrived. */
  readonly onFault?: (fault: Fault) => void;
  /**
   * Whether what an endpoint does not give may come from it a little later, by what `accept` threw or the JSON-RPC error that
   * would be thrown: it is then asked again as one that could not be reached. Never, unless told.
   */
  readonly mayCome?: (error: unknown) => boolean;
  /** Whether JSON-RPC errors are marked as answers to be passed on; false unless told. */
  readonly forwarded?: boolean;
}

/**
 * Checks an answer, or a batch of them, and makes a value of it. What it throws counts against the endpoint: the next one
 * is asked, and the error is thrown when no endpoint does better. An endpoint whose answer was refused comes last for a
 * while once another one's was accepted.
 */
export type Accept<Given, T> = (given: Given, from: EndpointInfo) => T | Promise<T>;

/** Answers to a batch, all from one endpoint, in the order of the calls. */
export interface BatchAnswer {
  readonly answers: readonly Answer[];
  readonly from: EndpointInfo;
}

/** An endpoint and how it stands. */
export interface EndpointStatus extends EndpointInfo {
  readonly readiness: Readiness;
  /** Milliseconds for which it wants to be left alone. */
  readonly pausedForMs: number;
}

/** The endpoints of one role, asked in their order, with failover. Nothing an endpoint says is checked here but its form. */
export class EndpointGroup {
  readonly role: string;
  private readonly members: readonly GroupEndpoint[];
  /** One for each request under way. */
  private readonly running = new Set<AbortController>();
  private readonly relay = new SignalRelay();
  private closed: PlumblineError | undefined;
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly observer: UpstreamObserver | undefined;

  /** @throws PlumblineError `INVALID_PARAMETER` for no endpoints, or one that is not well formed */
  constructor(
    private readonly options: GroupOptions,
    protocol: 'json-rpc' | 'rest' = 'json-rpc',
  ) {
    if (options.endpoints.length === 0) throw invalidParameter('endpoints', 'must name at least one endpoint');
    this.role = options.role;
    this.clock = clockOf(options);
    this.random = options.random ?? Math.random;
    this.observer = options.observer;
    this.members = openMembers(options.endpoints, protocol, options.fetch, {
      clock: this.clock,
      random: this.random,
      onExchange: (record) => this.tell(() => this.observer?.exchange?.(record, this.role)),
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
   * Calls a method. Calls made in the same turn share one HTTP request.
   *
   * @throws PlumblineError `UPSTREAM_ERROR` for a JSON-RPC error; `UPSTREAM_CONFIGURATION`, `UPSTREAM_RATE_LIMITED`,
   *   `UPSTREAM_MALFORMED` when every endpoint failed so, `UPSTREAM_UNAVAILABLE` when they failed in one way or another;
   *   `REQUEST_TIMED_OUT`, `ABORTED`; what `accept` throws
   */
  request<T>(
    method: string,
    params: readonly unknown[],
    options: UpstreamRequestOptions & { readonly accept: Accept<unknown, T> },
  ): Promise<T>;
  request(method: string, params: readonly unknown[], options?: UpstreamRequestOptions): Promise<unknown>;
  request(
    method: string,
    params: readonly unknown[],
    options: UpstreamRequestOptions & { readonly accept?: Accept<unknown, unknown> } = {},
  ): Promise<unknown> {
    const { share = true, tryNext = () => true, forwarded = false, mayCome, accept } = options;
    const settle: Task<unknown>['settle'] = async ([answer], member) => {
      if (answer!.kind === 'result') {
        const { result } = answer!;
        return accept === undefined ? { value: result } : accepted(() => accept(result, member.info), mayCome);
      }
      const failure = this.noteError(member, method, answer!.error, forwarded);
      if (!tryNext(answer!.error)) throw failure.error;
      return mayCome?.(failure.error) === true ? { ...failure, isFinal: false } : failure;
    };
    return this.run({ calls: [{ method, params }], share, settle }, options);
  }

  /**
   * Calls in one HTTP request, answered by one endpoint. More than its batch limit are sent in several at the same time;
   * so are those that an endpoint refuses to take together. JSON-RPC errors are among the answers, not thrown.
   *
   * @throws PlumblineError as `request`, without `UPSTREAM_ERROR`; what `accept` throws
   */
  requestMany<T>(
    calls: readonly Call[],
    options: UpstreamRequestOptions & { readonly accept: Accept<readonly Answer[], T> },
  ): Promise<T>;
  requestMany(calls: readonly Call[], options?: UpstreamRequestOptions): Promise<BatchAnswer>;
  requestMany(
    calls: readonly Call[],
    options: UpstreamRequestOptions & { readonly accept?: Accept<readonly Answer[], unknown> } = {},
  ): Promise<unknown> {
    const { share = true, mayCome, accept } = options;
    const settle: Task<unknown>['settle'] = async (answers, member) => {
      for (const [i, answer] of answers.entries())
        if (answer.kind === 'error') this.noteError(member, calls[i]!.method, answer.error);
      if (accept === undefined) return { value: { answers, from: member.info } satisfies BatchAnswer };
      return accepted(() => accept(answers, member.info), mayCome);
    };
    return this.run({ calls, share, settle }, options);
  }

  /**
   * Asks several endpoints the same at the same time, and settles as soon as enough of them agree.
   *
   * @throws PlumblineError `UPSTREAM_DISAGREEMENT` when enough answered but too few the same; `INVALID_PARAMETER` when
   *   there are fewer origins than needed; otherwise as `request`
   */
  requestAll<T>(method: string, params: readonly unknown[], options: QuorumOptions<T>): Promise<QuorumAnswer<T>> {
    const { signal, timeoutMs, endpoints, accept, share } = options;
    const chosen = this.members.filter(({ info }) => endpoints?.includes(info.id) ?? true).map(({ info }) => info);
    return askQuorum(
      chosen,
      options,
      (info, stop) => {
        const common = {
          endpoint: info.id,
          ...(timeoutMs !== undefined && { timeoutMs }),
          ...(share !== undefined && { share }),
        };
        return this.request(method, params, { ...common, signal: stop, accept });
      },
      signal,
    );
  }

  /** Whether every endpoint is known not to have a method, so that asking for it is of no use for now. */
  lacksMethod(method: string): boolean {
    const now = this.clock.now();
    return this.members.every(({ health }) => health.missingMethod(method, now) !== undefined);
  }

  /**
   * Puts an endpoint last for a while: what it said has been found false outside `accept`.
   *
   * @param reason - shown in the event; without anything the endpoint said
   */
  reportFalse(endpoint: string, reason: string): void {
    const member = this.members.find(({ info }) => info.id === endpoint);
    if (member === undefined) throw invalidParameter('endpoint', 'must be one of this group');
    noteFault(member, [], { kind: 'rejected', reason }, this.clock.now(), this.report);
  }

  /** Asks endpoints again that have refused to serve, once a key or a plan was changed. */
  forgetRefusals(): void {
    for (const { health } of this.members) health.forgetRefusals();
  }

  /** Ends all requests with `ABORTED`; no timer is left. */
  close(): void {
    this.closed = new PlumblineError('ABORTED', 'the endpoints were closed', {});
    for (const controller of this.running) controller.abort(this.closed);
    for (const { endpoint } of this.members) endpoint.close();
  }

  private async run<T>(task: Task<T>, options: UpstreamRequestOptions): Promise<T> {
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
      return await failOver(members, task, {
        timeoutMs: options.timeoutMs ?? this.options.totalTimeoutMs ?? 30_000,
        signal: stop.signal,
        retries: this.options.retries ?? 2,
        clock: this.clock,
        random: this.random,
        report: this.report,
        ...(options.onFault !== undefined && { onFault: options.onFault }),
      });
    } finally {
      leave?.();
      this.running.delete(stop);
    }
  }

  /** The failure of an endpoint that answered with a JSON-RPC error; a method that is not there is remembered. */
  private noteError(member: GroupEndpoint, method: string, error: RpcErrorBody, forwarded = false): Failure {
    const { message } = error;
    const thrown = upstreamError(member.info, error, forwarded);
    const failure: Failure = { fault: { kind: 'unavailable', reason: message }, isFinal: true, error: thrown };
    if (isMethodMissing(error)) member.health.lacks(method, failure, this.clock.now());
    return failure;
  }

  private readonly report: ReportEvent = ({ info }, type, fault) => {
    const what = fault === undefined ? {} : { kind: fault.kind, reason: fault.reason };
    const event: EndpointEvent = { type, role: this.role, endpoint: info.id, origin: info.origin, ...what };
    this.tell(() => this.observer?.event?.(event));
  };

  private tell(act: () => void): void {
    try {
      act();
    } catch {
      // An observer that throws must not decide over a request.
    }
  }
}

async function accepted<T>(
  accept: () => T | Promise<T>,
  mayCome: UpstreamRequestOptions['mayCome'],
): Promise<{ readonly value: T } | Failure> {
  try {
    return { value: await accept() };
  } catch (error) {
    return rejection(error, mayCome?.(error) !== true);
  }
}
