import type { LightClientHeader } from '../containers/headers.js';
import type { SyncCommittee } from '../containers/layouts.js';

/** What a light client knows. It is never changed in place. */
export interface LightClientStore {
  /** The newest header that is proved final. */
  readonly finalized: LightClientHeader;
  /** The newest header with a signature of two thirds. It only says how old `finalized` is: nothing may rest on it. */
  readonly optimistic: LightClientHeader;
  /** The committee of the period of `finalized`. */
  readonly current: SyncCommittee;
  /** The committee of the period after, once it is known. */
  readonly next?: SyncCommittee | undefined;
  /** Two objects with valid signatures contradict each other: the store must not be used any more. */
  readonly contradiction?: Contradiction | undefined;
}

export interface Contradiction {
  /** Another finalized header of the same slot, or another next committee of the same period. */
  readonly reason: 'EQUIVOCATION' | 'NEXT_COMMITTEE_DIFFERS';
  /** Attested slot of the second object. */
  readonly slot: number;
}
