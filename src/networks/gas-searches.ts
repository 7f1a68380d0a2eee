// A module of its own: what a page loads first checks options, and needs nothing else of a network profile.

/**
 * The searches for the gas limit of an estimate: `besu` and `geth` try the same limits as these clients, so their answers
 * agree; `exact` finds the smallest limit that succeeds.
 */
export const GAS_SEARCHES = ['besu', 'geth', 'exact'] as const;

/** A gas search by its name. */
export type GasSearch = (typeof GAS_SEARCHES)[number];
