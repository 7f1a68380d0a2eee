import { describe, expect, it } from 'vitest';
import { trieKernelArea } from '../../conformance/trie-kernel.js';
import { runArea } from '../support/area-checks.js';

describe('trie kernel against generated operations', () => {
  it.each(['simd', 'scalar'] as const)('%s', async (build) => {
    const { passed, skipped, problems } = await runArea(trieKernelArea, build);
    expect([problems, skipped]).toEqual([[], 0]);
    // 822 steps and 146 proofs, in two schemes, whole and leaf by leaf.
    expect(passed).toBeGreaterThanOrEqual(2 * 2 * (822 + 146));
  });
});
