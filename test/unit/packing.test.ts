import { expect, test } from 'vitest';
import { Packer } from '../../src/chain/devnet/records/packing.js';

const bytes = (length: number, value: number) => new Uint8Array(length).fill(value);
const values = [
  undefined,
  null,
  true,
  false,
  0,
  127,
  128,
  2 ** 32,
  Number.MAX_SAFE_INTEGER,
  0n,
  255n,
  2n ** 256n - 1n,
  new Uint8Array(0),
  bytes(7, 1),
  bytes(32, 2),
  bytes(300, 3),
  bytes(5000, 4),
  [],
  [[1], [], [[2n]]],
  { a: 1, b: undefined, c: { a: bytes(32, 2) } },
  { b: 1, a: 2 },
  {},
];

test('unpacks each value, whatever was packed before and after it', () => {
  const packer = new Packer();
  const all = [...values, ...values, values, values];
  const packed = all.map((value) => packer.pack(value));
  expect(packed.map((value) => packer.unpack(value))).toEqual(all);
});

test('stores repeated bytes once', () => {
  const packer = new Packer();
  const sizes = [1, 2, 3, 4].map(
    (number) => packer.pack({ number, sender: bytes(20, 9), root: bytes(32, number) }).length,
  );
  expect(sizes[3]).toBeLessThan(sizes[0]! - 16);
});

test('refuses types it cannot pack', () => {
  for (const value of [-1, 1.5, -1n, 'text', () => {}, Number.NaN]) {
    expect(() => new Packer().pack([value])).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  }
});
