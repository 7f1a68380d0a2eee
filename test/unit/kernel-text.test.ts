import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { unpack } from '../../src/kernel/instantiate.js';

/** Generated texts by kernel and build, and the module that the compiler wrote. */
const MODULES = ['hash', 'trie', 'evm'].flatMap((name) => ['simd', 'scalar'].map((build) => `${name}.${build}`));
const WITHOUT_SIMD = ['blake2f', 'calldata', 'keccak', 'secp256k1'];

const compiled = async (name: string) =>
  new Uint8Array(await readFile(new URL(`../../build/wasm/${name}.wasm`, import.meta.url)));

describe('the text of a kernel', () => {
  it.each([...MODULES, ...WITHOUT_SIMD])('gives the bytes that the compiler wrote: %s', async (name) => {
    const { wasm } = (await import(`../../src/kernel/wasm/${name}.generated.ts`)) as { wasm: string };
    expect(unpack(wasm)).toEqual(await compiled(WITHOUT_SIMD.includes(name) ? `${name}.simd` : name));
  });
});
