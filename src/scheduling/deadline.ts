import { PlumblineError } from '../errors.js';
import { type Clock, systemClock } from './clock.js';
import { InOrder, type Place } from './in-order.js';
import { HAS_TASKS } from './turns.js';

/** A caller that may abort. Its signal is made only when something listens, because making a signal takes longer than most requests. */
export interface LateSignal {
  readonly aborted: boolean;
  /** The signal; the same one each time. */
  made(): AbortSignal;
}

/** A LateSignal that can be aborted. */
export class LateController implements LateSignal {
  private controller: AbortController | undefined;
  aborted = false;

  /** @param onMade - called with the signal when it is made */
  constructor(private readonly onMade?: (signal: AbortSignal) => void) {}

  made(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      this.onMade?.(this.controller.signal);
      if (this.aborted) this.controller.abort();
    }
    return this.controller.signal;
  }

  abort(): void {
    this.aborted = true;
    this.controller?.abort();
  }
}

/** The signal itself. */
export function signalOf(signal: AbortSignal | LateSignal | undefined): AbortSignal | undefined {
  return signal !== undefined && 'made' in signal ? signal.made() : signal;
}

/**
 * Gives an object the signal of its `signalFrom`, which may be one that is made when it is first read. A getter in the object's own literal
 * would be a new function each time: V8 puts it into the old generation, and with it all that it can see of the request.
 *
 * @param object - a literal without `...`: after a spread, this takes many times as long
 */
export function withLateSignal<T extends { readonly signalFrom: HasSignal }>(
  object: T,
): T & { readonly signal?: AbortSignal | undefined } {
  return Object.defineProperty(object, 'signal', SIGNAL);
}

interface HasSignal {
  readonly signal?: AbortSignal | undefined;
}

const SIGNAL: PropertyDescriptor & ThisType<{ readonly signalFrom: HasSignal }> = {
  enumerable: true,
  get() {
    return this.signalFrom.signal;
  },
};

/** A signal that is aborted when the caller aborts a request, or when its time limit is over. */
export interface Deadline {
  /** Made when it is first read. Its reason is a PlumblineError: `ABORTED` or `REQUEST_TIMED_OUT`. */
  readonly signal: AbortSignal;
  /** As `signal.aborted`, without a signal. */
  readonly stopped: () => boolean;
  /** End of the time limit, in milliseconds since 1970; Infinity without a limit. */
  readonly endsAt: number;
  /**
   * Runs `work`, unless the deadline has passed. A promise of `work` becomes one that rejects as soon as it passes, even if `work` goes
   * on; a value is returned as it is.
   *
   * @throws PlumblineError `ABORTED`, `REQUEST_TIMED_OUT`, or what `work` throws
   */
  run<T>(work: () => T | Promise<T>): T | Promise<T>;
  /** Ends it now. @param reason - as for `signal` */
  abort(reason: PlumblineError): void;
  /** Removes the time limit. The caller can still abort. */
  unlimit(): void;
  /** Removes it from the timer, and the listener from the caller's signal. */
  close(): void;
}

/**
 * @param caller - a reason that is a PlumblineError is passed on; any other reason becomes the cause of `ABORTED`. One that
 *   is made late is made when the signal of the deadline is first read
 * @param timeoutMs - time until `REQUEST_TIMED_OUT`; no limit if left out
 */
export function openDeadline(
  caller: AbortSignal | LateSignal | undefined,
  timeoutMs: number | undefined,
  clock: Clock = systemClock,
): Deadline {
  return new OpenDeadline(caller, timeoutMs, clock);
}

class OpenDeadline implements Deadline {
  readonly endsAt: number;
  private controller: AbortController | undefined;
  private reason: PlumblineError | undefined;
  /** Signal of the caller that is listened to. */
  private heard: AbortSignal | undefined;
  /** Rejects what runs. Listeners of the signal take longer than most requests. */
  private ends: InOrder<(reason: unknown) => void> | undefined;
  private readonly timer: SharedTimer | undefined;
  /** Its place in the timer. */
  private place: Place<OpenDeadline> | undefined;

  constructor(
    private readonly caller: AbortSignal | LateSignal | undefined,
    private readonly timeoutMs: number | undefined,
    clock: Clock,
  ) {
    if (caller !== undefined && !('made' in caller)) this.hear(caller);
    if (timeoutMs === undefined) {
      this.endsAt = Number.POSITIVE_INFINITY;
      return;
    }
    this.endsAt = clock.now() + timeoutMs;
    this.timer = timerOf(clock, timeoutMs);
    this.place = this.timer.add(this);
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) this.controller.abort(this.reason);
      else if (this.caller !== undefined && 'made' in this.caller) this.hear(this.caller.made());
    }
    return this.controller.signal;
  }

  readonly stopped = (): boolean => this.reason !== undefined || this.caller?.aborted === true;

  run<T>(work: () => T | Promise<T>): T | Promise<T> {
    // A caller who has left while nothing listened to it.
    if (this.stopped() && this.reason === undefined) this.abort(new PlumblineError('ABORTED', 'request aborted', {}));
    if (this.reason !== undefined) throw this.reason;
    const result = work();
    if (!(result instanceof Promise)) return result;
    return this.untilEnd(result);
  }

  private untilEnd<T>(result: Promise<T>): Promise<T> {
    this.ends ??= new InOrder();
    const { ends } = this;
    return new Promise((resolve, reject) => {
      const place = ends.add(reject);
      result.then(
        (value) => {
          ends.remove(place);
          resolve(value);
        },
        (error: unknown) => {
          ends.remove(place);
          reject(error);
        },
      );
      // `work` itself may have aborted it.
      if (this.reason !== undefined) reject(this.reason);
    });
  }

  abort(reason: PlumblineError): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.controller?.abort(reason);
    for (const end of this.ends ?? []) end(reason);
  }

  /** The time is over. */
  expire(): void {
    const timeoutMs = this.timeoutMs!;
    this.abort(new PlumblineError('REQUEST_TIMED_OUT', `no answer in ${timeoutMs} ms`, { timeoutMs }));
  }

  unlimit(): void {
    if (this.place === undefined) return;
    this.timer!.remove(this.place);
    this.place = undefined;
  }

  close(): void {
    this.unlimit();
    this.heard?.removeEventListener('abort', this);
  }

  private hear(signal: AbortSignal): void {
    this.heard = signal;
    if (signal.aborted) this.handleEvent();
    else signal.addEventListener('abort', this, { once: true });
  }

  /** The signal of the caller is aborted. */
  handleEvent(): void {
    const cause: unknown = this.heard?.reason;
    this.abort(
      cause instanceof PlumblineError ? cause : new PlumblineError('ABORTED', 'request aborted', {}, { cause }),
    );
  }
}

/** Timers of each clock by their time limit, ms. */
const timers = new WeakMap<Clock, Map<number, SharedTimer>>();

function timerOf(clock: Clock, timeoutMs: number): SharedTimer {
  const known = timers.get(clock) ?? new Map<number, SharedTimer>();
  timers.set(clock, known);
  let timer = known.get(timeoutMs);
  if (timer === undefined) {
    timer = new SharedTimer(clock, () => known.delete(timeoutMs));
    known.set(timeoutMs, timer);
  }
  return timer;
}

const OVERDUE_MS = 1_000;

/** One timer for all deadlines with the same time limit: they end in the order in which they were opened. */
class SharedTimer {
  private readonly open = new InOrder<OpenDeadline>();
  private timer: unknown;
  private dueAt = 0;

  /** @param onIdle - called when there is no deadline and no timer */
  constructor(
    private readonly clock: Clock,
    private readonly onIdle: () => void,
  ) {}

  add(deadline: OpenDeadline): Place<OpenDeadline> {
    const isFirst = this.open.first === undefined;
    const place = this.open.add(deadline);
    // A timer that is long overdue was lost with what it was set in.
    const isLost = this.timer !== undefined && this.dueAt + OVERDUE_MS < this.clock.now();
    if (isLost) this.clock.clearTimer(this.timer);
    if (this.timer === undefined || isLost) this.start(this.open.first!.endsAt);
    else if (isFirst) (this.timer as Partial<NodeJS.Timeout>).ref?.();
    return place;
  }

  remove(place: Place<OpenDeadline>): void {
    this.open.remove(place);
    if (this.open.first !== undefined || this.timer === undefined) return;
    // It goes on for the next one, but keeps no process alive. A Snap loses the timers of a request that has ended.
    const { unref } = this.timer as Partial<NodeJS.Timeout>;
    if (HAS_TASKS && unref !== undefined) return void unref.call(this.timer);
    this.clock.clearTimer(this.timer);
    this.timer = undefined;
    this.onIdle();
  }

  private start(at: number): void {
    this.dueAt = at;
    this.timer = this.clock.setTimer(() => this.fire(), Math.max(0, at - this.clock.now()));
  }

  private fire(): void {
    this.timer = undefined;
    const now = this.clock.now();
    for (let first = this.open.first; first !== undefined; first = this.open.first) {
      if (first.endsAt > now) {
        this.start(first.endsAt);
        return;
      }
      first.unlimit();
      first.expire();
    }
    this.onIdle();
  }
}
