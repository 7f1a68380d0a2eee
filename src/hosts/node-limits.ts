/** Time a single request may take where options do not say, ms. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Jump destinations and calls that the executions of one request may pass through where options do not say. */
export const STEP_BUDGET = 5_000_000;
