import { describe, expect, it } from 'vitest';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { bigIntToBytes, bytesToBigInt } from '../../src/primitives/bytes.js';
import {
  blockCount,
  bucketAt,
  bucketCount,
  bucketOf,
  entryCount,
  hasPage,
  lowestKey,
  type PageId,
  pageKey,
  pagesOf,
  ROOT,
  rowLevel,
  splitOf,
  topLevel,
} from '../../src/state/page-format.js';

const { tailKey } = schemeFormat('poseidon2');
const names = (nextFreeNode: number) => [...pagesOf(nextFreeNode)].map((page) => pageKey(0, page));

describe('blocks of a trie (32 positions in a leaf block, 64 blocks in one above)', () => {
  it.each([
    [2, 5],
    [32, 5],
    [33, 11],
    [2048, 11],
    [2049, 17],
    [2 ** 17, 17],
    [2 ** 17 + 1, 23],
    [2 ** 29 + 1, 35],
  ])('with the next free position %i the root page holds level %i', (next, level) => {
    expect(topLevel(next)).toBe(level);
  });

  it('have their entries at the level of the blocks below', () => {
    expect([5, 11, 17, 35].map(rowLevel)).toEqual([0, 5, 11, 29]);
  });

  it.each([
    [33, 5, 2],
    [64, 5, 2],
    [65, 5, 3],
    [2049, 11, 2],
  ])('of a trie up to %i: at level %i there are %i', (next, level, count) => {
    expect(blockCount(next, level)).toBe(count);
  });

  it.each([
    // next, level, index, entries
    [40, 5, 0, 32],
    [40, 5, 1, 8],
    [40, 5, 2, 0],
    [40, 11, 0, 2],
    [2100, 11, 0, 64],
    [2100, 11, 1, 2],
    [2100, 17, 0, 2],
  ])('of a trie up to %i: at level %i, block %i has %i entries', (next, level, index, entries) => {
    expect(entryCount(next, level, index)).toBe(entries);
  });
});

describe('buckets of keys (64 positions each)', () => {
  it.each([
    [32, 0],
    [33, 1],
    [64, 1],
    [65, 2],
    [128, 2],
    [129, 3],
  ])('of a trie up to %i there are %i', (next, count) => {
    expect(bucketCount(next)).toBe(count);
  });

  it('are split one at a time, from the left', () => {
    const namesOf = (count: number) => Array.from({ length: count }, (_, i) => pageKey(7, bucketAt(count, i)));
    expect([1, 2, 3, 4, 5].map(namesOf)).toEqual([
      ['7/k0/0'],
      ['7/k1/0', '7/k1/1'],
      ['7/k2/0', '7/k2/1', '7/k1/1'],
      ['7/k2/0', '7/k2/1', '7/k2/2', '7/k2/3'],
      ['7/k3/0', '7/k3/1', '7/k2/1', '7/k2/2', '7/k2/3'],
    ]);
    expect([1, 2, 3, 5].map((count) => splitOf(count).map((page) => pageKey(7, page)))).toEqual([
      ['7/k0/0', '7/k1/0', '7/k1/1'],
      ['7/k1/0', '7/k2/0', '7/k2/1'],
      ['7/k1/1', '7/k2/2', '7/k2/3'],
      ['7/k2/1', '7/k3/2', '7/k3/3'],
    ]);
  });

  it.each([1, 2, 3, 5, 8, 13])('divide the keys up to that of the tail evenly: %i', (count) => {
    const range = bytesToBigInt(tailKey.subarray(0, 4)) + 1n;
    const starts = Array.from({ length: count }, (_, i) => {
      const { depth, prefix } = bucketAt(count, i);
      return (BigInt(prefix) * range + 2n ** BigInt(depth) - 1n) / 2n ** BigInt(depth);
    });
    for (const [i, start] of starts.entries()) {
      const key = (value: bigint) => bigIntToBytes(value << 224n, 32);
      expect(lowestKey(bucketAt(count, i), tailKey)).toEqual(key(start));
      expect(bucketOf(count, key(start), tailKey)).toBe(i);
      if (i > 0) expect(bucketOf(count, key(start - 1n), tailKey)).toBe(i - 1);
    }
    expect(bucketOf(count, tailKey, tailKey)).toBe(count - 1);
    // A key that is part of longer bytes.
    const longer = Uint8Array.from([0xff, 0xff, 0xff, 0xff, ...new Uint8Array(32)]);
    expect(bucketOf(count, longer.subarray(4), tailKey)).toBe(0);
  });
});

describe('pages of a trie', () => {
  it('follow from the next free position', () => {
    expect(names(2)).toEqual(['0']);
    expect(names(32)).toEqual(['0']);
    expect(names(33)).toEqual(['0', '0/5/0', '0/5/1', '0/k0/0']);
    expect(names(100)).toEqual(['0', '0/5/0', '0/5/1', '0/5/2', '0/5/3', '0/k1/0', '0/k1/1']);
    const many = names(2049);
    expect(many.filter((name) => name.startsWith('0/5/'))).toHaveLength(65);
    expect(many.filter((name) => name.startsWith('0/11/'))).toEqual(['0/11/0', '0/11/1']);
    expect(many.filter((name) => name.startsWith('0/k'))).toHaveLength(33);
    expect(many).toHaveLength(1 + 65 + 2 + 33);
  });

  it.each([2, 32, 33, 64, 65, 129, 200, 2048, 2049])('are those that a trie up to %i has, and no others', (next) => {
    const held = new Set(names(next));
    const near: PageId[] = [ROOT, ...pagesOf(next), ...pagesOf(next + 33), ...pagesOf(next + 70), ...pagesOf(4500)];
    for (const page of near)
      expect([pageKey(0, page), hasPage(next, page)]).toEqual([pageKey(0, page), held.has(pageKey(0, page))]);
  });
});
