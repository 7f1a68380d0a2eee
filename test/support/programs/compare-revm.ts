import { expect } from 'vitest';
import type { Anvil } from '../anvil.js';
import { asFarAs, show } from './outcome.js';
import { runPlumbline } from './plumbline-engine.js';
import { runRevm } from './revm-engine.js';
import type { Scenario } from './scenario.js';

/** Scenarios in a batch: so many traces are held at once. */
const BATCH = 100;

/** How often scenarios ended in each way. */
export type Ends = Map<string, number>;

/** How many were run. */
export function programs(ends: Ends): number {
  return [...ends.values()].reduce((sum, count) => sum + count, 0);
}

/** Runs scenarios of one fork with revm and with the library. @throws when an outcome differs, with its name */
export async function compareWithRevm(anvil: Anvil, scenarios: Iterable<Scenario>, ends: Ends): Promise<void> {
  let batch: Scenario[] = [];
  const flush = async () => {
    const expected = await runRevm(anvil, batch);
    for (const [i, one] of batch.entries()) {
      const { outcome } = await runPlumbline(one);
      expect(`${one.name} ${show(asFarAs(expected[i]!, outcome))}`).toBe(`${one.name} ${show(expected[i])}`);
      const end = 'refused' in outcome ? 'refused' : outcome.ended;
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    batch = [];
  };
  for (const one of scenarios) {
    batch.push(one);
    if (batch.length === BATCH) await flush();
  }
  if (batch.length > 0) await flush();
}
