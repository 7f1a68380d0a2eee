import type { Hardfork } from '../../../src/networks/network.js';
import { type Scenario, type ScenarioOptions, scenario } from './scenario.js';

/** The forks from London on that change execution. */
export const COMPARED_FORKS = ['london', 'paris', 'shanghai', 'cancun', 'prague', 'osaka'] as const;

/** `PLUMBLINE_SEED`; else a fixed one, so that a run can be repeated. */
export const FIRST_SEED = Number(process.env.PLUMBLINE_SEED ?? 1);

/** So many scenarios; `PLUMBLINE_COUNT` replaces the number. */
export function* scenarios(hardfork: Hardfork, count: number, options: ScenarioOptions = {}): Iterable<Scenario> {
  const runs = Number(process.env.PLUMBLINE_COUNT ?? count);
  console.log(`${hardfork}: ${runs} programs from PLUMBLINE_SEED=${FIRST_SEED}`);
  for (let i = 0; i < runs; i++) yield scenario(hardfork, FIRST_SEED + i, options);
}
