import { ExponentialBackoff } from 'cockatiel';

/** Waits that double up to a limit. `reset` starts again with the first one. */
export interface BackOff {
  /** The next wait in milliseconds. */
  next(): number;
  reset(): void;
}

/** Bounds of the waits. */
export interface BackOffOptions {
  /** First wait, or its upper bound with jitter, milliseconds. */
  readonly initialMs: number;
  readonly maxMs: number;
  /** Returns numbers from 0 to below 1. With it, each wait is random between zero and its bound (full jitter). */
  readonly random?: () => number;
}

export function createBackOff({ initialMs, maxMs, random }: BackOffOptions): BackOff {
  const schedule = new ExponentialBackoff<number>({
    initialDelay: initialMs,
    maxDelay: maxMs,
    generator: (attempt = 0, { initialDelay, maxDelay }) => {
      const bound = Math.min(maxDelay, initialDelay * 2 ** attempt);
      return [random === undefined ? bound : Math.floor(random() * bound), attempt + 1];
    },
  });
  let current: ReturnType<typeof schedule.next> | undefined;
  return {
    next() {
      current = current === undefined ? schedule.next() : current.next(undefined);
      return current.duration;
    },
    reset() {
      current = undefined;
    },
  };
}
