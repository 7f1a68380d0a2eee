import { describe, expect, it } from 'vitest';
import { parseBlockReference } from '../../src/rpc/resolve-block.js';
import { ABSENT, refusal, WORD } from '../support/parse-refusal.js';

describe('block reference', () => {
  it.each([
    ['latest', { tag: 'latest' }],
    ['pending', { tag: 'pending' }],
    ['earliest', { tag: 'earliest' }],
    ['safe', { tag: 'safe' }],
    ['finalized', { tag: 'finalized' }],
    ['0x0', { number: 0 }],
    ['0x1b4', { number: 436 }],
    [WORD, { hash: new Uint8Array(32).fill(0xab) }],
    [{ blockNumber: '0x1b4' }, { number: 436 }],
    [{ blockHash: WORD }, { hash: new Uint8Array(32).fill(0xab) }],
    [
      { blockHash: WORD, requireCanonical: true },
      { hash: new Uint8Array(32).fill(0xab), requireCanonical: true },
    ],
    // Decimal digits, as Besu; a tag in an object, as go-ethereum's own client sends it.
    ['0', { number: 0 }],
    ['12', { number: 12 }],
    [{ blockNumber: '12' }, { number: 12 }],
    [{ blockNumber: 'latest' }, { tag: 'latest' }],
    [{ blockHash: null, blockNumber: 'finalized' }, { tag: 'finalized' }],
  ])('%j', (value, reference) => {
    expect(parseBlockReference(value)).toEqual(reference);
  });

  it.each([
    'Latest',
    'newest',
    '',
    '0x',
    '012',
    '-1',
    '1e3',
    '9007199254740992',
    '0xzz',
    `${WORD}00`,
    12,
    true,
    [],
    {},
    { blockNumber: '0x1', blockHash: WORD },
    { blockNumber: 'newest' },
    { blockNumber: 12 },
    { blockHash: '0x12' },
    { blockHash: WORD, requireCanonical: 'yes' },
  ])('refuses %j', (value) => {
    expect(refusal(() => parseBlockReference(value))).toMatch(/^Invalid block param \(block/);
  });

  it.each(['0x20000000000000', '0xffffffffffffffff', `0x1${'0'.repeat(64)}`])(
    'takes %s for a block that is not there',
    (value) => {
      const there = { number: 2 ** 53 - 1 };
      expect(parseBlockReference(value)).toEqual(there);
      expect(parseBlockReference({ blockNumber: value })).toEqual(there);
    },
  );

  it('falls back only where there is something to fall back to', () => {
    for (const value of ABSENT) {
      expect(parseBlockReference(value, { tag: 'latest' })).toEqual({ tag: 'latest' });
      expect(refusal(() => parseBlockReference(value))).toBe('Invalid block param (block: is missing)');
    }
    expect(parseBlockReference('0x1', { tag: 'latest' })).toEqual({ number: 1 });
  });
});
