import { afterEach, describe, expect, test, vi } from 'vitest';
import { unpack } from '../../src/kernel/instantiate.js';
import * as evmScalar from '../../src/kernel/wasm/evm.scalar.generated.js';
import * as evmSimd from '../../src/kernel/wasm/evm.simd.generated.js';
import * as hashScalar from '../../src/kernel/wasm/hash.scalar.generated.js';
import * as hashSimd from '../../src/kernel/wasm/hash.simd.generated.js';
import * as trieScalar from '../../src/kernel/wasm/trie.scalar.generated.js';
import * as trieSimd from '../../src/kernel/wasm/trie.simd.generated.js';

/** Kernels are imported by the tests, so that mutants of what runs when they are imported are tried, too. */
const SMALL = {
  blake2f: async () => (await import('../../src/kernel/blake2f.js')).loadBlake2f(),
  calldata: async () => (await import('../../src/kernel/calldata-sizer.js')).loadCalldataSizer(new Uint8Array(0)),
  secp256k1: async () => (await import('../../src/kernel/recovery.js')).loadRecovery(),
  async keccak() {
    // An instance of its own: that of other tests has its kernel.
    const path = '../../src/kernel/keccak.js?named';
    const { keccak256 }: typeof import('../../src/kernel/keccak.js') = await import(path);
    return keccak256(new Uint8Array(0));
  },
};
type Build = 'simd' | 'scalar';
const LARGE = {
  hash: {
    load: async (build: Build) => (await import('../../src/kernel/hasher.js')).loadHashKernel({ build }),
    texts: { simd: hashSimd, scalar: hashScalar },
  },
  trie: {
    load: async (build: Build) => (await import('../../src/kernel/trie.js')).loadTrieKernel('mimc', { build }),
    texts: { simd: trieSimd, scalar: trieScalar },
  },
  evm: {
    async load(build: Build) {
      const path = '../../src/kernel/evm-module.js?named';
      const module: typeof import('../../src/kernel/evm-module.js') = await import(path);
      expect(module.evmBuild()).toBe('auto');
      module.preferEvmBuild(build);
      return module.loadEvmModule().finally(() => module.preferEvmBuild('auto'));
    },
    texts: { simd: evmSimd, scalar: evmScalar },
  },
};
const unavailable = (kernel: string, reason: string) =>
  expect.objectContaining({ code: 'KERNEL_UNAVAILABLE', details: { kernel, reason } });

afterEach(() => vi.unstubAllGlobals());

describe('a module that cannot be loaded is named, and loads later', () => {
  test.each(Object.entries(SMALL))('%s', async (name, load) => {
    vi.stubGlobal('WebAssembly', undefined);
    await expect(load()).rejects.toThrow(unavailable(name, 'this engine has no WebAssembly'));
    const cause = new Error('forbidden by the page');
    function forbidden() {
      throw cause;
    }
    vi.stubGlobal('WebAssembly', { validate: () => true, compile: forbidden, Module: forbidden });
    const refused = load();
    await expect(refused).rejects.toThrow(unavailable(name, cause.message));
    await expect(refused).rejects.toHaveProperty('cause', cause);
    vi.unstubAllGlobals();
    await expect(load()).resolves.toBeDefined();
  });
});

describe('a module is that of its build', () => {
  test.each(Object.entries(LARGE))('%s', async (name, { load, texts }) => {
    const { compile } = WebAssembly;
    for (const build of ['simd', 'scalar'] as const) {
      const compiled: unknown[] = [];
      vi.stubGlobal('WebAssembly', undefined);
      await expect(load(build)).rejects.toThrow(unavailable(name, 'this engine has no WebAssembly'));
      vi.unstubAllGlobals();
      vi.stubGlobal('WebAssembly', {
        ...{ validate: () => true, instantiate: WebAssembly.instantiate },
        compile(bytes: Uint8Array<ArrayBuffer>) {
          compiled.push(bytes);
          return compile(bytes);
        },
      });
      await load(build);
      expect(compiled).toEqual([unpack(texts[build].wasm)]);
      vi.unstubAllGlobals();
    }
  });
});

test('a dictionary is within reach of the end of the longest input', async () => {
  const path = '../../src/kernel/contracts.js?limits';
  const { MAX_DICTIONARY, MAX_LZSS_INPUT }: typeof import('../../src/kernel/contracts.js') = await import(path);
  // docs/spec/compression.md 4: an input of 2^18 bytes, a dictionary with FE and FF, and references of 2^21 bytes.
  expect(MAX_LZSS_INPUT).toBe(2 ** 18);
  expect(MAX_DICTIONARY + 2 + MAX_LZSS_INPUT).toBe(2 ** 21);
});
