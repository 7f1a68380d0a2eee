import { PlumblineError } from '../errors.js';
import type { Clock } from './clock.js';

/** One signal for all that ends a request early: its callers gave up, or its time is over. */
export interface TimeLimit {
  /** Its reason is a PlumblineError: `ABORTED` or `REQUEST_TIMED_OUT`. */
  readonly signal: AbortSignal;
  /** When the time is over, in milliseconds since 1970. */
  readonly endsAt: number;
  /** Stops the clock and listens to the callers no longer. */
  close(): void;
}

/** @param timeoutMs - time until `REQUEST_TIMED_OUT` */
export function openTimeLimit(
  clock: Clock,
  timeoutMs: number,
  callers: readonly (AbortSignal | undefined)[],
): TimeLimit {
  const controller = new AbortController();
  const giveUp = (event: Event) => abort((event.target as AbortSignal).reason);
  const abort = (cause: unknown) =>
    controller.abort(
      cause instanceof PlumblineError ? cause : new PlumblineError('ABORTED', 'request aborted', {}, { cause }),
    );
  for (const caller of callers) {
    if (caller?.aborted) abort(caller.reason);
    else caller?.addEventListener('abort', giveUp, { once: true });
  }
  const timer = clock.setTimer(() => {
    controller.abort(new PlumblineError('REQUEST_TIMED_OUT', `no answer in ${timeoutMs} ms`, { timeoutMs }));
  }, timeoutMs);
  return {
    signal: controller.signal,
    endsAt: clock.now() + timeoutMs,
    close() {
      clock.clearTimer(timer);
      for (const caller of callers) caller?.removeEventListener('abort', giveUp);
    },
  };
}
