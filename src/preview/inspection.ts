import type { RunBudget } from '../evm/run-budget.js';
import type { Grow } from '../evm/tracing/tracer.js';
import type { Probes } from './probes.js';

/** What the inspection of a call works with. A tree may be as large as an answer: it pauses, and counts what it adds. */
export interface Inspection {
  readonly probes: Probes;
  readonly pause: RunBudget['pause'];
  readonly grow: Grow;
}

/** JSON of a transfer or an approval, about. */
export const ENTRY_CHARACTERS = 300;
