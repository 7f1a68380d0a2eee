import { describe, expect, it } from 'vitest';
import { loadCalldataSizer } from '../../src/kernel/calldata-sizer.js';
import { type CalldataSizer, MAX_DICTIONARY, MAX_LZSS_INPUT } from '../../src/kernel/contracts.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { LzssModel } from '../reference/lzss.js';
import { seededRandom } from '../support/random.js';

const BUILDS = ['simd', 'scalar'] as const;
const WINDOW = 16384;

/** Random inputs from a seed. */
class Random {
  readonly below: (limit: number) => number;
  constructor(seed: number) {
    this.below = seededRandom(seed);
  }
  bytes(length: number, alphabet?: readonly number[]): Uint8Array {
    return Uint8Array.from({ length }, () => (alphabet ? alphabet[this.below(alphabet.length)]! : this.below(256)));
  }
  /** Pieces of `sources` of up to 80 bytes, runs up to 300, and noise, up to a length. */
  patchwork(length: number, alphabet: readonly number[], ...sources: Uint8Array[]): Uint8Array {
    let built: Uint8Array = new Uint8Array(0);
    while (built.length < length) {
      const pool = [built, ...sources][this.below(sources.length + 1)]!;
      const start = this.below(pool.length + 1);
      const kind = this.below(8);
      if (kind === 0) built = concatBytes(built, new Uint8Array(this.below(300)).fill(alphabet[0]!));
      else if (kind < 4) built = concatBytes(built, this.bytes(this.below(9), alphabet));
      else built = concatBytes(built, pool.subarray(start, start + this.below(80)));
    }
    return built.slice(0, length);
  }
}

const ALPHABETS: Record<string, readonly number[]> = {
  'two letters': [0, 1],
  'zeros mostly': [0, 0, 0, 0, 0, 0, 0, 1, 2, 0x20],
  'reserved only': [0xfe, 0xff],
  'reserved mostly': [0xfe, 0xff, 0xff, 0],
  'some reserved': [0, 1, 2, 3, 0xfd, 0xfe, 0xff],
  'all bytes': Array.from({ length: 256 }, (_, byte) => byte),
};

/** The model, which remembers its answers for the second build: it takes a hundred times as long as the builds do. */
class RememberingModel extends LzssModel {
  private readonly sizes = new Map<string, number>();

  override lzssSize(data: Uint8Array): number {
    const key = bytesToHex(data);
    const size = this.sizes.get(key) ?? super.lzssSize(data);
    this.sizes.set(key, size);
    return size;
  }
}

/** By dictionary. */
const models = new Map<string, LzssModel>();

function modelOf(dictionary: Uint8Array): LzssModel {
  const key = bytesToHex(dictionary);
  const model = models.get(key) ?? new RememberingModel(dictionary);
  models.set(key, model);
  return model;
}

describe.each(BUILDS)('calldata kernel (%s) against the plain model', (build) => {
  async function pair(dictionary: Uint8Array): Promise<[CalldataSizer, LzssModel]> {
    return [await loadCalldataSizer(dictionary, { build }), modelOf(dictionary)];
  }

  function agree([sizer, model]: [CalldataSizer, LzssModel], input: Uint8Array, name = ''): void {
    const expected = model.lzssSize(input);
    const actual = sizer.lzssSize(input);
    if (actual !== expected)
      expect.fail(`${name}: ${actual}, expected ${expected}, ${Buffer.from(input).toString('hex')}`);
    expect(sizer.compressedTxSize(input)).toBe(model.compressedTxSize(input));
  }

  it.each(Object.keys(ALPHABETS))('agrees on random inputs of %s', async (name) => {
    const alphabet = ALPHABETS[name]!;
    const random = new Random(0x5eed + name.length);
    for (let round = 0; round < 6; round++) {
      const dictionary = random.bytes([0, 1, 2, 5, 60, 700][round % 6]!, round % 2 ? alphabet : [...alphabet, 7, 9]);
      const both = await pair(dictionary);
      for (let i = 0; i < 60; i++) {
        agree(both, random.bytes(random.below(i % 10 === 0 ? 700 : 60), alphabet), `noise ${round}/${i}`);
        agree(both, random.patchwork(random.below(400), alphabet, dictionary), `patchwork ${round}/${i}`);
      }
    }
  });

  it('agrees around the run threshold and the longest match', async () => {
    const both = await pair(
      concatBytes(Uint8Array.of(5, 0, 0, 0, 0, 6), new Uint8Array(300).fill(3), Uint8Array.of(1)),
    );
    for (const byte of [0, 3, 0x61, 0xfe, 0xff]) {
      for (const length of [158, 159, 160, 161, 162, 255, 256, 257, 258, 415, 416, 417, 511, 512, 513, 672]) {
        const run = new Uint8Array(length).fill(byte);
        agree(both, run);
        agree(both, concatBytes(Uint8Array.of(byte ^ 1), run, Uint8Array.of(9)));
        agree(both, concatBytes(Uint8Array.of(5, 0, 0, 0), run, Uint8Array.of(6, 0, 0), run));
      }
    }
  });

  it('agrees on matches that touch the borders of the dictionary', async () => {
    const random = new Random(77);
    for (const size of [4, 5, 6, 255, 256, 257, 1000]) {
      const dictionary = random.bytes(size, [1, 2, 3, 0xfe, 0xff]);
      const both = await pair(dictionary);
      for (let cut = 0; cut <= Math.min(size, 40); cut++) {
        const [head, tail] = [dictionary.subarray(0, size - cut), dictionary.subarray(cut)];
        for (const part of [head, tail]) {
          agree(both, part);
          agree(both, concatBytes(part, part));
          agree(both, concatBytes(Uint8Array.of(9, 8), part, Uint8Array.of(7), part));
        }
      }
    }
  });

  it('agrees when a dictionary lacks one reserved byte or both', async () => {
    const input = Uint8Array.of(0xfe, 0xff, 1, 2, 3, 0xff, 0xfe, 4, 0xff, 0xff, 0xfe);
    for (const dictionary of [[], [0xfe], [0xff], [1, 2, 3, 0xff, 0xfe], [0xfe, 4, 0xff]]) {
      agree(await pair(Uint8Array.from(dictionary)), input);
    }
  });

  it('agrees on copies from either side of the window border', async () => {
    const random = new Random(4711);
    const both = await pair(random.bytes(200));
    for (const length of [4, 5, 6, 40]) {
      for (const distance of [WINDOW - 1, WINDOW, WINDOW + 1]) {
        const start = random.bytes(distance);
        // A farther copy that is one byte longer, so that short and dynamic compete.
        const far = concatBytes(start.subarray(0, length + 1), random.bytes(1000), start);
        agree(both, concatBytes(start, start.subarray(0, length), random.bytes(8)), `${length} at ${distance}`);
        agree(both, concatBytes(far, start.subarray(0, length + 1), random.bytes(8)), `${length}+1 at ${distance}`);
      }
    }
  });

  it.each([WINDOW - 1, WINDOW, WINDOW + 1, 20_000])('agrees on mixed inputs of %i bytes', async (length) => {
    const random = new Random(length);
    const dictionary = random.bytes(300);
    const both = await pair(dictionary);
    const letters = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xfe, 0xff];
    agree(both, random.bytes(length, letters), 'twelve letters');
    agree(both, random.patchwork(length, letters, dictionary), 'patchwork');
    agree(both, random.patchwork(length, ALPHABETS['all bytes']!, dictionary), 'wide patchwork');
  });

  it('agrees when whole stretches of the suffix order have left the window', async () => {
    const random = new Random(1234);
    const both = await pair(Uint8Array.of(1, 2, 3));
    // Two letters a segment, so that it stands together in the order with thousands alike; the last ones quote the first.
    const segments = [0x10, 0x50, 0x30, 0x70].map((letter) => random.bytes(WINDOW, [letter, letter + 1]));
    for (const later of [segments[2]!, segments[3]!]) {
      for (let at = 0; at + 300 < WINDOW; at += 100 + random.below(200)) {
        const from = random.below(WINDOW - 12);
        later.set(segments[random.below(2)]!.subarray(from, from + random.below(12)), at);
      }
    }
    agree(both, concatBytes(...segments));
  });

  it('agrees after its count of positions has started again', async () => {
    const random = new Random(8);
    const both = await pair(random.bytes(100));
    const input = random.patchwork(600, ALPHABETS['some reserved']!);
    both[0].lzssSize(input);
    // Positions are counted over all inputs up to 2^30.
    const zeros = new Uint8Array(WINDOW);
    for (let i = 0; i < 2 ** 30 / WINDOW; i++) both[0].lzssSize(zeros);
    for (let i = 0; i < 3; i++) agree(both, input, 'after');
  });

  it('agrees where chains run out of steps and the order takes over', async () => {
    const both = await pair(Uint8Array.of(1, 2, 3));
    const words = new Uint8Array(6000);
    for (let i = 31; i < words.length; i += 32) words[i] = (i >> 5) % 251;
    agree(both, words, 'words');
    agree(both, new Random(3).bytes(4000, [0xfe, 0xff]), 'reserved');
    agree(both, new Random(4).bytes(4000, [0, 1]), 'bits');
  });

  it('gives the same size whatever was sized before', async () => {
    const random = new Random(99);
    const dictionary = random.bytes(500, [0, 1, 2, 3]);
    const [sizer] = await pair(dictionary);
    const inputs = [0, 1, 50, 5000, 16384, 16385, 100_000, 3].map((length) =>
      random.patchwork(Math.min(length, 4000), [0, 1, 2, 3, 0xff], dictionary),
    );
    inputs.push(random.bytes(MAX_LZSS_INPUT));
    const first = inputs.map((input) => sizer.lzssSize(input));
    const fresh = await Promise.all(
      inputs.map(async (input) => (await loadCalldataSizer(dictionary, { build })).lzssSize(input)),
    );
    expect(first).toEqual(fresh);
    expect(inputs.map((input) => sizer.lzssSize(input)).reverse()).toEqual([...fresh].reverse());
  });

  it('keeps sizers of different dictionaries apart', async () => {
    const [one, two] = [new Random(1).bytes(300), new Random(2).bytes(300)];
    const [a, b] = await Promise.all([one, two].map((dictionary) => loadCalldataSizer(dictionary, { build })));
    const expected = [
      [new LzssModel(one).lzssSize(one), new LzssModel(one).lzssSize(two)],
      [new LzssModel(two).lzssSize(one), new LzssModel(two).lzssSize(two)],
    ];
    expect([a!, b!].map((sizer) => [sizer.lzssSize(one), sizer.lzssSize(two)])).toEqual(expected);
  });

  it('takes inputs and dictionaries up to their limits and no further', async () => {
    const sizer = await loadCalldataSizer(new Uint8Array(MAX_DICTIONARY), { build });
    // A literal and 255 bytes, then 1023 references of 256.
    expect(sizer.lzssSize(new Uint8Array(MAX_LZSS_INPUT))).toBe(3 + Math.ceil((8 + 1024 * 30) / 8));
    for (const method of ['lzssSize', 'compressedTxSize'] as const) {
      expect(() => sizer[method](new Uint8Array(MAX_LZSS_INPUT + 1))).toThrow(
        expect.objectContaining({
          code: 'CALLDATA_TOO_LARGE',
          details: { length: MAX_LZSS_INPUT + 1, limit: MAX_LZSS_INPUT },
        }),
      );
    }
    await expect(loadCalldataSizer(new Uint8Array(MAX_DICTIONARY + 1), { build })).rejects.toMatchObject({
      code: 'OUT_OF_RANGE',
    });
  });

  it('says so when its module does not load', async () => {
    await expect(loadCalldataSizer(new Uint8Array(), { wasm: Uint8Array.of(1, 2, 3) })).rejects.toMatchObject({
      code: 'KERNEL_UNAVAILABLE',
      details: { kernel: 'calldata' },
    });
  });
});
