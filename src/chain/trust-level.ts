/**
 * How far the data of a block can be trusted. `held`: executed by this node. The others are levels of a light node
 * (docs/spec/json-rpc.md 7). `settled` rests on the consensus of layer 1, `finalized` on the word of its endpoints.
 */
export type TrustLevel = 'held' | 'settled' | 'finalized' | 'sealed' | 'linked' | 'plain';

/** Trust levels of a head. */
export type HeadLevel = Extract<TrustLevel, 'plain' | 'linked' | 'sealed'>;

/** Trust levels of a block: a block below the head can be settled by layer-1 consensus. */
export type BlockLevel = Extract<TrustLevel, HeadLevel | 'settled'>;

/** Order of the trust levels; a higher number is more trust. */
export const TRUST_RANK: Readonly<Record<TrustLevel, number>> = {
  plain: 0,
  linked: 1,
  sealed: 2,
  finalized: 3,
  settled: 4,
  held: 5,
};
