import { PlumblineError } from '../errors.js';
import { type Clock, raceSignal } from '../scheduling/clock.js';
import { type BackOff, createBackOff } from './back-off.js';
import { Flight } from './flight.js';
import type { ExchangeRecord } from './observer.js';
import { TokenBucket } from './token-bucket.js';
import { type Call, faultOutcome, forAll, type Outcome } from './transport/fault.js';
import type { Exchange, Transport } from './transport/transport.js';

/** How hard an endpoint may be used. */
export interface EndpointLimits {
  /** Time of one HTTP exchange. */
  readonly timeoutMs: number;
  /** Calls, not HTTP requests: providers count the members of a batch. Infinity for no limit. */
  readonly ratePerSecond: number;
  readonly burst: number;
  /** HTTP requests at the same time. */
  readonly concurrency: number;
}

/** What an endpoint has of its group. */
export interface EndpointHost {
  readonly clock: Clock;
  readonly random: () => number;
  onExchange(record: ExchangeRecord): void;
}

/** How an endpoint is asked. */
export interface AskOptions {
  readonly signal: AbortSignal;
  /** Whether the same calls that are already under way to this endpoint are waited for, and not made again. */
  readonly share: boolean;
}

/** Bounds of the wait after a rate limit that names no time. */
const RATE_BACK_OFF = { initialMs: 500, maxMs: 30_000 };

/**
 * Microtasks that pass between a call and its sending: callers a few `await`s apart still share one request. A timer
 * would be clamped to milliseconds by browsers, and to a second in a hidden page.
 */
const GATHERING_TURNS = 16;

/**
 * One endpoint: calls made in the same turn go in one HTTP request, up to the batch limit; identical ones under way are
 * made once; rate, number at a time and time are bounded. It repeats nothing but batches that were refused as such.
 */
export class Endpoint {
  private readonly bucket: TokenBucket;
  private readonly backOff: BackOff;
  private readonly queue: Flight[] = [];
  private readonly shared = new Map<string, Flight>();
  private readonly underWay = new Map<AbortController, readonly Flight[]>();
  private batchLimit: number;
  private pausedUntil = 0;
  /** Length of that pause when it was begun. */
  private pauseMs = 0;
  private gathering = false;
  private timer: unknown;
  private closed = false;

  /** @param id - name within its group, safe to show */
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

  /** Milliseconds until a rate limit lets calls through again. Calls made before come back with the fault `rate-limited`. */
  pausedForMs(): number {
    const now = this.host.clock.now();
    // A clock that is set back makes no pause longer.
    this.pausedUntil = Math.min(this.pausedUntil, now + this.pauseMs);
    return Math.max(0, this.pausedUntil - now);
  }

  /**
   * Calls that go in one HTTP request, unless they are more than the endpoint takes together.
   *
   * @returns an outcome for each, in their order
   * @throws the reason of the signal; PlumblineError `ABORTED` after `close`
   */
  async ask(calls: readonly Call[], { signal, share }: AskOptions): Promise<readonly Outcome[]> {
    if (this.closed) throw closedError();
    if (signal.aborted) throw signal.reason;
    if (calls.length === 0) return [];
    const key = share ? JSON.stringify(calls.map(({ method, params }) => [method, params])) : undefined;
    const running = key === undefined ? undefined : this.shared.get(key);
    if (running !== undefined) return running.wait(signal);

    const flight = new Flight(calls, (ended) => {
      if (key !== undefined) this.shared.delete(key);
      this.drop(ended);
    });
    this.queue.push(flight);
    if (key !== undefined) this.shared.set(key, flight);
    this.gather();
    return flight.wait(signal);
  }

  /** Ends everything under way; no timer is left. */
  close(): void {
    this.closed = true;
    this.clearTimer();
    for (const flight of this.queue.splice(0)) flight.fail(closedError());
    for (const [controller, flights] of this.underWay) {
      for (const flight of flights) flight.fail(closedError());
      controller.abort(closedError());
    }
    this.shared.clear();
  }

  private gather(): void {
    if (this.gathering) return;
    this.gathering = true;
    let turns = GATHERING_TURNS;
    const turn = () => {
      if (turns-- > 0) return queueMicrotask(turn);
      this.gathering = false;
      this.pump();
    };
    queueMicrotask(turn);
  }

  /** Sends what may be sent now. */
  private pump(): void {
    const { clock } = this.host;
    this.clearTimer();
    if (this.closed) return;
    const pauseMs = this.pausedForMs();
    if (pauseMs > 0) {
      const paused = faultOutcome('rate-limited', 'waiting as it has asked', { retryAfterMs: pauseMs });
      for (const flight of this.queue.splice(0)) flight.settle(forAll(flight.calls, paused));
      return;
    }
    while (this.queue.length > 0 && this.underWay.size < this.limits.concurrency) {
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

  /** How many flights at the head of the queue go together, and their calls. */
  private nextBatch(): { count: number; size: number } {
    const first = this.queue[0]!;
    if (first.calls.length > this.batchLimit) this.queue.splice(0, 1, ...first.split(this.batchLimit));
    let size = 0;
    let count = 0;
    for (const flight of this.queue) {
      if (size + flight.calls.length > this.batchLimit) break;
      size += flight.calls.length;
      count++;
    }
    return { count, size };
  }

  private async send(flights: readonly Flight[]): Promise<void> {
    const { clock } = this.host;
    const calls = flights.flatMap((flight) => flight.calls);
    const controller = new AbortController();
    const timer = clock.setTimer(() => controller.abort('time is over'), this.limits.timeoutMs);
    this.underWay.set(controller, flights);
    const startedAt = clock.now();
    const exchange = await this.exchange(calls, controller.signal);
    clock.clearTimer(timer);
    this.underWay.delete(controller);
    const { reply, ...sizes } = exchange;
    const outcomes = 'batchLimit' in reply ? undefined : reply;
    const faults = (outcomes ?? []).flatMap((outcome) => (outcome.kind === 'fault' ? [outcome.fault.kind] : []));
    const fault = flights.some((flight) => flight.isWanted) ? faults[0] : 'aborted';
    this.host.onExchange({
      endpoint: this.id,
      origin: this.origin,
      methods: calls.map(({ method }) => method),
      startedAt,
      endedAt: clock.now(),
      ...sizes,
      ...(fault !== undefined && { fault }),
    });
    if ('batchLimit' in reply) {
      this.batchLimit = Math.max(1, Math.min(this.batchLimit, reply.batchLimit));
      this.queue.unshift(...flights.filter((flight) => flight.isWanted));
    } else this.settle(flights, reply);
    this.pump();
  }

  /** What the transport comes to, in time; only an aborted exchange that nobody waits for any more ends otherwise. */
  private async exchange(calls: readonly Call[], signal: AbortSignal): Promise<Exchange> {
    const none = { bytesSent: 0, bytesReceived: 0 };
    try {
      return await raceSignal(this.transport.exchange(calls, signal), signal);
    } catch {
      const { timeoutMs } = this.limits;
      const fault = signal.aborted
        ? faultOutcome('timed-out', `no answer in ${timeoutMs} ms`)
        : faultOutcome('malformed', 'the request could not be made');
      return { reply: forAll(calls, fault), ...none };
    }
  }

  private settle(flights: readonly Flight[], outcomes: readonly Outcome[]): void {
    this.heed(outcomes);
    let at = 0;
    for (const flight of flights) {
      flight.settle(outcomes.slice(at, at + flight.calls.length));
      at += flight.calls.length;
    }
  }

  /** Pauses as the endpoint asks, or longer each time where it names no time. */
  private heed(outcomes: readonly Outcome[]): void {
    const waits: number[] = [];
    let limited = false;
    for (const outcome of outcomes) {
      if (outcome.kind !== 'fault') continue;
      const { kind, retryAfterMs } = outcome.fault;
      limited ||= kind === 'rate-limited';
      if (retryAfterMs !== undefined) waits.push(retryAfterMs);
    }
    if (!limited && outcomes.some(({ kind }) => kind !== 'fault')) this.backOff.reset();
    // Requests that were sent side by side meet the same limit; it counts once.
    if (limited && waits.length === 0 && this.pausedForMs() === 0) waits.push(this.backOff.next());
    if (waits.length === 0) return;
    this.pauseMs = Math.max(this.pausedForMs(), ...waits);
    this.pausedUntil = this.host.clock.now() + this.pauseMs;
  }

  /** Takes back what has ended: it is not sent any more, and its request is broken off when nobody else waits for it. */
  private drop(flight: Flight): void {
    const at = this.queue.indexOf(flight);
    if (at >= 0) this.queue.splice(at, 1);
    if (this.queue.length === 0) this.clearTimer();
    for (const [controller, flights] of this.underWay)
      if (flights.includes(flight) && !flights.some((other) => other.isWanted)) controller.abort('nobody waits');
  }
}

function closedError(): PlumblineError<'ABORTED'> {
  return new PlumblineError('ABORTED', 'the endpoint was closed', {});
}
