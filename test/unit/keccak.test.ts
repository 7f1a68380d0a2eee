import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterEach, expect, test, vi } from 'vitest';
import { keccak256 } from '../../src/kernel/keccak.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

afterEach(() => vi.unstubAllGlobals());

const below = seededRandom(21);
const bytes = (length: number) => Uint8Array.from({ length }, () => below(256));
/** Every length around the rate of 136 bytes, around a page of memory, and more than the memory that is kept. */
const LENGTHS = [...Array(300).keys(), 407, 408, 409, 532, 1088, 5000, 65_535, 65_536, 65_537, 200_000, 1_500_000];

test('hashes as @noble/hashes does, whatever was hashed before', () => {
  for (const length of [...LENGTHS, ...LENGTHS.toReversed()]) {
    const input = bytes(length);
    expect(bytesToHex(keccak256(input)), String(length)).toBe(bytesToHex(keccak_256(input)));
  }
});

test('hashes a part of a buffer, and gives bytes that stay', () => {
  const buffer = bytes(200);
  const first = keccak256(buffer.subarray(3, 150));
  const kept = bytesToHex(first);
  keccak256(buffer);
  expect(bytesToHex(first)).toBe(kept);
  expect(kept).toBe(bytesToHex(keccak_256(buffer.slice(3, 150))));
});

test('where a page forbids WebAssembly, a hash is an error', async () => {
  // An instance of its own: that of the other tests has its kernel.
  const path = '../../src/kernel/keccak.js?before';
  const { keccak256 }: typeof import('../../src/kernel/keccak.js') = await import(path);
  vi.stubGlobal('WebAssembly', undefined);
  expect(() => keccak256(bytes(1))).toThrowError(expect.objectContaining({ code: 'KERNEL_UNAVAILABLE' }));
  vi.unstubAllGlobals();
  expect(keccak256(bytes(1))).toHaveLength(32);
});
