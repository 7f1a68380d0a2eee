import { describe, expect, test } from 'vitest';
import { readAtMost } from '../../src/primitives/bounded-input.js';
import {
  bigIntToBytes,
  bigIntToMinimalBytes,
  bytesToBigInt,
  bytesToKey,
  equalBytes,
  joinBytes,
  keyToBytes,
} from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { encodeRlp } from '../../src/primitives/rlp-list.js';
import { seededRandom } from '../support/random.js';

const below = seededRandom(11);

/** Numbers of up to 70 bytes: at random, and runs of zero and of one bits at the edges of every byte. */
const NUMBERS = [
  0n,
  ...Array.from({ length: 70 }, (_, i) => 1n << BigInt(8 * i)).flatMap((edge) => [edge - 1n, edge, edge + 1n]),
  ...Array.from({ length: 300 }, () =>
    Array.from({ length: 1 + below(70) }).reduce<bigint>((n) => n * 256n + BigInt(below(4) === 0 ? 0 : below(256)), 0n),
  ),
];

test('encodes calldata and blocks as the same hex as Node', () => {
  for (const length of [0, 1, 20, 254, 255, 256, 257, 511, 4096, 70_001]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i < 256 ? i : below(256)));
    expect(bytesToHex(bytes)).toBe(`0x${Buffer.from(bytes).toString('hex')}`);
  }
});

test('makes map keys of bytes, a character each', () => {
  for (const length of [0, 1, 19, 20, 21, 32, 64]) {
    const bytes = Uint8Array.from({ length }, () => below(256));
    expect(bytesToKey(bytes)).toBe(Buffer.from(bytes).toString('latin1'));
    expect(keyToBytes(bytesToKey(bytes))).toEqual(bytes);
  }
});

describe('RLP of lists that grow with data', () => {
  const ascii = (text: string) => new TextEncoder().encode(text);

  // The examples of the Ethereum documentation, "Recursive-length prefix serialization".
  test.each([
    ['0x83646f67', ascii('dog')],
    ['0xc88363617483646f67', [ascii('cat'), ascii('dog')]],
    ['0x80', new Uint8Array(0)],
    ['0xc0', []],
    ['0x00', Uint8Array.of(0)],
    ['0x0f', Uint8Array.of(15)],
    ['0x820400', Uint8Array.of(4, 0)],
    ['0xc7c0c1c0c3c0c1c0', [[], [[]], [[], [[]]]]],
    [
      `0xb838${Buffer.from('Lorem ipsum dolor sit amet, consectetur adipisicing elit').toString('hex')}`,
      ascii('Lorem ipsum dolor sit amet, consectetur adipisicing elit'),
    ],
  ])('%s', (expected, item) => {
    expect(bytesToHex(encodeRlp(item))).toBe(expected);
  });

  test('a list of 200 000 items', () => {
    const encoded = encodeRlp(Array.from({ length: 200_000 }, () => [ascii('dog')]));
    // 200 000 times five bytes: 0x0f4240.
    expect(bytesToHex(encoded.subarray(0, 9))).toBe('0xfa0f4240c483646f67');
    expect(encoded).toHaveLength(1_000_004);
  });
});

describe('integers and bytes match the digits that the engine prints', () => {
  test.each([0, 1, 5])('with %i leading zero bytes', (zeros) => {
    for (const value of NUMBERS) {
      const digits = value === 0n ? '' : value.toString(16);
      const even = `${'00'.repeat(zeros)}${digits.padStart(digits.length + (digits.length % 2), '0')}`;
      const bytes = Uint8Array.from(even.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
      expect(bytesToBigInt(bytes)).toBe(value);
      expect(bigIntToBytes(value, bytes.length)).toEqual(bytes);
      if (zeros === 0) expect(bigIntToMinimalBytes(value)).toEqual(bytes);
      expect(bytesToHex(bytes)).toBe(`0x${even}`);
      expect(hexToBytes(`0x${even.toUpperCase()}`)).toEqual(bytes);
    }
  });

  test('a number that is too large is refused', () => {
    for (const [value, length] of [
      [256n, 1],
      [-1n, 4],
      [1n << 256n, 32],
      [1n, 0],
    ] as const) {
      expect(() => bigIntToBytes(value, length)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
    }
  });
});

test('decodes long hex in upper and lower case', () => {
  const bytes = Uint8Array.from({ length: 3000 }, () => below(256));
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  expect(hexToBytes(`0x${text}`)).toEqual(bytes);
  expect(hexToBytes(`0x${text.toUpperCase()}`, 3000)).toEqual(bytes);
  expect(() => hexToBytes(`0x${text}`, 2999)).toThrow(expect.objectContaining({ code: 'INVALID_LENGTH' }));
});

test('refuses hex with any other character at any position', () => {
  const refused = expect.objectContaining({ code: 'INVALID_HEX' });
  const others = ['g', 'G', '/', ':', '@', '`', ' ', '\0', '\u007f', '\u0080', '\u00b0', '\u0130', '\u0660', '\uff11'];
  for (const other of others) {
    for (let at = 0; at < 8; at++) {
      const text = `0x${'1a2B3c4D'.slice(0, at)}${other}${'1a2B3c4D'.slice(at + 1)}`;
      expect(() => hexToBytes(text), text).toThrow(refused);
      expect(() => hexToBytes(text + '5e'.repeat(500)), 'long text').toThrow(refused);
    }
  }
  for (const text of ['', '0', '1a', '0X1a', '0x1', 'x1a']) expect(() => hexToBytes(text), text).toThrow(refused);
});

describe('bodies in many parts', () => {
  const inParts = (count: number, part: Uint8Array<ArrayBuffer>) => {
    let left = count;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (left-- === 0) controller.close();
        else controller.enqueue(part);
      },
    });
  };

  test('are read whole, up to the limit', async () => {
    const read = await readAtMost(inParts(300_000, Uint8Array.of(7)), 300_000);
    expect(equalBytes(read!, new Uint8Array(300_000).fill(7))).toBe(true);
    expect(await readAtMost(inParts(1001, Uint8Array.of(7)), 1000)).toBeUndefined();
    expect(await readAtMost(inParts(3, new Uint8Array(400)), 1000)).toBeUndefined();
    expect(await readAtMost(null, 10)).toEqual(new Uint8Array(0));
  });

  test('a list of many parts is joined', () => {
    const parts = Array.from({ length: 300_000 }, (_, i) => Uint8Array.of(i & 255));
    const joined = joinBytes(parts);
    expect([joined.length, joined[255], joined[256]]).toEqual([300_000, 255, 0]);
  });
});
