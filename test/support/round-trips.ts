/**
 * Options of a test that counts round trips. On a machine that stalls there are more: the runs that find what is read use up their second
 * (PREFETCH_MS), so that the rest is fetched step by step, and a head that is seconds old is asked for again.
 */
export const ROUND_TRIPS = { retry: 2 } as const;
