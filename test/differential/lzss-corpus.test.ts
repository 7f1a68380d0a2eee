import { describe, expect, it } from 'vitest';
import { COMPRESSION_AREAS } from '../../conformance/compression.js';
import { runArea } from '../support/area-checks.js';

// Sizes and parses as recorded from the Go reference: real, synthetic, edge and large inputs, three dictionaries.
describe.each(['simd', 'scalar'] as const)('recorded sizes (%s)', (build) => {
  it.each(COMPRESSION_AREAS)('agrees with $name', async (area) => {
    const { passed, problems } = await runArea(area, build);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(0);
  });
});
