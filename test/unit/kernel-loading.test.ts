import { blake2b } from '@noble/hashes/blake2.js';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { loadBlake2f } from '../../src/kernel/blake2f.js';
import { loadCalldataSizer } from '../../src/kernel/calldata-sizer.js';
import { MAX_DICTIONARY, MAX_LZSS_INPUT } from '../../src/kernel/contracts.js';
import { loadHasher, loadHashKernel } from '../../src/kernel/hasher.js';
import { compile, instanceOf, instantiate, type KernelSource } from '../../src/kernel/instantiate.js';
import { hasSimd } from '../../src/kernel/simd.js';
import { loadTrieKernel, loadZkKernels } from '../../src/kernel/trie.js';
import { wasm } from '../../src/kernel/wasm/keccak.generated.js';

afterEach(() => vi.unstubAllGlobals());

const source = () => {
  const builds: string[] = [];
  const load = (build: string) => async () => {
    builds.push(build);
    return { wasm };
  };
  const kernel: KernelSource = { name: 'small', simd: load('simd'), scalar: load('scalar') };
  return { builds, kernel };
};
const unavailable = (reason: unknown) =>
  expect.objectContaining({ code: 'KERNEL_UNAVAILABLE', details: { kernel: 'small', reason } });
/** A module that needs a function of its host: `(import "a" "b" (func))`. */
const IMPORTING = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 7, 1, 1, 97, 1, 98, 0, 0);

describe('loading a kernel', () => {
  it('takes the build that is asked for, or what the engine is able to', async () => {
    const { builds, kernel } = source();
    for (const options of [{ build: 'simd' }, { build: 'scalar' }, { build: 'auto' }, {}] as const) {
      expect(await compile(kernel, options)).toBeInstanceOf(WebAssembly.Module);
    }
    expect(builds).toEqual(['simd', 'scalar', 'simd', 'simd']);
    const { validate } = WebAssembly;
    vi.stubGlobal('WebAssembly', { ...WebAssembly, compile: WebAssembly.compile, validate: () => false });
    expect(hasSimd()).toBe(false);
    for (const build of ['auto', 'simd'] as const) await compile(kernel, { build });
    expect(builds.slice(4)).toEqual(['scalar', 'simd']);
    expect(validate).toBeDefined();
  });

  it('takes bytes that are given instead', async () => {
    const { builds, kernel } = source();
    const bytes = IMPORTING.slice(0, 8);
    expect(await instantiate(kernel, { wasm: bytes })).toEqual({});
    expect(builds).toEqual([]);
    expect(Object.keys(await instantiate(kernel))).toContain('memory');
  });

  it('names the kernel, and keeps the cause', async () => {
    const { kernel } = source();
    const broken = { ...kernel, simd: () => Promise.reject(new Error('no such file')) };
    const refused = compile(broken, { build: 'simd' });
    await expect(refused).rejects.toEqual(unavailable('no such file'));
    await expect(refused).rejects.toMatchObject({
      message: 'kernel small cannot be loaded: no such file',
      cause: new Error('no such file'),
    });
    await expect(compile(kernel, { wasm: Uint8Array.of(1, 2, 3) })).rejects.toEqual(unavailable(expect.any(String)));
    await expect(instanceOf(kernel, await WebAssembly.compile(IMPORTING))).rejects.toEqual(
      unavailable(expect.any(String)),
    );
    await expect(instanceOf(kernel, await WebAssembly.compile(IMPORTING))).rejects.toMatchObject({
      cause: expect.any(Error),
    });
  });

  it('is refused where there is no WebAssembly', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    expect(hasSimd()).toBe(false);
    await expect(compile(source().kernel)).rejects.toEqual(unavailable('this engine has no WebAssembly'));
  });
});

describe('a hasher refuses', () => {
  const length = (scheme: string, bytes: number) => ({
    code: 'HASH_INPUT_LENGTH',
    message: `an input of ${scheme} cannot have ${bytes} bytes; pad it to whole words`,
    details: { scheme, length: bytes },
  });
  const bytes = (count: number) => new Uint8Array(count);

  it.each([
    ['mimc', 31, 33],
    ['poseidon2', 3, 5],
  ] as const)('inputs of %s that are no whole words', async (scheme, less, more) => {
    const hasher = await loadHasher(scheme);
    for (const count of [less, more]) {
      expect(() => hasher.hash(bytes(count))).toThrow(expect.objectContaining(length(scheme, count)));
      expect(() => hasher.hashMany(bytes(count), count)).toThrow(expect.objectContaining(length(scheme, count)));
    }
    for (const [inputs, each] of [
      [64, 0],
      [64, -32],
      [64, 96],
    ] as const) {
      expect(() => hasher.hashMany(bytes(inputs), each)).toThrow(expect.objectContaining(length(scheme, each)));
    }
    expect(hasher.hashMany(bytes(0), 32)).toEqual(bytes(0));
    for (const [state, block, wrong] of [
      [31, 32, 31],
      [32, 33, 33],
    ] as const) {
      expect(() => hasher.compress(bytes(state), bytes(block))).toThrow(expect.objectContaining(length(scheme, wrong)));
    }
    const { permutePoseidon2 } = await loadHashKernel();
    expect(() => permutePoseidon2(bytes(60))).toThrow(expect.objectContaining(length('poseidon2', 60)));
  });

  it('paths whose lengths do not fit', async () => {
    const hasher = await loadHasher('poseidon2');
    const refused = (leaves: number, positions: number[], siblings: number, wrong: number) =>
      expect(() => hasher.climb(bytes(leaves), positions, bytes(siblings))).toThrow(
        expect.objectContaining(length('poseidon2', wrong)),
      );
    refused(31, [0], 32, 31);
    refused(64, [0], 32, 64);
    refused(32, [0], 33, 33);
    refused(64, [0, 1], 32, 32);
    refused(32, [0], 54 * 32, 54 * 32);
    refused(32, [], 0, 32);
    expect(hasher.climb(bytes(32), [0], bytes(53 * 32))).toHaveLength(53 * 32);
    expect(hasher.climb(bytes(0), [], bytes(0))).toEqual(bytes(0));
    expect(hasher.climb(bytes(32), [0], bytes(0))).toEqual(bytes(0));
  });

  it.each(['mimc', 'poseidon2'] as const)('words of %s that are not below the modulus', async (scheme) => {
    const { [scheme]: hasher, permutePoseidon2 } = await loadHashKernel();
    const wide = new Uint8Array(32).fill(0xff);
    const refused = (name: string) => ({
      code: 'HASH_INPUT_NOT_CANONICAL',
      message: `a word of the ${name} input is not below the modulus`,
      details: { scheme: name },
    });
    const zero = bytes(32);
    for (const run of [
      () => hasher.hash(wide),
      () => hasher.hashMany(wide, 32),
      () => hasher.compress(wide, zero),
      () => hasher.compress(zero, wide),
      () => hasher.climb(wide, [0], zero),
      () => hasher.climb(zero, [0], wide),
    ]) {
      expect(run).toThrow(expect.objectContaining(refused(scheme)));
    }
    expect(() => permutePoseidon2(new Uint8Array(64).fill(0xff))).toThrow(
      expect.objectContaining(refused('poseidon2')),
    );
  });
});

test('inputs that are longer than the region are hashed block by block', async () => {
  const hasher = await loadHasher('poseidon2');
  const blocks = 65_536 / 32 + 2;
  // Words below 2^24 are canonical.
  const inputs = Uint8Array.from({ length: 2 * blocks * 32 }, (_, i) => (i % 4 === 0 ? 0 : (i * 7 + (i >> 8)) & 255));
  const digests = [0, 1].map((input) => {
    let state: Uint8Array = new Uint8Array(32);
    for (let i = 0; i < blocks; i++) {
      const at = 32 * (input * blocks + i);
      state = hasher.compress(state, inputs.subarray(at, at + 32));
    }
    return state;
  });
  expect(digests[0]).not.toEqual(digests[1]);
  expect(hasher.hash(inputs.subarray(0, 32 * blocks))).toEqual(digests[0]);
  expect(hasher.hashMany(inputs, 32 * blocks)).toEqual(Uint8Array.of(...digests[0]!, ...digests[1]!));
});

describe('a kernel refuses', () => {
  it('a dictionary and an input that are too long', async () => {
    const most = MAX_DICTIONARY;
    await expect(loadCalldataSizer(new Uint8Array(most + 1))).rejects.toMatchObject({
      code: 'OUT_OF_RANGE',
      message: `a dictionary must have at most ${most} bytes, got ${most + 1}`,
      details: { what: 'dictionary', value: String(most + 1), limit: `${most} bytes` },
    });
    const sizer = await loadCalldataSizer(new Uint8Array(0));
    expect(() => sizer.lzssSize(new Uint8Array(MAX_LZSS_INPUT + 1))).toThrow(
      expect.objectContaining({
        message: `the input has ${MAX_LZSS_INPUT + 1} bytes, the maximum is ${MAX_LZSS_INPUT}`,
      }),
    );
  });

  it('an input of BLAKE2F of another length, and gives bytes that stay', async () => {
    const compress = await loadBlake2f();
    expect(() => compress(new Uint8Array(212)).next()).toThrow(
      expect.objectContaining({ code: 'INVALID_LENGTH', message: 'input: expected 213 bytes, got 212' }),
    );
    // EIP-152, test vector 5: 12 rounds of "abc".
    const input = new Uint8Array(213);
    const text =
      '48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b';
    input.set([0, 0, 0, 12]);
    input.set(Buffer.from(text, 'hex'), 4);
    input.set([0x61, 0x62, 0x63], 68);
    input.set([3], 196);
    input[212] = 1;
    const expected = Buffer.from(blake2b(new TextEncoder().encode('abc'))).toString('hex');
    const run = () => {
      const { value } = compress(input).next();
      return value!;
    };
    const first = run();
    expect([first.length, Buffer.from(first).toString('hex')]).toEqual([64, expected]);
    // Runs that wait for each other: of many rounds, and of few in between.
    const long = input.with(1, 2);
    const alone = [...compress(long), undefined].length;
    expect(alone).toBeGreaterThan(2);
    const results: string[] = [];
    const [one, two] = [compress(long), compress(long)];
    for (let i = 0; i < alone; i++) {
      for (const each of [one, two]) {
        const { done, value } = each.next();
        if (done) results.push(Buffer.from(value).toString('hex'));
      }
      expect(Buffer.from(run()).toString('hex')).toBe(expected);
    }
    expect(results).toHaveLength(2);
    expect(results[0]).toBe(results[1]);
    expect(Buffer.from(first).toString('hex')).toBe(expected);
  });

  it('keys and values of a trie of another length, by their name', async () => {
    const kernel = await loadTrieKernel('poseidon2');
    const trie = kernel.createTrie();
    const [word, short] = [new Uint8Array(32), new Uint8Array(31)];
    for (const [what, hkey, hval] of [
      ['hkey', short, word],
      ['hval', word, short],
    ] as const) {
      expect(() => kernel.put(trie, hkey, hval)).toThrow(
        expect.objectContaining({
          code: 'INVALID_LENGTH',
          message: `${what} must have 32 bytes, got 31`,
          details: { what, expected: '32', actual: 31 },
        }),
      );
    }
  });
});

describe('the kernels of a zk state', () => {
  it('are of one scheme, from one module', async () => {
    const { hasher, kernel } = await loadZkKernels('mimc', { undo: true });
    expect([hasher.scheme, kernel.scheme, kernel.keeps]).toEqual(['mimc', 'mimc', { undo: true, nodes: false }]);
    const other = await loadHasher('mimc');
    expect(hasher.hash(new Uint8Array(64))).toEqual(other.hash(new Uint8Array(64)));
  });
});
