import { isPlumblineError } from '../../errors.js';
import { type Clock, sleep, systemClock } from '../../scheduling/clock.js';
import type { ZkFollower } from './zk-follower.js';

/** Options of `keepFollowing`. */
export interface KeepFollowingOptions {
  /** Milliseconds between two polls for a newer finalization. Default: 12 000. */
  readonly pollMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Called with each error. `REPLICA_DIVERGED` ends following; after others it goes on at the next poll. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Follows layer 1 in the background. @returns a function that stops it, and resolves when running commits are done */
export function keepFollowing(follower: ZkFollower, options: KeepFollowingOptions = {}): () => Promise<void> {
  const { pollMs = 12_000, clock = systemClock, onError } = options;
  const stop = new AbortController();
  const { signal } = stop;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await follower.follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        onError?.(error);
        if (isPlumblineError(error, 'REPLICA_DIVERGED')) return;
      }
      await sleep(clock, pollMs, signal).catch(() => {});
    }
  }

  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}
