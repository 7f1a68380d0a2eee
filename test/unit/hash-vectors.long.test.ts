import { describe, expect, test } from 'vitest';
import { HASHING_AREAS } from '../../conformance/hashing.js';
import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import { loadHashKernel } from '../../src/kernel/hasher.js';
import { bigIntToBytes, concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { referenceHasher } from '../reference/hasher.js';
import { runArea } from '../support/area-checks.js';

const integer = (value: number) => bigIntToBytes(BigInt(value), 32);
const blocks0to15 = concatBytes(...Array.from({ length: 16 }, (_, i) => integer(i)));
const zeros = (length: number) => new Uint8Array(length);

/**
 * Published digests. besu-native: LibGnarkTest of hyperledger/besu-native, run by the layer that Shomei uses; Shomei:
 * HashProviderTest of Consensys/shomei 2.5.0 and 3.x; linea-monorepo: smt and account key vectors of the prover.
 */
const VECTORS: Record<HashScheme, [name: string, input: Uint8Array, digest: string][]> = {
  mimc: [
    ['empty input', zeros(0), '00'.repeat(32)],
    ['besu-native, 32 zero bytes', zeros(32), '0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17'],
    ['besu-native, integer 1', integer(1), '0d962bab9f4e4213383f25abc12d6ee78855fff118c94ca4352032b802ef8b87'],
    ['Shomei, 0 to 15', blocks0to15, '12900ae41a010e54e3b1ed95efa39071d357ff642aeedd30a2c4e13250409662'],
    ['linea-monorepo, empty node', zeros(64), '022efa6a7d3f639a3831916b27daaa5cbcaf1165e47f04ffbe1e707e30a32469'],
  ],
  poseidon2: [
    ['empty input', zeros(0), '00'.repeat(32)],
    ['besu-native, 32 zero bytes', zeros(32), '0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc'],
    ['besu-native, integer 1', integer(1), '532d760a239087f458d23ee549db4a5771815a387616ec5f31be90fd690886a5'],
    ['Shomei, 0 to 15', blocks0to15, '254c857251520cbd40981dd74c2b3ee345acf16978e701324181926236278aaa'],
    ['linea-monorepo, empty node', zeros(64), '225471e76dca970375f18cc4222539bf1893f40b2c28b7d62119af207704c426'],
  ],
};

const BUILDS = ['simd', 'scalar', 'reference'] as const;

async function hasherOf(build: (typeof BUILDS)[number], scheme: HashScheme): Promise<Hasher> {
  return build === 'reference' ? referenceHasher(scheme) : (await loadHashKernel({ build }))[scheme];
}

describe.each(BUILDS)('%s', (build) => {
  describe.each(['mimc', 'poseidon2'] as const)('%s', (scheme) => {
    test.each(VECTORS[scheme])('%s', async (_, input, digest) => {
      const hasher = await hasherOf(build, scheme);
      expect(bytesToHex(hasher.hash(input))).toBe(`0x${digest}`);
    });

    test.each([1, 2, 3, 31, 33, 34, 63])('refuses %i bytes', async (length) => {
      const hasher = await hasherOf(build, scheme);
      expect(() => hasher.hash(zeros(length))).toThrow(expect.objectContaining({ code: 'HASH_INPUT_LENGTH' }));
    });

    test('refuses many inputs of length zero, of an invalid length, or not a whole number of inputs', async () => {
      const hasher = await hasherOf(build, scheme);
      const refused = expect.objectContaining({ code: 'HASH_INPUT_LENGTH' });
      expect(() => hasher.hashMany(zeros(64), 0)).toThrow(refused);
      expect(() => hasher.hashMany(zeros(0), 0)).toThrow(refused);
      expect(() => hasher.hashMany(zeros(64), -32)).toThrow(refused);
      expect(() => hasher.hashMany(zeros(33), 33)).toThrow(refused);
      expect(() => hasher.hashMany(zeros(96), 64)).toThrow(refused);
      expect(() => hasher.hashMany(zeros(64), Number.NaN)).toThrow(refused);
      expect(hasher.hashMany(zeros(0), 64)).toEqual(zeros(0));
    });

    test('refuses a state or block of another length', async () => {
      const hasher = await hasherOf(build, scheme);
      const refused = expect.objectContaining({ code: 'HASH_INPUT_LENGTH' });
      for (const length of [0, 28, 36, 64]) {
        expect(() => hasher.compress(zeros(length), zeros(32))).toThrow(refused);
        expect(() => hasher.compress(zeros(32), zeros(length))).toThrow(refused);
      }
    });
  });
});

// gnark-crypto, test-vectors.json of its Poseidon2 over KoalaBear: words 0 to 7.
test.each(BUILDS)('gnark-crypto, words 0 to 7, %s', async (build) => {
  const words = (values: number[]) => concatBytes(...values.map((value) => bigIntToBytes(BigInt(value), 4)));
  const hasher = await hasherOf(build, 'poseidon2');
  expect(hasher.hash(words([0, 1, 2, 3, 4, 5, 6, 7]))).toEqual(
    words([1402915949, 2083603674, 612464613, 903296317, 1327519169, 1646568100, 1786812904, 1917132066]),
  );
});

test('a build that cannot be loaded is a typed error', async () => {
  const wasm = Uint8Array.of(0, 97, 115, 109, 9, 9, 9, 9);
  await expect(loadHashKernel({ wasm })).rejects.toMatchObject({
    code: 'KERNEL_UNAVAILABLE',
    details: { kernel: 'hash' },
  });
});

describe.each(HASHING_AREAS.map((area) => [area.name, area] as const))('%s', (_, area) => {
  test.each(['simd', 'scalar'] as const)('%s', async (build) => {
    const { passed, problems } = await runArea(area, build);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(80);
  });
});
