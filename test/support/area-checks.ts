import { type Area, openMaterial } from '../../conformance/area.js';
import { messageOf } from '../../src/errors.js';
import type { KernelBuild } from '../../src/kernel/contracts.js';
import { FIXTURE_DIRECTORIES } from './fixtures.js';

/** What a conformance area finds in the fixtures: how many checks passed, and a line for each that did not. */
export async function runArea(area: Area, build: Exclude<KernelBuild, 'auto'> = 'simd') {
  const result = { passed: 0, skipped: 0, problems: [] as string[] };
  await area.run(openMaterial(FIXTURE_DIRECTORIES, build), {
    async check(name, body) {
      let problem: string | undefined;
      try {
        problem = await body();
      } catch (error) {
        problem = `threw ${messageOf(error)}`;
      }
      if (problem === undefined) result.passed++;
      else result.problems.push(`${name}: ${problem}`);
    },
    skip() {
      result.skipped++;
    },
    note() {},
  });
  return result;
}
