/** Time and timers. Tests replace it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `action` once, after `delayMs`. */
  setTimer(action: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
}

/** Milliseconds of a clock that does not go back. A realm without `performance`, such as a Snap's, has the system clock alone. */
export const monotonicMs = (): number => globalThis.performance?.now() ?? Date.now();

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (action, delayMs) => setTimeout(action, delayMs),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/** Waits. @throws the reason of `signal`; the timer is cleared */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clock.clearTimer(timer);
      reject(signal.reason);
    };
    const timer = clock.setTimer(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, delayMs);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** The result of `work`. Rejects with the reason of `signal` as soon as it is aborted, even if `work` goes on. */
export function raceSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(error);
      },
    );
  });
}
