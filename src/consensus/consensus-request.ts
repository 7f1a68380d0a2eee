import type { LayerOneBlock } from './layer-one-block.js';
import type { BeaconNetwork } from './networks/beacon-network.js';
import type { ConsensusRefusal } from './rules/refusal.js';

/**
 * Answers of beacon nodes, in the order in which they are applied: JSON, or bytes of SSZ. From a `state`, those that are not newer
 * are passed over.
 */
export interface ConsensusAnswer {
  /** `updates`: the whole answer, a list. */
  readonly kind: 'updates' | 'finality_update' | 'optimistic_update';
  readonly answer: unknown;
}

export interface ConsensusRequest {
  /** Chain id of layer 1 (1, 11155111, 560048), or a beacon chain of your own. */
  readonly network: number | BeaconNetwork;
  /** Root of a trusted beacon block (32 bytes) with the answer for it, or the `state` of an earlier verdict, which is believed. */
  readonly from: { readonly root: Uint8Array; readonly bootstrap: unknown } | { readonly state: Uint8Array };
  readonly answers: readonly ConsensusAnswer[];
  /** Unix time in milliseconds: nothing may be signed more than one slot after it. The clock's, if left out. */
  readonly now?: number;
  /** How old the trusted block, or the final block of `state`, may be at `now`: 14 days, if left out. */
  readonly maxAgeMs?: number;
}

export interface VerifiedConsensus {
  readonly verified: true;
  /** The newest layer-1 block that is proved final. */
  readonly finalized: LayerOneBlock;
  /** How many members of the committee signed each update that was applied, in order. */
  readonly participants: readonly number[];
  /** For the next request: about 51 KB. */
  readonly state: Uint8Array;
}

export type ConsensusVerdict = VerifiedConsensus | ConsensusRefusal;
