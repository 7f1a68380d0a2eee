import type { TrustLevel } from './chain.js';

/** Order of the trust levels; a higher number is more trust. */
export const TRUST_RANK: Readonly<Record<TrustLevel, number>> = {
  plain: 0,
  linked: 1,
  sealed: 2,
  finalized: 3,
  settled: 4,
  held: 5,
};
