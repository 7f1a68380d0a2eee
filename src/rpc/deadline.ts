import { PlumblineError } from '../errors.js';

/** One signal for the two ways a request ends early: its caller gave up, or its time is over. */
export interface Deadline {
  readonly signal: AbortSignal;
  /**
   * Runs `work`, unless the deadline has passed; rejects as soon as it passes, whether or not `work` has noticed.
   *
   * @throws PlumblineError `ABORTED`, `REQUEST_TIMED_OUT`, or what `work` throws
   */
  run<T>(work: () => T | Promise<T>): Promise<T>;
  /** Takes the time limit away; the caller can still give up. */
  unlimit(): void;
  /** Stops the clock. */
  close(): void;
}

/** @param timeoutMs - no limit when left out */
export function openDeadline(caller: AbortSignal | undefined, timeoutMs: number | undefined): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const giveUp = () =>
    controller.abort(new PlumblineError('ABORTED', 'request aborted', {}, { cause: caller?.reason }));
  if (caller?.aborted) giveUp();
  else caller?.addEventListener('abort', giveUp, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          controller.abort(new PlumblineError('REQUEST_TIMED_OUT', `no answer in ${timeoutMs} ms`, { timeoutMs }));
        }, timeoutMs);
  return {
    signal,
    run(work) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const stop = () => reject(signal.reason);
        signal.addEventListener('abort', stop, { once: true });
        Promise.resolve()
          .then(work)
          .then(resolve, reject)
          .finally(() => signal.removeEventListener('abort', stop));
      });
    },
    unlimit() {
      clearTimeout(timer);
    },
    close() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', giveUp);
    },
  };
}
