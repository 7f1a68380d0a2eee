import { describe, expect, it } from 'vitest';
import { bytesToHex } from '../../src/primitives/hex.js';
import {
  parseAddress,
  parseBoolean,
  parseBytes,
  parseHash,
  parseIndex,
  parseQuantity,
  parseStorageKey,
  parseStorageKeys,
} from '../../src/rpc/parse-params.js';
import { ABSENT, ADDRESS, refusal, WORD } from '../support/parse-refusal.js';

const NO_TEXT = [1, 1n, true, {}, []];

describe('address and hash', () => {
  it('takes 20 and 32 bytes, of either case', () => {
    expect(bytesToHex(parseAddress(ADDRESS))).toBe(ADDRESS.toLowerCase());
    expect(parseHash(WORD, 'hash')).toEqual(new Uint8Array(32).fill(0xab));
  });

  it.each([
    '',
    '0x',
    '0x10',
    ADDRESS.slice(2),
    `${ADDRESS}00`,
    ADDRESS.slice(0, -1),
    `${ADDRESS.slice(0, -1)}g`,
    `0X${ADDRESS.slice(2)}`,
  ])('refuses %j', (text) => {
    expect(refusal(() => parseAddress(text))).toMatch(/^Invalid address params \(address: /);
  });

  it('says how many bytes came', () => {
    expect(refusal(() => parseAddress('0x20000000000000000000000000000000000000', 'to', 'call params'))).toBe(
      'Invalid call params (to: expected 20 bytes, got 19)',
    );
  });

  it.each([...ABSENT, ...NO_TEXT])('refuses %o', (value) => {
    const reason = value === undefined || value === null ? 'is missing' : 'is not a string';
    expect(refusal(() => parseAddress(value))).toBe(`Invalid address params (address: ${reason})`);
    expect(refusal(() => parseHash(value, 'hash'))).toBe(`Invalid params (hash: ${reason})`);
    expect(refusal(() => parseBytes(value, 'data'))).toBe(`Invalid params (data: ${reason})`);
    expect(refusal(() => parseQuantity(value, 'n'))).toBe(`Invalid params (n: ${reason})`);
    expect(refusal(() => parseStorageKey(value))).toBe(`Invalid position params (position: ${reason})`);
  });
});

describe('quantity', () => {
  it.each<[string, bigint]>([
    ['0x0', 0n],
    ['0x00', 0n],
    ['0xFf', 255n],
    [`0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
  ])('%s', (text, value) => {
    expect(parseQuantity(text, 'n')).toBe(value);
  });

  it.each(['', '0x', '1', '-0x1', '0x-1', '0x1.0', ' 0x1', '0xg', `0x1${'0'.repeat(64)}`])('refuses %j', (text) => {
    expect(refusal(() => parseQuantity(text, 'n'))).toMatch(/^Invalid params \(n: /);
  });

  it('bounds an index by what a number holds', () => {
    expect(parseIndex('0x1fffffffffffff', 'index')).toBe(2 ** 53 - 1);
    expect(refusal(() => parseIndex('0x20000000000000', 'index'))).toBe('Invalid params (index: does not fit 53 bits)');
  });

  it('takes booleans for booleans only', () => {
    expect(parseBoolean(false, 'full')).toBe(false);
    for (const value of ['true', 1, {}])
      expect(refusal(() => parseBoolean(value, 'full'))).toContain('full: is not a boolean');
    expect(refusal(() => parseBoolean(undefined, 'full'))).toContain('full: is missing');
  });
});

describe('storage keys', () => {
  it.each([
    ['0x0', '00'],
    ['0x1', '01'],
    ['0xabc', '0abc'],
    ['0x0000abc', 'abc'],
    [WORD, 'ab'.repeat(32)],
  ])('pads %s', (text, digits) => {
    expect(bytesToHex(parseStorageKey(text))).toBe(`0x${digits.padStart(64, '0')}`);
  });

  // The first two are the requests of ethereum/execution-apis, tests/eth_getStorageAt.
  it.each([`0x${'0'.repeat(65)}`, '0xasdf', '0x', '', '1', '10', 'abc', `0x${'00'.repeat(33)}`])(
    'refuses %j',
    (text) => {
      expect(refusal(() => parseStorageKey(text))).toMatch(/^Invalid position params \(position: /);
    },
  );

  it('keeps order and duplicates', () => {
    const keys = parseStorageKeys(['0x2', '0x1', '0x2']);
    expect(keys.map((key) => key[31])).toEqual([2, 1, 2]);
    expect(keys.every((key) => key.length === 32)).toBe(true);
    expect(parseStorageKeys([])).toEqual([]);
  });

  it('names the key that is wrong', () => {
    expect(refusal(() => parseStorageKeys(['0x1', 7]))).toBe(
      'Invalid storage keys params (storageKeys[1]: is not a string)',
    );
  });

  it('takes 1024 keys and no more', () => {
    const keys = Array.from({ length: 1025 }, () => '0x1');
    expect(parseStorageKeys(keys.slice(1))).toHaveLength(1024);
    expect(refusal(() => parseStorageKeys(keys))).toBe(
      'Invalid storage keys params (storageKeys: has 1025 keys, at most 1024)',
    );
    expect(parseStorageKeys(keys, 'storageKeys', 2000)).toHaveLength(1025);
  });

  it.each(['0x1', {}, 1, ...ABSENT])('refuses %o for the list', (value) => {
    expect(refusal(() => parseStorageKeys(value))).toContain('(storageKeys: is ');
  });
});
