import { PlumblineError } from '../errors.js';
import type { Clock } from './clock.js';

/** One signal for all that ends a request early: its caller gave up, or its time is over. */
export interface TimeLimit {
  /** Its reason is a PlumblineError: `ABORTED` or `REQUEST_TIMED_OUT`. */
  readonly signal: AbortSignal;
  /** When the time is over, in milliseconds since 1970. */
  readonly endsAt: number;
  /** Stops the clock and listens to the caller no longer. */
  close(): void;
}

/** @param timeoutMs - time until `REQUEST_TIMED_OUT` */
export function openTimeLimit(clock: Clock, timeoutMs: number, caller: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const giveUp = () => {
    const { reason: cause } = caller;
    controller.abort(
      cause instanceof PlumblineError ? cause : new PlumblineError('ABORTED', 'request aborted', {}, { cause }),
    );
  };
  if (caller.aborted) giveUp();
  else caller.addEventListener('abort', giveUp, { once: true });
  const timer = clock.setTimer(() => {
    controller.abort(new PlumblineError('REQUEST_TIMED_OUT', `no answer in ${timeoutMs} ms`, { timeoutMs }));
  }, timeoutMs);
  return {
    signal: controller.signal,
    endsAt: clock.now() + timeoutMs,
    close() {
      clock.clearTimer(timer);
      caller.removeEventListener('abort', giveUp);
    },
  };
}
