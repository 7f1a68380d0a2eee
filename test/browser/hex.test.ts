import { expect, test } from 'vitest';
import { hexToBytes } from '../../src/primitives/hex.js';

/** Long text is decoded by the engine where it can; what is taken and what is refused is the same (test/unit/primitives.test.ts). */
const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919 + (i >> 3)) & 255);
const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

test.each([1, 20, 255, 256, 257, 5000])('hex of %i bytes, of either case', (length) => {
  const text = digits.slice(0, 2 * length);
  expect(hexToBytes(`0x${text}`)).toEqual(bytes.slice(0, length));
  expect(hexToBytes(`0x${text.toUpperCase()}`, length)).toEqual(bytes.slice(0, length));
});

test('long hex text with any other character is refused', () => {
  const refused = expect.objectContaining({ code: 'INVALID_HEX' });
  for (const other of [
    'g',
    'G',
    '/',
    ':',
    '@',
    '`',
    ' ',
    '\n',
    '\0',
    '_',
    '\u0080',
    '\u00b0',
    '\u0130',
    '\u0660',
    '\uff11',
  ]) {
    for (const at of [0, 1, 511, 2000, digits.length - 1]) {
      expect(() => hexToBytes(`0x${digits.slice(0, at)}${other}${digits.slice(at + 1)}`)).toThrow(refused);
    }
  }
  expect(() => hexToBytes(`0x${digits}a`)).toThrow(refused);
  expect(() => hexToBytes(`0x${digits}`, 4999)).toThrow(expect.objectContaining({ code: 'INVALID_LENGTH' }));
});
