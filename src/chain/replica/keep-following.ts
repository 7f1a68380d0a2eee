import { isPlumblineError } from '../../errors.js';
import { type Clock, sleep, systemClock } from '../../scheduling/clock.js';
import type { ZkFollower } from './zk-follower.js';

/** How a follower is kept at it. */
export interface KeepFollowingOptions {
  /** Milliseconds between two looks for a newer finalization; 12 000 unless told. */
  readonly pollMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Told of every error: those that pass are tried again at the next look, a divergence ends following. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Follows whenever layer 1 has finalized more. @returns a function that ends it, and waits for what is being stored */
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
