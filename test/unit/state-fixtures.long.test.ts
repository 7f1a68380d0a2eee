import { describe, expect, it } from 'vitest';
import { STATE_AREAS } from '../../conformance/state.js';
import { runArea } from '../support/area-checks.js';

/** Checks that each area has to make at least; a change of format must not empty one quietly. */
const LEAST: Record<string, number> = {
  'state/state-root-vectors': 10,
  'state/generated-ops': 2 * (822 + 146),
  'state/generated-blocks': 2 * (12 + 2 * 78 + 2 * 36),
  'state/trielog': 2,
  'state/getproof items': 4,
};

describe('zk state against recorded and generated data', () => {
  it.each(STATE_AREAS.map((area) => [area.name, area] as const))('%s', async (name, area) => {
    const { passed, skipped, problems } = await runArea(area);
    expect([problems, skipped]).toEqual([[], 0]);
    expect(passed).toBeGreaterThanOrEqual(LEAST[name]!);
  });
});
