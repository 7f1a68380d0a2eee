import { describe, expect, it } from 'vitest';
import type { Area } from '../../conformance/area.js';
import { generatedTracesArea } from '../../conformance/generated-traces.js';
import { kernelTracesArea } from '../../conformance/kernel-traces.js';
import { TRACE_AREAS } from '../../conformance/traces.js';
import { runArea } from '../support/area-checks.js';

/** The long recorded chain takes most of the time; `npm run conformance` runs it whole. */
const LONG = /mimc-44(?!54961)|mimc-devnet-58|mimc-prover-block/;

/** The same area without the long files. */
function shortened(area: Area): Area {
  return { ...area, files: (material) => area.files(material).filter((file) => !LONG.test(file)) };
}

describe('state traces against recorded and generated data', () => {
  it.each([generatedTracesArea, kernelTracesArea, ...TRACE_AREAS].map((area) => [area.name, shortened(area)] as const))(
    '%s',
    async (_, area) => {
      const { passed, skipped, problems } = await runArea(area);
      expect([problems, skipped]).toEqual([[], 0]);
      expect(passed).toBeGreaterThanOrEqual(area.name === 'state/traces' ? 14 : 150);
    },
    120_000,
  );
});
