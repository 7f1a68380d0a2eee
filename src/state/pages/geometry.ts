import { DIGEST_BYTES } from '../../kernel/contracts.js';

/**
 * The pages of a trie follow from `nextFreeNode` alone. So a missing page is noticed, and equal states have equal
 * pages.
 *
 * - Blocks: a leaf block holds 2^5 positions; a block above it holds the hashes of the 2^6 blocks below. So there are
 * blocks at levels 5, 11, 17, 23, 29 and 35. The topmost one is in the root page, with `nextFreeNode`: a trie of up to
 * 32 positions is one page.
 * - Keys: hashed keys in order, each with its position, divided into buckets of 64 positions on average. As the trie
 * grows, buckets are split one at a time (linear hashing, by the leading bits so that the order is kept), never all at
 * once.
 */
export const LEAF_LEVELS = 5;
export const ROW_LEVELS = 6;
const LEAF_POSITIONS = 2 ** LEAF_LEVELS;
const BUCKET_POSITIONS = 64;

/** A page of one trie. */
export type PageId =
  | { readonly kind: 'root' }
  /** Nodes of a subtree, or leaves. `index` counts the subtrees of this level from the left. */
  | { readonly kind: 'block'; readonly level: number; readonly index: number }
  /** Keys in one part of the key range, given by the first `depth` bits, `prefix`. */
  | BucketId;

export interface BucketId {
  readonly kind: 'keys';
  readonly depth: number;
  readonly prefix: number;
}

export const ROOT: PageId = { kind: 'root' };

/**
 * Name of the account trie in page keys. The name of a storage trie is the leaf position of its account, 2 and above.
 */
export const ACCOUNT_TRIE = 0;

/** Key of the header page, which describes the stored state. */
export const STATE_KEY = 'state';

export function pageKey(trie: number, page: PageId): string {
  if (page.kind === 'root') return String(trie);
  if (page.kind === 'block') return `${trie}/${page.level}/${page.index}`;
  return `${trie}/k${page.depth}/${page.prefix}`;
}

/** Level of the block in the root page. */
export function topLevel(nextFreeNode: number): number {
  let level = LEAF_LEVELS;
  while (2 ** level < nextFreeNode) level += ROW_LEVELS;
  return level;
}

/** Level of the entries of a block. */
export function rowLevel(level: number): number {
  return level === LEAF_LEVELS ? 0 : level - ROW_LEVELS;
}

/** Number of blocks of a level that have positions below `nextFreeNode`. */
export function blockCount(nextFreeNode: number, level: number): number {
  return Math.ceil(nextFreeNode / 2 ** level);
}

/** Number of entries of a block: positions or blocks in it that are below `nextFreeNode`. */
export function entryCount(nextFreeNode: number, level: number, index: number): number {
  const row = rowLevel(level);
  const perBlock = 2 ** (level - row);
  return Math.max(0, Math.min(perBlock, blockCount(nextFreeNode, row) - index * perBlock));
}

/** Number of buckets of a trie; 0 while it is a single page. */
export function bucketCount(nextFreeNode: number): number {
  return nextFreeNode <= LEAF_POSITIONS ? 0 : Math.ceil(nextFreeNode / BUCKET_POSITIONS);
}

/** With `count` buckets, the first `split` buckets of depth `depth` are split. */
function splits(count: number): { depth: number; split: number } {
  const depth = 31 - Math.clz32(count);
  return { depth, split: count - 2 ** depth };
}

/** The bucket that is split when a trie grows from `count` buckets to one more, and its halves. */
export function splitOf(count: number): BucketId[] {
  const { depth, split } = splits(count);
  return [
    { kind: 'keys', depth, prefix: split },
    { kind: 'keys', depth: depth + 1, prefix: 2 * split },
    { kind: 'keys', depth: depth + 1, prefix: 2 * split + 1 },
  ];
}

/** Bucket number `i` from the left, of `count`. */
export function bucketAt(count: number, i: number): BucketId {
  const { depth, split } = splits(count);
  if (i < 2 * split) return { kind: 'keys', depth: depth + 1, prefix: i };
  return { kind: 'keys', depth, prefix: i - split };
}

/** Number, from the left, of the bucket for a key. @param tailKey - of the scheme; keys are spread up to it */
export function bucketOf(count: number, hkey: Uint8Array, tailKey: Uint8Array): number {
  const { depth, split } = splits(count);
  const place = first32Bits(hkey) / (first32Bits(tailKey) + 1);
  const prefix = Math.floor(place * 2 ** depth);
  return prefix < split ? Math.floor(place * 2 ** (depth + 1)) : prefix + split;
}

/** The smallest canonical key of a bucket. */
export function lowestKey({ depth, prefix }: BucketId, tailKey: Uint8Array): Uint8Array {
  const range = first32Bits(tailKey) + 1;
  const prefixOf = (value: number) => Math.floor((value / range) * 2 ** depth);
  let value = Math.ceil((prefix * range) / 2 ** depth);
  while (value > 0 && prefixOf(value - 1) >= prefix) value--;
  while (prefixOf(value) < prefix) value++;
  const key = new Uint8Array(DIGEST_BYTES);
  new DataView(key.buffer).setUint32(0, value);
  return key;
}

function first32Bits(hkey: Uint8Array): number {
  return new DataView(hkey.buffer, hkey.byteOffset).getUint32(0);
}

/** Whether a trie with this `nextFreeNode` has the page. */
export function hasPage(nextFreeNode: number, page: PageId): boolean {
  if (page.kind === 'root') return true;
  if (page.kind === 'block') {
    return page.level < topLevel(nextFreeNode) && page.index < blockCount(nextFreeNode, page.level);
  }
  const count = bucketCount(nextFreeNode);
  if (count === 0) return false;
  const { depth, split } = splits(count);
  if (page.depth === depth) return page.prefix >= split;
  return page.depth === depth + 1 && page.prefix < 2 * split;
}

/** All pages of a trie. */
export function* pagesOf(nextFreeNode: number): Generator<PageId> {
  yield ROOT;
  for (let level = LEAF_LEVELS; level < topLevel(nextFreeNode); level += ROW_LEVELS) {
    for (let index = 0; index < blockCount(nextFreeNode, level); index++) yield { kind: 'block', level, index };
  }
  const count = bucketCount(nextFreeNode);
  for (let i = 0; i < count; i++) yield bucketAt(count, i);
}
