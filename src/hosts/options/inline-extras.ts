import type { ReplicaProgress } from '../../chain/replica/settings.js';
import type { Activity } from '../../scheduling/activity.js';
import type { Clock } from '../../scheduling/clock.js';
import type { PageStore } from '../../store/page-store.js';
import type { UpstreamObserver } from '../../upstream/observer.js';
import type { OpenProgress } from './options.js';

/** Follows the progress of a replica. */
export interface ReplicaObserver {
  progress?(progress: ReplicaProgress): void;
  /** Called for transient errors too; after `REPLICA_DIVERGED` the replica has stopped following. */
  error?(error: unknown): void;
}

/** What can only be given within one thread. */
export interface InlineExtras {
  readonly onProgress?: ((progress: OpenProgress) => void) | undefined;
  /** Instead of IndexedDB. */
  readonly store?: PageStore | undefined;
  /** Why there is none, where that is known already. */
  readonly storeFailure?: unknown;
  /** Told of what a light node exchanges with its endpoints. */
  readonly upstreamObserver?: UpstreamObserver | undefined;
  /** Time of a light node; the system's when left out. */
  readonly clock?: Clock | undefined;
  /** Whether a light node has somebody to be up to date for; as far as this thread can tell when left out. */
  readonly activity?: Activity | undefined;
  /** Told how a replica gets on. */
  readonly replicaObserver?: ReplicaObserver | undefined;
  /** Told of every error a method threw. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}
