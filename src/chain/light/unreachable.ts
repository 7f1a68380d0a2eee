import { isPlumblineError } from '../../errors.js';

/** Whether the error means that no endpoint answered, rather than a wrong answer. */
export function isUnreachable(error: unknown): boolean {
  return (
    isPlumblineError(error, 'UPSTREAM_UNAVAILABLE') ||
    isPlumblineError(error, 'UPSTREAM_RATE_LIMITED') ||
    isPlumblineError(error, 'REQUEST_TIMED_OUT')
  );
}
