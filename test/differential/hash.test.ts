import { describe, expect, test } from 'vitest';
import { DIGEST_BYTES, type HashScheme } from '../../src/kernel/contracts.js';
import { type HashKernel, loadHashKernel } from '../../src/kernel/hasher.js';
import { unpack } from '../../src/kernel/instantiate.js';
import { wasm as trieScalar } from '../../src/kernel/wasm/trie.scalar.generated.js';
import { wasm as trieSimd } from '../../src/kernel/wasm/trie.simd.generated.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, equalBytes } from '../../src/primitives/bytes.js';
import { BLS12_377_MODULUS, KOALABEAR_MODULUS } from '../reference/field.js';
import { referenceHasher } from '../reference/hasher.js';
import { poseidon2Permute } from '../reference/poseidon2.js';
import { seededRandom } from '../support/random.js';

const KERNELS = ['simd', 'scalar', 'tries, simd', 'tries, scalar'] as const;
const SCHEMES = ['mimc', 'poseidon2'] as const;
const WORD = { mimc: { bytes: 32, modulus: BLS12_377_MODULUS }, poseidon2: { bytes: 4, modulus: KOALABEAR_MODULUS } };
const RADIX_BITS = { mimc: 261, poseidon2: 32 };
/** Bytes of the kernel's input region (assembly/memory.ts): longer input goes in pieces. */
const REGION = 65_536;

/** The module of hashes, and that of tries, which has the same exports. */
const kernels: Record<(typeof KERNELS)[number], HashKernel> = {
  simd: await loadHashKernel({ build: 'simd' }),
  scalar: await loadHashKernel({ build: 'scalar' }),
  'tries, simd': await loadHashKernel({ wasm: unpack(trieSimd) }),
  'tries, scalar': await loadHashKernel({ wasm: unpack(trieScalar) }),
};

/**
 * Field words at the edges and at random. Edges are runs of zero and one bits, and the words whose Montgomery form in the
 * kernel has such runs.
 */
class Words {
  readonly #below: (limit: number) => number;
  readonly #edges: bigint[];

  constructor(
    readonly scheme: HashScheme,
    seed: number,
  ) {
    const { modulus } = WORD[scheme];
    this.#below = seededRandom(seed);
    const bits = Array.from({ length: modulus.toString(2).length }, (_, i) => 1n << BigInt(i));
    const runs = bits.flatMap((bit) => [bit - 1n, bit, modulus - bit]);
    const plain = runs.filter((value) => value < modulus);
    const fromMontgomery = power((modulus + 1n) / 2n, RADIX_BITS[scheme], modulus);
    this.#edges = [...plain, ...plain.map((value) => (value * fromMontgomery) % modulus)];
  }

  next(): Uint8Array {
    const { bytes, modulus } = WORD[this.scheme];
    const edge = this.#edges[this.#below(this.#edges.length)]!;
    const random = bytesToBigInt(Uint8Array.from({ length: bytes + 8 }, () => this.#below(256))) % modulus;
    return bigIntToBytes(this.#below(3) === 0 ? edge : random, bytes);
  }

  input(length: number): Uint8Array {
    const { bytes } = WORD[this.scheme];
    return concatBytes(...Array.from({ length: length / bytes }, () => this.next()));
  }
}

function digestsOf(scheme: HashScheme, inputs: Uint8Array, inputBytes: number): Uint8Array {
  return referenceHasher(scheme).hashMany(inputs, inputBytes);
}

describe.each(KERNELS)('%s against the twin', (kernel) => {
  describe.each(SCHEMES)('%s', (scheme) => {
    const hasher = kernels[kernel][scheme];
    const twin = referenceHasher(scheme);
    const { bytes: wordBytes, modulus } = WORD[scheme];

    test('one compression, random and edge words', () => {
      const words = new Words(scheme, 1);
      for (let i = 0; i < 1500; i++) {
        const [state, block] = [words.input(32), words.input(32)];
        expect(hasher.compress(state, block)).toEqual(twin.compress(state, block));
      }
    });

    test('every length up to many blocks', () => {
      const words = new Words(scheme, 2);
      for (let length = 0; length <= 40 * wordBytes; length += wordBytes) {
        const input = words.input(length);
        expect(hasher.hash(input), `${length} bytes`).toEqual(twin.hash(input));
      }
    });

    test('one to nine inputs at once, of several lengths', () => {
      const words = new Words(scheme, 3);
      const lengths = scheme === 'mimc' ? [32, 64, 128, 224] : [4, 20, 32, 40, 60, 64, 96, 192, 320];
      for (const length of lengths) {
        for (let count = 1; count <= 9; count++) {
          const inputs = words.input(length * count);
          const digests = hasher.hashMany(inputs, length);
          expect(digests, `${count} of ${length} bytes`).toEqual(digestsOf(scheme, inputs, length));
        }
      }
    });

    test('one to nine paths of several heights, up to position 2^53', () => {
      const words = new Words(scheme, 9);
      const some = [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 40 - 2, 2 ** 53 - 1, 0x15_5555_5555_5555, 5, 6];
      for (const [count, levels] of [...some.map((_, i) => [i + 1, 3]), [0, 2], [1, 0], [2, 53], [1, 40]] as const) {
        const positions = some.slice(count === 2 ? 5 : 0).slice(0, count);
        const [leaves, siblings] = [words.input(32 * count), words.input(32 * levels * count)];
        const expected = twin.climb(leaves, positions, siblings);
        expect(hasher.climb(leaves, positions, siblings), `${count} of ${levels}`).toEqual(expected);
      }
    });

    test('a path is refused for a length or a word', () => {
      const words = new Words(scheme, 10);
      const [leaf, siblings] = [words.input(32), words.input(96)];
      const badLength = expect.objectContaining({ code: 'HASH_INPUT_LENGTH' });
      for (const climber of [hasher, twin]) {
        expect(() => climber.climb(leaf.subarray(1), [0], siblings)).toThrow(badLength);
        expect(() => climber.climb(leaf, [0, 1], siblings)).toThrow(badLength);
        expect(() => climber.climb(leaf, [0], siblings.subarray(1))).toThrow(badLength);
        expect(() => climber.climb(leaf, [0], words.input(32 * 54))).toThrow(badLength);
      }
      const refused = expect.objectContaining({ code: 'HASH_INPUT_NOT_CANONICAL' });
      for (let at = 0; at < 96; at += wordBytes) {
        const damaged = Uint8Array.from(siblings);
        damaged.set(bigIntToBytes(modulus, wordBytes), at);
        expect(() => hasher.climb(leaf, [5], damaged), `word at ${at}`).toThrow(refused);
        if (at < 32) expect(() => hasher.climb(damaged.subarray(0, 32), [5], siblings)).toThrow(refused);
      }
    });

    test('a word that is not below the modulus is refused wherever it stands', () => {
      const words = new Words(scheme, 4);
      const refused = expect.objectContaining({ code: 'HASH_INPUT_NOT_CANONICAL' });
      const tooLarge = [modulus, modulus + 1n, (1n << BigInt(8 * wordBytes)) - 1n];
      if (scheme === 'mimc') for (let bit = 0n; bit < 253n; bit++) tooLarge.push(modulus + (1n << bit));
      for (const [i, value] of tooLarge.entries()) {
        const input = words.input(192);
        const at = wordBytes * (i % (192 / wordBytes));
        for (const position of i < 3 ? positions(192, wordBytes) : [at]) {
          const damaged = Uint8Array.from(input);
          damaged.set(bigIntToBytes(value, wordBytes), position);
          expect(() => hasher.hash(damaged), `word at ${position}`).toThrow(refused);
          expect(() => hasher.hashMany(damaged, 64), `word at ${position}`).toThrow(refused);
          if (position >= 64) continue;
          const [state, block] = [damaged.subarray(0, 32), damaged.subarray(32, 64)];
          expect(() => hasher.compress(state, block), `word at ${position}`).toThrow(refused);
        }
        expect(hasher.hash(input)).toEqual(twin.hash(input));
      }
    });

    test('inputs around the size of the region', () => {
      const word = new Words(scheme, 5).input(4 * DIGEST_BYTES);
      const lengths = [-32, -wordBytes, 0, wordBytes, 32, 32 + wordBytes, REGION, REGION + wordBytes];
      for (const beyond of lengths) {
        const input = new Uint8Array(REGION + beyond);
        for (let at = 0; at < input.length; at += word.length) input.set(word.subarray(0, input.length - at), at);
        // The twin takes seconds for this many blocks: the other build, by compressions one at a time, is the judge.
        expect(hasher.hash(input), `${beyond} beyond`).toEqual(blockByBlock(scheme, input));
        if (beyond === 0 || beyond === REGION) {
          const digest = hasher.hash(input);
          expect(hasher.hashMany(concatBytes(input, input), input.length)).toEqual(concatBytes(digest, digest));
        }
        const late = Uint8Array.from(input);
        late.set(bigIntToBytes(modulus, wordBytes), late.length - wordBytes);
        expect(() => hasher.hash(late)).toThrow(expect.objectContaining({ code: 'HASH_INPUT_NOT_CANONICAL' }));
      }
    });

    test('more inputs than the regions hold', () => {
      const words = new Words(scheme, 6);
      for (const [length, count] of [
        [32, 2049],
        [wordBytes, 1027],
        [192, 343],
      ] as const) {
        const some = words.input(length * 16);
        const inputs = new Uint8Array(length * count);
        for (let at = 0; at < inputs.length; at += some.length) inputs.set(some.subarray(0, inputs.length - at), at);
        const expected = digestsOf(scheme, some, length);
        const digests = hasher.hashMany(inputs, length);
        expect(digests.length).toBe(count * DIGEST_BYTES);
        for (let i = 0; i < count; i++) {
          const wanted = expected.subarray((i % 16) * DIGEST_BYTES, ((i % 16) + 1) * DIGEST_BYTES);
          const got = digests.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES);
          if (!equalBytes(got, wanted)) throw new Error(`digest ${i} of ${count} of ${length} bytes`);
        }
      }
    });

    test('a refused input leaves nothing behind', () => {
      const words = new Words(scheme, 7);
      const input = words.input(128);
      const long = new Uint8Array(REGION + 64);
      long.fill(0xff, REGION);
      expect(() => hasher.hash(long)).toThrow();
      expect(hasher.hash(input)).toEqual(twin.hash(input));
    });
  });

  test('the bare permutation', () => {
    const words = new Words('poseidon2', 8);
    for (let i = 0; i < 300; i++) {
      const input = Array.from({ length: 16 }, () => words.next());
      const expected = poseidon2Permute(input.map(bytesToBigInt));
      expect(kernels[kernel].permutePoseidon2(concatBytes(...input))).toEqual(
        concatBytes(...expected.map((word) => bigIntToBytes(word, 4))),
      );
    }
    const refused = expect.objectContaining({ code: 'HASH_INPUT_NOT_CANONICAL' });
    expect(() => kernels[kernel].permutePoseidon2(new Uint8Array(64).fill(0xff))).toThrow(refused);
    expect(() => kernels[kernel].permutePoseidon2(new Uint8Array(60))).toThrow(
      expect.objectContaining({ code: 'HASH_INPUT_LENGTH' }),
    );
  });
});

function power(base: bigint, exponent: number, modulus: bigint): bigint {
  let result = 1n;
  for (let i = 0; i < exponent; i++) result = (result * base) % modulus;
  return result;
}

function positions(length: number, step: number): number[] {
  return Array.from({ length: length / step }, (_, i) => i * step);
}

/** Whole blocks one at a time through `compress`, the last part filled up in front (docs/spec/hashing.md 2.6). */
function blockByBlock(scheme: HashScheme, input: Uint8Array): Uint8Array {
  const judge = kernels.scalar[scheme];
  let state: Uint8Array = new Uint8Array(DIGEST_BYTES);
  for (let at = 0; at < input.length; at += DIGEST_BYTES) {
    const part = input.subarray(at, at + DIGEST_BYTES);
    const block = new Uint8Array(DIGEST_BYTES);
    block.set(part, DIGEST_BYTES - part.length);
    state = judge.compress(state, block);
  }
  return state;
}
