import { describe, expect, it } from 'vitest';
import { endToEndArea } from '../../conformance/end-to-end.js';
import { estimateErrorsArea } from '../../conformance/estimate-errors.js';
import { runArea } from '../support/area-checks.js';

describe('estimates against recorded and generated data', () => {
  it('answers and refuses as the reference node', async () => {
    const { passed, problems } = await runArea(estimateErrorsArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(20);
  });

  it('gives gas limit, size and priority fee of transactions of blocks exactly, in the older form too', async () => {
    const { passed, problems } = await runArea(endToEndArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(20);
  });
});
