import { describe, expect, test } from 'vitest';
import { about, formatUnits, roundUnits } from '../../demo/lib/format.js';

const plain = (text: string) => Number(text.replaceAll('\u202f', '').replace('−', '-'));

describe('amounts in six digits', () => {
  test.each([
    [1_361_160_242_270n, 18, '0.00000136116'],
    [1_361_160_242_270n, 9, '1\u202f361.16'],
    [123_456_789n, 3, '123\u202f457'],
    [-123_456_789n, 3, '−123\u202f457'],
    [1_000_001n * 10n ** 18n + 1n, 18, '1\u202f000\u202f001'],
    [999_999_5n, 6, '10'],
    [123_456n, 0, '123\u202f456'],
    [1_234_567n, 0, '1\u202f234\u202f567'],
  ])('%i with %i decimals', (value, decimals, expected) => {
    expect(roundUnits(value, decimals)).toBe(expected);
  });

  test('an amount that is rounded says so, by at most half of its last digit; another is as it is', () => {
    for (let value = 1n; value < 10n ** 30n; value = value * 7n + 3n) {
      const exact = plain(formatUnits(value, 18));
      const rounded = plain(roundUnits(value, 18));
      // Five parts in ten million: the sixth digit is the last, and the floats add their own.
      expect(Math.abs(rounded - exact)).toBeLessThanOrEqual(exact * 5.000001e-6);
      expect(about(value, 18).startsWith('≈ ')).toBe(roundUnits(value, 18) !== formatUnits(value, 18));
    }
  });
});
