import { expect, test } from 'vitest';
import { type FrameBytes, frameBytes } from '../../src/evm/tracing/call-tracer.js';
import type { Hex } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

const below = seededRandom(5);
const LENGTHS = [1, 20, 68, 511, 512, 513, 3_000, 32_767, 32_768, 40_000, 20];

/** Adds bytes of many lengths. @returns ends it, and compares the texts with those of Node */
function filled(bytes: FrameBytes): () => void {
  const pairs = LENGTHS.map((length) => {
    const data = Uint8Array.from({ length: length + 2 }, () => below(256));
    const one: { input: Hex } = { input: '0x' };
    bytes.add(one, 'input', data, 1, length);
    const expected = `0x${Buffer.from(data.subarray(1, length + 1)).toString('hex')}`;
    // They are read at once: the memory of the kernel does not stay as it is.
    data.fill(0);
    return { one, expected };
  });
  return () => {
    bytes.end();
    for (const { one, expected } of pairs) expect(one.input).toBe(expected);
  };
}

test('two traces that go on at once do not mix their texts, nor does the one after them', () => {
  // Leaves a page for the next one.
  filled(frameBytes())();
  for (const end of [frameBytes(), frameBytes(), frameBytes()].map(filled)) end();
  filled(frameBytes())();
});
