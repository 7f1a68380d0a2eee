import { describe, expect, it } from 'vitest';
import { loadCalldataSizer, packedSize, rememberingSizer } from '../../src/kernel/calldata-sizer.js';
import { type CalldataSizer, MAX_LZSS_INPUT } from '../../src/kernel/contracts.js';
import { seededRandom } from '../support/random.js';

/** Says the first four bytes as a number, so that two inputs taken for one another show; counts how often it is asked. */
class CountingSizer implements CalldataSizer {
  asked = 0;
  lzssSize = (input: Uint8Array): number => {
    this.asked++;
    return new DataView(input.buffer, input.byteOffset).getUint32(0);
  };
  compressedTxSize = (input: Uint8Array): number => packedSize(this.lzssSize(input), input.length);
}

function numbered(value: number, length = 4): Uint8Array {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

describe('a sizer with a cache', () => {
  it('computes once for the same bytes, whichever size is requested', () => {
    const inner = new CountingSizer();
    const sizer = rememberingSizer(inner);
    expect(sizer.lzssSize(numbered(40, 100))).toBe(40);
    expect(sizer.lzssSize(numbered(40, 100))).toBe(40);
    expect(sizer.compressedTxSize(numbered(40, 100))).toBe(packedSize(40, 100));
    expect(inner.asked).toBe(1);
    expect(sizer.lzssSize(numbered(40, 101))).toBe(40);
    expect(inner.asked).toBe(2);
  });

  it('keeps its own copy of an input', () => {
    const inner = new CountingSizer();
    const sizer = rememberingSizer(inner);
    const input = numbered(1);
    sizer.lzssSize(input);
    input[3] = 2;
    expect(sizer.lzssSize(input)).toBe(2);
    expect(sizer.lzssSize(numbered(1))).toBe(1);
    expect(inner.asked).toBe(2);
  });

  it('keeps the newer of two inputs with one hash, and no bytes of the other', () => {
    const inner = new CountingSizer();
    const sizer = rememberingSizer(inner, { bytes: 8 });
    // Found by a search: FNV-1a of these four bytes differs only in the two bits that are cut off.
    const [older, newer] = [0x10ea0da4, 0xae699fa9];
    for (const value of [older, newer, 3]) expect(sizer.lzssSize(numbered(value))).toBe(value);
    for (const value of [newer, 3]) expect(sizer.lzssSize(numbered(value))).toBe(value);
    expect(inner.asked).toBe(3);
    expect(sizer.lzssSize(numbered(older))).toBe(older);
    expect(inner.asked).toBe(4);
  });

  // 300 000 inputs under 2^30 hashes: some forty pairs share one.
  it('never confuses inputs', () => {
    const sizer = rememberingSizer(new CountingSizer(), { entries: 300_000 });
    const random = seededRandom(12);
    const values = Array.from({ length: 300_000 }, () => random(2 ** 32));
    let wrong = 0;
    for (const value of [...values, ...values]) if (sizer.lzssSize(numbered(value)) !== value) wrong++;
    expect(wrong).toBe(0);
  });

  it('removes the least recently used input above the maximum number', () => {
    const inner = new CountingSizer();
    const sizer = rememberingSizer(inner, { entries: 3 });
    for (const value of [1, 2, 3, 1, 4]) sizer.lzssSize(numbered(value));
    expect(inner.asked).toBe(4);
    for (const value of [1, 3, 4]) sizer.lzssSize(numbered(value));
    expect(inner.asked).toBe(4);
    sizer.lzssSize(numbered(2));
    expect(inner.asked).toBe(5);
  });

  it('removes inputs above the maximum bytes, and does not cache an input above it', () => {
    const inner = new CountingSizer();
    const sizer = rememberingSizer(inner, { bytes: 100 });
    for (const value of [1, 2, 3]) sizer.lzssSize(numbered(value, 50));
    for (const value of [3, 2]) sizer.lzssSize(numbered(value, 50));
    expect(inner.asked).toBe(3);
    sizer.lzssSize(numbered(1, 50));
    expect(inner.asked).toBe(4);
    for (let i = 0; i < 2; i++) sizer.lzssSize(numbered(9, 101));
    expect(inner.asked).toBe(6);
    sizer.lzssSize(numbered(1, 50));
    expect(inner.asked).toBe(6);
    sizer.lzssSize(numbered(7, 100));
    sizer.lzssSize(numbered(7, 100));
    expect(inner.asked).toBe(7);
  });

  it('caches nothing if no input may be kept', () => {
    const inner = new CountingSizer();
    const sizer = rememberingSizer(inner, { entries: 0 });
    for (let i = 0; i < 2; i++) expect(sizer.lzssSize(numbered(7))).toBe(7);
    expect(inner.asked).toBe(2);
    const one = rememberingSizer(inner, { entries: 1 });
    for (let i = 0; i < 2; i++) expect(one.lzssSize(numbered(7))).toBe(7);
    expect(inner.asked).toBe(3);
  });

  it('passes an error on each time', async () => {
    const sizer = rememberingSizer(await loadCalldataSizer(new Uint8Array()), { bytes: 2 ** 30 });
    const input = new Uint8Array(MAX_LZSS_INPUT + 1);
    for (let i = 0; i < 2; i++) {
      expect(() => sizer.compressedTxSize(input)).toThrow(expect.objectContaining({ code: 'CALLDATA_TOO_LARGE' }));
    }
  });

  it('gives the same sizes as the kernel', async () => {
    const random = seededRandom(3);
    const dictionary = Uint8Array.from({ length: 500 }, () => random(4));
    const kernel = await loadCalldataSizer(dictionary);
    const sizer = rememberingSizer(kernel, { entries: 50 });
    const inputs = Array.from({ length: 100 }, () => Uint8Array.from({ length: random(300) }, () => random(4)));
    for (let i = 0; i < 2000; i++) {
      const input = inputs[random(inputs.length)]!;
      expect(sizer.lzssSize(input)).toBe(kernel.lzssSize(input));
      expect(sizer.compressedTxSize(input)).toBe(kernel.compressedTxSize(input));
    }
  });
});
