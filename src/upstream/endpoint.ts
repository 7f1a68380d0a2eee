/**
 * One endpoint, and how hard it is asked.
 *
 * Calls wait in a queue as `PendingCalls`: one or several callers, one request. A `TokenBucket` holds them back to a rate that was
 * given. When the endpoint itself asks to wait, all calls fail at once with that fault, so that another endpoint can be asked; a
 * `BackOff` names the time where the endpoint names none.
 */

import { PlumblineError } from '../errors.js';
import { type Clock, raceSignal } from '../scheduling/clock.js';
import {
  type Call,
  type Exchange,
  type FaultKind,
  faultOutcome,
  forAll,
  hanging,
  type Outcome,
  type Transport,
} from './failure.js';

/** Usage limits of an endpoint. */
export interface EndpointLimits {
  /** Time limit of one HTTP exchange, milliseconds. */
  readonly timeoutMs: number;
  /** Calls per second, not HTTP requests: providers count the members of a batch. Infinity for no limit. */
  readonly ratePerSecond: number;
  /** Calls that may be sent at once after a quiet time. */
  readonly burst: number;
  /** HTTP requests at the same time. */
  readonly concurrency: number;
}

/** What a group gives its endpoints. */
export interface EndpointHost {
  readonly clock: Clock;
  readonly random: () => number;
  onExchange(record: ExchangeRecord): void;
}

/** Options of a request to an endpoint. */
interface AskOptions {
  readonly signal: AbortSignal;
  /** Whether to wait for identical calls that are in flight to this endpoint, and not to send them again. */
  readonly deduplicate: boolean;
}

/** Bounds of the wait after a rate limit without a time. */
const RATE_BACK_OFF = { initialMs: 500, maxMs: 30_000 };
/** Longest pause that an endpoint may ask for, milliseconds. */
const LONGEST_PAUSE_MS = 3_600_000;

/** Methods that are sent alone: public endpoints refuse them in batches (docs/spec/state-trie.md 7). */
const ALONE = /^(?!eth_)\w+_getProof$/;

/**
 * Microtasks between a call and its sending, so that callers a few `await`s apart share one request. Browsers delay a timer by
 * milliseconds, and by a second in a hidden page.
 */
const GATHERING_TURNS = 16;

/**
 * One endpoint. Calls of the same turn are sent in one HTTP request, up to the batch limit. Identical calls in flight are sent
 * once. Rate, concurrency and time are limited. Only batches that the endpoint refuses as batches are sent again, in parts.
 */
export class Endpoint {
  private readonly bucket: TokenBucket;
  private readonly backOff: BackOff;
  private readonly queue: PendingCalls[] = [];
  private readonly shared = new Map<string, PendingCalls>();
  private readonly inFlight = new Map<AbortController, readonly PendingCalls[]>();
  private batchLimit: number;
  /** Methods of batches that were refused, until they are answered: sent without others, to find the one that is not served. */
  private readonly apart = new Set<string>();
  private pausedUntil = 0;
  /** Length of that pause when the last answer arrived, milliseconds. */
  private pauseMs = 0;
  private gathering = false;
  private timer: unknown;
  private closed = false;

  /** @param id - name within its group, without secrets */
  constructor(
    readonly id: string,
    private readonly transport: Transport,
    private readonly limits: EndpointLimits,
    private readonly host: EndpointHost,
  ) {
    this.bucket = new TokenBucket(limits.ratePerSecond, limits.burst, host.clock);
    this.backOff = createBackOff({ ...RATE_BACK_OFF, random: host.random });
    this.batchLimit = transport.batchLimit;
  }

  get origin(): string {
    return this.transport.origin;
  }

  /** Milliseconds until a rate limit ends. Calls made before that get the fault `rate-limited`. */
  pausedForMs(): number {
    const now = this.host.clock.now();
    // A clock that was set back does not make the pause longer.
    this.pausedUntil = Math.min(this.pausedUntil, now + this.pauseMs);
    return Math.max(0, this.pausedUntil - now);
  }

  /**
   * Sends calls in one HTTP request, or in several if they exceed the batch limit.
   *
   * @returns an outcome for each, in their order
   * @throws the reason of the signal; PlumblineError `ABORTED` after `close`
   */
  async ask(calls: readonly Call[], { signal, deduplicate }: AskOptions): Promise<readonly Outcome[]> {
    if (this.closed) throw closedError();
    if (signal.aborted) throw signal.reason;
    if (calls.length === 0) return [];
    const key = deduplicate ? JSON.stringify(calls.map(({ method, params }) => [method, params])) : undefined;
    const running = key === undefined ? undefined : this.shared.get(key);
    if (running !== undefined) return running.wait(signal);

    const pending = new PendingCalls(calls, (ended) => {
      if (key !== undefined) this.shared.delete(key);
      this.drop(ended);
    });
    this.queue.push(pending);
    if (key !== undefined) this.shared.set(key, pending);
    this.gather();
    return pending.wait(signal);
  }

  /** Aborts everything in flight and clears all timers. */
  close(): void {
    this.closed = true;
    for (const pending of [...this.queue, ...[...this.inFlight.values()].flat()]) pending.fail(closedError());
  }

  private gather(): void {
    if (this.gathering) return;
    this.gathering = true;
    let turns = GATHERING_TURNS;
    const turn = () => {
      if (turns-- > 0) return void Promise.resolve().then(turn);
      this.gathering = false;
      this.pump();
    };
    void Promise.resolve().then(turn);
  }

  /** Sends the queued calls that the limits allow now. */
  private pump(): void {
    const { clock } = this.host;
    this.clearTimer();
    const pauseMs = this.pausedForMs();
    if (pauseMs > 0) {
      const paused = faultOutcome('rate-limited', 'waiting as the endpoint asked', { retryAfterMs: pauseMs });
      for (const pending of this.queue.splice(0)) pending.settle(forAll(pending.calls, paused));
      return;
    }
    while (this.queue.length > 0 && this.inFlight.size < this.limits.concurrency) {
      const { count, size } = this.nextBatch();
      const waitMs = this.bucket.waitMs(size);
      if (waitMs > 0) {
        this.timer = clock.setTimer(() => this.pump(), waitMs);
        return;
      }
      this.bucket.take(size);
      void this.send(this.queue.splice(0, count));
    }
  }

  private clearTimer(): void {
    this.host.clock.clearTimer(this.timer);
    this.timer = undefined;
  }

  /** Number of entries at the front of the queue that fit in one batch, and the number of their calls. */
  private nextBatch(): { count: number; size: number } {
    const first = this.queue[0]!;
    const limit = ALONE.test(first.calls[0]!.method) ? 1 : this.batchLimit;
    const together = first.calls.findIndex((call) => !this.mayJoin(first.calls[0]!, call));
    const most = together < 0 ? limit : Math.min(limit, together);
    if (first.calls.length > most) this.queue.splice(0, 1, ...first.split(most));
    const begin = this.queue[0]!.calls[0]!;
    let size = 0;
    let count = 0;
    for (const { calls } of this.queue) {
      if (size + calls.length > limit || calls.some((call) => !this.mayJoin(begin, call))) break;
      size += calls.length;
      count++;
    }
    return { count, size };
  }

  /** Whether a call may be sent in one request with the call that begins it. */
  private mayJoin(begin: Call, { method }: Call): boolean {
    if (begin.method === method) return true;
    return [begin.method, method].every((one) => !ALONE.test(one) && !this.apart.has(one));
  }

  private async send(batch: readonly PendingCalls[]): Promise<void> {
    const { clock } = this.host;
    const calls = batch.flatMap((pending) => pending.calls);
    const controller = new AbortController();
    const timer = clock.setTimer(() => controller.abort('time limit exceeded'), this.limits.timeoutMs);
    this.inFlight.set(controller, batch);
    const startedAt = clock.now();
    const exchange = await this.exchange(calls, controller.signal);
    clock.clearTimer(timer);
    this.inFlight.delete(controller);
    const { reply, ...sizes } = exchange;
    const methods = new Set(calls.map(({ method }) => method));
    const isApart = 'byMethod' in reply && methods.size > 1;
    const outcomes = 'batchLimit' in reply || isApart ? undefined : 'byMethod' in reply ? reply.byMethod : reply;
    const faults = (outcomes ?? []).flatMap((outcome) => (outcome.kind === 'fault' ? [outcome.fault.kind] : []));
    const endedAt = clock.now();
    // Callers may have less time than an exchange. One that gave no answer in half of its own time hangs all the same.
    const left = endedAt - startedAt < this.limits.timeoutMs / 2 ? 'aborted' : 'timed-out';
    const fault = batch.some((pending) => pending.isWanted) ? faults[0] : left;
    this.host.onExchange({
      endpoint: this.id,
      origin: this.origin,
      methods: calls.map(({ method }) => method),
      startedAt,
      endedAt,
      ...sizes,
      ...(fault !== undefined && { fault }),
    });
    if (outcomes !== undefined) {
      const isRefused = outcomes.some((outcome) => outcome.kind === 'fault' && outcome.fault.kind === 'configuration');
      if (methods.size === 1 && !isRefused) this.apart.delete(calls[0]!.method);
      this.settle(batch, outcomes);
    } else {
      if ('batchLimit' in reply) this.batchLimit = Math.max(1, Math.min(this.batchLimit, reply.batchLimit));
      else for (const method of methods) this.apart.add(method);
      this.queue.unshift(...batch.filter((pending) => pending.isWanted));
    }
    this.pump();
  }

  /** The result of the transport, or a fault after the time limit. Never rejects. */
  private async exchange(calls: readonly Call[], signal: AbortSignal): Promise<Exchange> {
    const none = { bytesSent: 0, bytesReceived: 0 };
    try {
      return await raceSignal(this.transport.exchange(calls, signal), signal);
    } catch {
      const { timeoutMs } = this.limits;
      const fault = signal.aborted
        ? faultOutcome('timed-out', hanging(timeoutMs))
        : faultOutcome('malformed', 'the request could not be made');
      return { reply: forAll(calls, fault), ...none };
    }
  }

  private settle(batch: readonly PendingCalls[], outcomes: readonly Outcome[]): void {
    this.applyRateLimits(outcomes);
    let at = 0;
    for (const pending of batch) {
      pending.settle(outcomes.slice(at, at + pending.calls.length));
      at += pending.calls.length;
    }
  }

  /** Pauses for the time the endpoint asks for, at most an hour, or with growing waits if it names none. */
  private applyRateLimits(outcomes: readonly Outcome[]): void {
    const waits: number[] = [];
    let limited = false;
    for (const outcome of outcomes) {
      if (outcome.kind !== 'fault') continue;
      const { kind, retryAfterMs } = outcome.fault;
      limited ||= kind === 'rate-limited';
      if (retryAfterMs !== undefined) waits.push(retryAfterMs);
    }
    if (!limited && outcomes.some(({ kind }) => kind !== 'fault')) this.backOff.reset();
    // Concurrent requests meet the same limit. It counts once.
    if (limited && waits.length === 0 && this.pausedForMs() === 0) waits.push(this.backOff.next());
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(this.pausedForMs(), ...waits));
    this.pausedUntil = this.host.clock.now() + this.pauseMs;
  }

  /** Removes ended calls from the queue, and aborts their request if no other caller waits for it. */
  private drop(pending: PendingCalls): void {
    const at = this.queue.indexOf(pending);
    if (at >= 0) this.queue.splice(at, 1);
    if (this.queue.length === 0) this.clearTimer();
    for (const [controller, batch] of this.inFlight)
      if (batch.includes(pending) && !batch.some((other) => other.isWanted)) controller.abort('no caller waits');
  }
}

function closedError(): PlumblineError<'ABORTED'> {
  return new PlumblineError('ABORTED', 'the endpoint was closed; open a new node to go on', {});
}

/** One HTTP request, or one request to a provider. Endpoints are named by origin, never with path, query or user. */
export interface ExchangeRecord {
  /** Name of the endpoint within its group. */
  readonly endpoint: string;
  readonly origin: string;
  /** Methods of the calls it carried. */
  readonly methods: readonly string[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status?: number;
  /** Bytes of bodies. */
  readonly bytesSent: number;
  /** Bytes of bodies that were read, decompressed. */
  readonly bytesReceived: number;
  /** Fault of the first call that had one; `aborted` if no caller waited for the answer any more, `timed-out` if they had waited long. */
  readonly fault?: FaultKind | 'aborted';
}

/** An endpoint began to fail, or answers again. */
export interface EndpointEvent {
  readonly type: 'degraded' | 'recovered';
  readonly role: string;
  readonly endpoint: string;
  readonly origin: string;
  /** Set for `degraded`. */
  readonly kind?: FaultKind;
  readonly reason?: string;
}

/** Observes requests to endpoints. Errors that it throws are ignored. */
export interface UpstreamObserver {
  exchange?(record: ExchangeRecord, role: string): void;
  event?(event: EndpointEvent): void;
}

interface Waiter {
  settle(outcomes: readonly Outcome[]): void;
  fail(reason: unknown): void;
}

/** Calls that are sent together in one request, and the callers that wait for them. */
export class PendingCalls {
  private readonly waiters = new Set<Waiter>();
  private parts: readonly PendingCalls[] = [];

  /** @param onEnd - called when the calls are settled, have failed, or the last waiting caller has aborted */
  constructor(
    readonly calls: readonly Call[],
    private readonly onEnd: (pending: PendingCalls) => void,
  ) {}

  get isWanted(): boolean {
    return this.waiters.size > 0;
  }

  /** Outcomes of the calls, in their order. @throws only the reason of `signal`, or the reason given to `fail` */
  wait(signal?: AbortSignal): Promise<readonly Outcome[]> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.waiters.delete(waiter);
        signal?.removeEventListener('abort', stop);
      };
      const waiter: Waiter = {
        settle(outcomes) {
          leave();
          resolve(outcomes);
        },
        fail(reason) {
          leave();
          reject(reason);
        },
      };
      const stop = () => {
        waiter.fail(signal?.reason);
        if (!this.isWanted) this.abandon();
      };
      this.waiters.add(waiter);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  settle(outcomes: readonly Outcome[]): void {
    for (const waiter of [...this.waiters]) waiter.settle(outcomes);
    this.onEnd(this);
  }

  fail(reason: unknown): void {
    for (const waiter of [...this.waiters]) waiter.fail(reason);
    this.onEnd(this);
  }

  /** Splits it into parts of at most `limit` calls. It settles when all of them have settled. */
  split(limit: number): readonly PendingCalls[] {
    const parts: PendingCalls[] = [];
    for (let at = 0; at < this.calls.length; at += limit)
      parts.push(new PendingCalls(this.calls.slice(at, at + limit), this.onEnd));
    this.parts = parts;
    Promise.all(parts.map((part) => part.wait())).then(
      (outcomes) => this.settle(outcomes.flat()),
      (reason: unknown) => this.fail(reason),
    );
    return parts;
  }

  private abandon(): void {
    this.waiters.clear();
    for (const part of this.parts) part.abandon();
    this.onEnd(this);
  }
}

/** Rounding error of doubles, in tokens. */
const ROUNDING = 1e-6;

/** A rate limit: calls per second on average, and calls that may be sent at once after a quiet time. */
export class TokenBucket {
  private tokens: number;
  private filledAt: number;

  /**
   * @param ratePerSecond - above zero; Infinity for no limit
   * @param burst - tokens of a full bucket, at least 1
   */
  constructor(
    private readonly ratePerSecond: number,
    private readonly burst: number,
    private readonly clock: Clock,
  ) {
    this.tokens = burst;
    this.filledAt = clock.now();
  }

  /**
   * Milliseconds until `count` calls may be sent. More calls than a full bucket has may be sent when it is full; it then goes
   * below zero.
   */
  waitMs(count: number): number {
    if (this.ratePerSecond === Number.POSITIVE_INFINITY) return 0;
    this.fill();
    const missing = Math.min(count, this.burst) - this.tokens;
    return missing <= ROUNDING ? 0 : Math.ceil((missing / this.ratePerSecond) * 1000);
  }

  /** Takes the tokens of `count` calls. */
  take(count: number): void {
    this.tokens -= count;
  }

  private fill(): void {
    const now = this.clock.now();
    // A clock that was set back neither adds nor removes tokens.
    const elapsed = Math.max(0, now - this.filledAt);
    this.tokens = Math.min(this.burst, this.tokens + (elapsed * this.ratePerSecond) / 1000);
    this.filledAt = now;
  }
}

/** Waits that double up to a limit. `reset` starts again with the first one. */
export interface BackOff {
  /** The next wait in milliseconds. */
  next(): number;
  reset(): void;
}

/** Bounds of the waits. */
interface BackOffOptions {
  /** First wait, or its upper bound with jitter, milliseconds. */
  readonly initialMs: number;
  readonly maxMs: number;
  /** Returns numbers from 0 to below 1. With it, each wait is random between zero and its bound (full jitter). */
  readonly random?: () => number;
}

export function createBackOff({ initialMs, maxMs, random }: BackOffOptions): BackOff {
  let waits = 0;
  return {
    next() {
      const bound = Math.min(maxMs, initialMs * 2 ** waits++);
      return random === undefined ? bound : Math.floor(random() * bound);
    },
    reset() {
      waits = 0;
    },
  };
}
