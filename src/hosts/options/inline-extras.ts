import type { ReplicaProgress } from '../../chain/replica/settings.js';
import type { Activity } from '../../scheduling/activity.js';
import type { Clock } from '../../scheduling/clock.js';
import type { PageStore } from '../../store/page-store.js';
import type { UpstreamObserver } from '../../upstream/endpoint.js';
import type { OpenProgress } from './options.js';

/** Follows the progress of a replica. */
export interface ReplicaObserver {
  progress?(progress: ReplicaProgress): void;
  /** Called for transient errors too; after `REPLICA_DIVERGED` the replica has stopped following. */
  error?(error: unknown): void;
}

/** Options that cannot be sent to a worker. */
export interface InlineExtras {
  readonly onProgress?: ((progress: OpenProgress) => void) | undefined;
  /** Instead of IndexedDB. */
  readonly store?: PageStore | undefined;
  /** Why the store did not open, where the caller has tried. */
  readonly storeFailure?: unknown;
  /** Receives the requests and responses between a light node and its endpoints. */
  readonly upstreamObserver?: UpstreamObserver | undefined;
  /** Makes the HTTP requests to the endpoints of a light node or a replica; the global `fetch` when left out. */
  readonly fetch?: typeof fetch | undefined;
  /** Clock of a light node; the system's when left out. */
  readonly clock?: Clock | undefined;
  /** Whether a light node should keep polling. When left out: while the page is visible and the device online. */
  readonly activity?: Activity | undefined;
  /** Receives the progress and the errors of a replica. */
  readonly replicaObserver?: ReplicaObserver | undefined;
  /** Receives every error that a method throws. */
  readonly onError?: ((error: unknown, method: string) => void) | undefined;
}
