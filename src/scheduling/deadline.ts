import { PlumblineError } from '../errors.js';
import { type Clock, raceSignal, systemClock } from './clock.js';

/** One signal for the two ways a request ends early: its caller gave up, or its time is over. */
export interface Deadline {
  /** Its reason is a PlumblineError: `ABORTED` or `REQUEST_TIMED_OUT`. */
  readonly signal: AbortSignal;
  /** When the time is over, in milliseconds since 1970; infinity without a limit. */
  readonly endsAt: number;
  /**
   * Runs `work`, unless the deadline has passed; rejects as soon as it passes, whether or not `work` has noticed.
   *
   * @throws PlumblineError `ABORTED`, `REQUEST_TIMED_OUT`, or what `work` throws
   */
  run<T>(work: () => T | Promise<T>): Promise<T>;
  /** Removes the time limit; the caller can still give up. */
  unlimit(): void;
  /** Stops the timer, and stops listening to the caller. */
  close(): void;
}

/**
 * @param caller - a PlumblineError as its reason is passed on; any other reason is the cause of `ABORTED`
 * @param timeoutMs - time until `REQUEST_TIMED_OUT`; no limit when left out
 */
export function openDeadline(
  caller: AbortSignal | undefined,
  timeoutMs: number | undefined,
  clock: Clock = systemClock,
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const giveUp = () => {
    const cause: unknown = caller?.reason;
    controller.abort(
      cause instanceof PlumblineError ? cause : new PlumblineError('ABORTED', 'request aborted', {}, { cause }),
    );
  };
  if (caller?.aborted) giveUp();
  else caller?.addEventListener('abort', giveUp, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : clock.setTimer(() => {
          controller.abort(new PlumblineError('REQUEST_TIMED_OUT', `no answer in ${timeoutMs} ms`, { timeoutMs }));
        }, timeoutMs);
  const stopTimer = () => {
    if (timer !== undefined) clock.clearTimer(timer);
  };
  return {
    signal,
    endsAt: timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs,
    async run(work) {
      if (signal.aborted) throw signal.reason;
      return raceSignal(Promise.resolve().then(work), signal);
    },
    unlimit: stopTimer,
    close() {
      stopTimer();
      caller?.removeEventListener('abort', giveUp);
    },
  };
}
