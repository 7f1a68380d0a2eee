import { isPlumblineError, PlumblineError } from '../errors.js';
import { type Clock, raceSignal, sleep } from '../scheduling/clock.js';
import { type Deadline, openDeadline } from '../scheduling/deadline.js';
import { createBackOff } from './endpoint.js';
import { requestFailureOf } from './failure.js';
import { type GroupEndpoint, noteFault, noteOutcomes, orderMembers, type ReportEvent } from './member.js';
import {
  type Answer,
  type Call,
  type EndpointInfo,
  type Failure,
  type Fault,
  hanging,
  type Outcome,
} from './transport/fault.js';

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
      // An endpoint is refused after a fault.
      this.failures.set(member, { fault: member.lastFault!, isFinal: true });
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
    if (isProbe) member.health.beginProbe();
    let outcomes: readonly Outcome[];
    this.options.onAsk?.(member.info);
    this.asking = member;
    try {
      outcomes = await this.ask(member, calls, deduplicate);
    } finally {
      if (isProbe) member.health.endProbe();
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
    for (const [member, { fault }] of this.failures)
      if (fault.kind === 'rejected') noteFault(member, this.request.calls, fault, clock.now(), report);
  }
}
