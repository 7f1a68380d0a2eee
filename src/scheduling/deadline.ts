import { PlumblineError } from '../errors.js';
import { type Clock, systemClock } from './clock.js';

/** A signal that is aborted when the caller aborts a request, or when its time limit is over. */
export interface Deadline {
  /** Its reason is a PlumblineError: `ABORTED` or `REQUEST_TIMED_OUT`. */
  readonly signal: AbortSignal;
  /** End of the time limit, in milliseconds since 1970; Infinity without a limit. */
  readonly endsAt: number;
  /**
   * Runs `work`, unless the deadline has passed. Rejects as soon as it passes, even if `work` goes on.
   *
   * @throws PlumblineError `ABORTED`, `REQUEST_TIMED_OUT`, or what `work` throws
   */
  run<T>(work: () => T | Promise<T>): Promise<T>;
  /** Ends it now. @param reason - as for `signal` */
  abort(reason: PlumblineError): void;
  /** Removes the time limit. The caller can still abort. */
  unlimit(): void;
  /** Clears the timer and removes the listener from the caller's signal. */
  close(): void;
}

/**
 * @param caller - a reason that is a PlumblineError is passed on; any other reason becomes the cause of `ABORTED`
 * @param timeoutMs - time until `REQUEST_TIMED_OUT`; no limit if left out
 */
export function openDeadline(
  caller: AbortSignal | undefined,
  timeoutMs: number | undefined,
  clock: Clock = systemClock,
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  /** Rejects what runs. Listeners of the signal take longer than most requests. */
  const ends = new Set<(reason: unknown) => void>();
  const abort = (reason: PlumblineError) => {
    controller.abort(reason);
    for (const end of ends) end(signal.reason);
  };
  const onAbort = () => {
    const cause: unknown = caller?.reason;
    abort(cause instanceof PlumblineError ? cause : new PlumblineError('ABORTED', 'request aborted', {}, { cause }));
  };
  if (caller?.aborted) onAbort();
  else caller?.addEventListener('abort', onAbort, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : clock.setTimer(() => {
          abort(new PlumblineError('REQUEST_TIMED_OUT', `no answer in ${timeoutMs} ms`, { timeoutMs }));
        }, timeoutMs);
  const stopTimer = () => {
    if (timer !== undefined) clock.clearTimer(timer);
  };
  return {
    signal,
    endsAt: timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs,
    async run(work) {
      if (signal.aborted) throw signal.reason;
      return new Promise((resolve, reject) => {
        ends.add(reject);
        Promise.resolve()
          .then(work)
          .then(resolve, reject)
          .finally(() => ends.delete(reject));
      });
    },
    abort,
    unlimit: stopTimer,
    close() {
      stopTimer();
      caller?.removeEventListener('abort', onAbort);
    },
  };
}
