import { describe, expect, it } from 'vitest';
import { generalDictionary } from '../../src/fees/dictionary.js';
import { loadCalldataSizer, rememberingSizer } from '../../src/kernel/calldata-sizer.js';
import { LzssModel } from '../reference/lzss.js';
import { HostileInputs } from '../support/hostile-input.js';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

// Parts of the general dictionary, so that the plain model stays quick; the whole of it is used further down.
describe.each(['simd', 'scalar'] as const)('calldata kernel (%s) on hostile inputs', (build) => {
  it.each(SEEDS)('agrees with the plain model, seed %i', async (seed) => {
    const { bytes } = await generalDictionary();
    const start = (seed - 1) * 4000;
    const dictionary = bytes.subarray(start, start + 300 * seed);
    const [kernel, model] = [await loadCalldataSizer(dictionary, { build }), new LzssModel(dictionary)];
    const cached = rememberingSizer(kernel, { entries: 100 });
    const inputs = new HostileInputs(seed, dictionary);
    for (let i = 0; i < 600; i++) {
      const input = inputs.next(inputs.below(i % 20 === 0 ? 3000 : 500));
      const expected = model.lzssSize(input);
      if (kernel.lzssSize(input) !== expected || cached.lzssSize(input) !== expected) {
        expect.fail(
          `input ${i}: ${kernel.lzssSize(input)}, expected ${expected}, ${Buffer.from(input).toString('hex')}`,
        );
      }
    }
  });

  it('agrees with the plain model with the whole general dictionary', async () => {
    const { bytes } = await generalDictionary();
    const [kernel, model] = [await loadCalldataSizer(bytes, { build }), new LzssModel(bytes)];
    const inputs = new HostileInputs(99, bytes);
    for (let i = 0; i < 40; i++) {
      const input = inputs.next(inputs.below(500));
      expect(kernel.lzssSize(input), Buffer.from(input).toString('hex')).toBe(model.lzssSize(input));
    }
  });

  it('agrees beyond the window', async () => {
    const dictionary = (await generalDictionary()).bytes.subarray(0, 500);
    const [kernel, model] = [await loadCalldataSizer(dictionary, { build }), new LzssModel(dictionary)];
    const inputs = new HostileInputs(17, dictionary);
    for (let i = 0; i < 3; i++) {
      const input = inputs.next(16_384 + inputs.below(9000));
      expect(kernel.lzssSize(input)).toBe(model.lzssSize(input));
    }
  });
});
