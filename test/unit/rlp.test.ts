import { RLP } from '@ethereumjs/rlp';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equalBytes } from '../../src/primitives/bytes.js';
import { encodedList, encodeRlp, type RlpItem, rlpLength } from '../../src/primitives/rlp.js';

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 2 }),
  fc.uint8Array({ maxLength: 60 }),
  fc.uint8Array({ minLength: 250, maxLength: 260 }),
);
const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof({ maxDepth: 5, withCrossShrink: true }, bytes, fc.array(tie('item'), { maxLength: 6 })),
}));
const expected = (value: RlpItem) => RLP.encode(value as never);

describe('RLP, by @ethereumjs/rlp', () => {
  test('any item', () => {
    fc.assert(
      fc.property(item, (value) => {
        expect(encodeRlp(value)).toEqual(expected(value));
        expect(rlpLength(value)).toBe(expected(value).length);
      }),
    );
  });

  test('a list of encoded items', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 6 }), (items) => {
        expect(encodedList(items.map(expected))).toEqual(expected(items));
      }),
    );
  });

  test.each([0, 1, 55, 56, 255, 256, 65_535, 65_536])('%i bytes, in lists too', (length) => {
    const string = new Uint8Array(length).fill(0x80);
    expect(equalBytes(encodeRlp(string), expected(string))).toBe(true);
    const list = [string, [string, [string]]];
    expect(equalBytes(encodeRlp(list), expected(list))).toBe(true);
  });
});
