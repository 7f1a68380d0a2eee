import type { TrustLevel } from './chain.js';

/** Levels of trust in their order: a higher one is more. */
export const TRUST_RANK: Readonly<Record<TrustLevel, number>> = {
  plain: 0,
  linked: 1,
  sealed: 2,
  finalized: 3,
  held: 4,
};
