import { invalidParameter, PlumblineError } from '../errors.js';
import type { Clock } from '../scheduling/clock.js';
import type { EndpointEvent, UpstreamObserver } from './endpoint.js';
import { failOver, type GroupRequest } from './failover.js';
import { rejection, upstreamError } from './failure.js';
import { type GroupEndpoint, noteFault, openMembers, type Readiness, type ReportEvent } from './member.js';
import { clockOf, type GroupOptions, type OpenTransport, openJsonRpc } from './options.js';
import { askQuorum, type QuorumAnswer, type QuorumOptions } from './quorum.js';
import { isMethodMissing } from './transport/classify-error.js';
import {
  type Answer,
  blockOf,
  type Call,
  type EndpointInfo,
  type Failure,
  type Fault,
  type RpcErrorBody,
  saying,
} from './transport/fault.js';

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
      onExchange: (record) => this.notify(() => this.observer?.exchange?.(record, this.role)),
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
        return accept === undefined ? { value: result } : accepted(() => accept(result, member.info), isTransient);
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
      return accepted(() => accept(answers, member.info), isTransient);
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

  /** Whether every endpoint is known not to have the method, so that a call would fail. */
  lacksMethod(method: string): boolean {
    const now = this.clock.now();
    return this.members.every(({ health }) => health.missingMethod(method, now) !== undefined);
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
  isTransient: UpstreamRequestOptions['isTransient'],
): Promise<{ readonly value: T } | Failure> {
  try {
    return { value: await accept() };
  } catch (error) {
    return rejection(error, isTransient?.(error) !== true);
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
