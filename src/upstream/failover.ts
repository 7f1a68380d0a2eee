import { isPlumblineError, PlumblineError } from '../errors.js';
import { type Clock, raceSignal, sleep } from '../scheduling/clock.js';
import { type Deadline, openDeadline } from '../scheduling/deadline.js';
import { createBackOff } from './back-off.js';
import { requestFailureOf } from './failure.js';
import { type GroupEndpoint, noteFault, noteOutcomes, orderMembers, type ReportEvent } from './member.js';
import type { Answer, Call, Failure, Fault, Outcome } from './transport/fault.js';

/** Upper bounds of the waits before all endpoints are gone through again. */
const ROUNDS = { initialMs: 250, maxMs: 8_000 };
/** Shortest wait for an endpoint that limits its rate, even if it says zero. */
const LEAST_PAUSE_MS = 100;
/** How often the rest of a batch is asked for where an endpoint answered a part. */
const FILL_INS = 2;
/** Longest wait for that; after a longer one the whole batch goes to the next endpoint. */
const LONGEST_FILL_IN_PAUSE_MS = 2_000;

/** A request on its way through the endpoints of a group. */
export interface Task<T> {
  readonly calls: readonly Call[];
  /** Whether the same call under way may be waited for. */
  readonly share: boolean;
  /** Makes of the answers of one endpoint what the caller gets, or says why not. Throws what no other endpoint would mend. */
  settle(answers: readonly Answer[], member: GroupEndpoint): Promise<{ readonly value: T } | Failure>;
}

/** How a group goes from one endpoint to the next. */
export interface FailoverOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly retries: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly report: ReportEvent;
  /** Told of each endpoint that gave no answer to be taken. */
  onFault?(fault: Fault): void;
}

/**
 * Asks one endpoint after the other until one answers; waits where endpoints ask for it, and with growing, random waits
 * where none could be reached. The whole is bounded in time.
 *
 * @throws PlumblineError `UPSTREAM_*`, `REQUEST_TIMED_OUT` (with what went wrong until then as its cause), `ABORTED`;
 *   what `settle` throws
 */
export async function failOver<T>(
  members: readonly GroupEndpoint[],
  task: Task<T>,
  options: FailoverOptions,
): Promise<T> {
  const limit = openDeadline(options.signal, options.timeoutMs, options.clock);
  const course = new Course(members, task, options, limit);
  try {
    return await course.run();
  } catch (error) {
    if (isPlumblineError(error, 'REQUEST_TIMED_OUT') && error === limit.signal.reason && course.hasFailures)
      throw new PlumblineError('REQUEST_TIMED_OUT', error.message, error.details, { cause: course.failure() });
    throw error;
  } finally {
    limit.close();
  }
}

class Course<T> {
  private readonly failures = new Map<GroupEndpoint, Failure>();
  /** Times an endpoint was asked and could not be reached. */
  private readonly misses = new Map<GroupEndpoint, number>();

  constructor(
    private readonly members: readonly GroupEndpoint[],
    private readonly task: Task<T>,
    private readonly options: FailoverOptions,
    private readonly limit: Deadline,
  ) {}

  get hasFailures(): boolean {
    return this.failures.size > 0;
  }

  failure(): unknown {
    const pauses = this.members.map(({ endpoint }) => endpoint.pausedForMs()).filter((pauseMs) => pauseMs > 0);
    const failures = [...this.failures].map(([{ info }, failure]) => [info, failure] as const);
    return requestFailureOf(failures, pauses.length === 0 ? undefined : Math.min(...pauses));
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
          this.blameRejected();
          return done.value;
        }
        this.failures.set(member, done);
        this.options.onFault?.(done.fault);
        if (!['rate-limited', 'configuration'].includes(done.fault.kind))
          this.misses.set(member, (this.misses.get(member) ?? 0) + 1);
      }
      const waitMs = this.waitMs(() => rounds.next());
      if (waitMs === undefined || clock.now() + waitMs >= this.limit.endsAt) throw this.failure();
      await sleep(clock, waitMs, this.limit.signal);
    }
  }

  /** The endpoint to ask next in this round; why the others are passed over is noted. */
  private next(tried: ReadonlySet<GroupEndpoint>): GroupEndpoint | undefined {
    const now = this.options.clock.now();
    for (const member of this.members) {
      if (tried.has(member) || member.health.readiness(now) !== 'refused') continue;
      const fault = member.lastFault ?? { kind: 'configuration', reason: 'refused before' };
      this.failures.set(member, { fault, isFinal: true });
    }
    return orderMembers(this.members, now).find((member) => !tried.has(member) && this.mayAsk(member, now));
  }

  private mayAsk(member: GroupEndpoint, now: number): boolean {
    const { calls } = this.task;
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
    const fault: Fault = { kind: 'rate-limited', reason: 'waiting as it has asked' };
    this.failures.set(member, { fault: lastFault?.kind === 'rate-limited' ? lastFault : fault, isFinal: false });
    return false;
  }

  /** Milliseconds until it is of use to go through the endpoints again. @returns undefined when it never is */
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
    const { calls, share } = this.task;
    const isProbe = member.health.readiness(clock.now()) === 'probe';
    if (isProbe) member.health.beginProbe();
    let outcomes: readonly Outcome[];
    try {
      outcomes = await this.ask(member, calls, share);
    } finally {
      if (isProbe) member.health.endProbe();
    }
    noteOutcomes(member, calls, outcomes, clock.now(), report);
    const answers: Answer[] = [];
    for (const outcome of outcomes) {
      if (outcome.kind === 'fault') return { fault: outcome.fault, isFinal: outcome.fault.kind === 'configuration' };
      answers.push(outcome);
    }
    return raceSignal(this.task.settle(answers, member), this.limit.signal);
  }

  /** Asks for all calls, and for the rest of them again where some were answered. */
  private async ask(member: GroupEndpoint, calls: readonly Call[], share: boolean): Promise<readonly Outcome[]> {
    const { clock } = this.options;
    const { signal } = this.limit;
    const outcomes = [...(await member.endpoint.ask(calls, { signal, share }))];
    for (let again = 0; again < FILL_INS; again++) {
      const open = outcomes.flatMap((outcome, i) => (outcome.kind === 'fault' ? [i] : []));
      if (open.length === 0 || open.length === calls.length) break;
      const pauseMs = member.endpoint.pausedForMs();
      if (pauseMs > LONGEST_FILL_IN_PAUSE_MS) break;
      if (pauseMs > 0) await sleep(clock, pauseMs, signal);
      const rest = open.map((i) => calls[i]!);
      const filled = await member.endpoint.ask(rest, { signal, share });
      for (const [k, i] of open.entries()) outcomes[i] = filled[k]!;
    }
    return outcomes;
  }

  /** An answer was accepted elsewhere, so those that gave another one come last for a while. */
  private blameRejected(): void {
    const { clock, report } = this.options;
    for (const [member, { fault }] of this.failures)
      if (fault.kind === 'rejected') noteFault(member, this.task.calls, fault, clock.now(), report);
  }
}
