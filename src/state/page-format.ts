/**
 * The form of a stored state: pages of bytes by key, each with a checksum.
 *
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

import { sha256 } from '@noble/hashes/sha2.js';
import { ACCOUNT_VALUE_BYTES } from '../accumulator/account-value.js';
import { FIRST_FREE_NODE, schemeFormat, TAIL_POSITION } from '../accumulator/scheme.js';
import { PlumblineError } from '../errors.js';
import { DIGEST_BYTES, type HashScheme } from '../kernel/contracts.js';
import type { TrieLeaf } from '../kernel/trie.js';
import { compareBytes, copyBytes, equalBytes } from '../primitives/bytes.js';

/** A stored page. Its bytes are opaque to the store. */
export interface Page {
  readonly key: string;
  readonly value: Uint8Array;
}

/** Page changes for one atomic commit. Each key occurs once. */
export interface PageChanges {
  readonly puts: readonly Page[];
  readonly deletes: readonly string[];
}

/** Reads pages. If `openPagedState` uses it, nothing may be written meanwhile. Open the state again after a commit. */
export interface PageSource {
  /** Pages in the order of `keys`, undefined for missing ones; all from one commit. */
  getMany(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]>;
}

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

const VERSION = 1;
const CHECKSUM_BYTES = 8;

/** Error about a page, or about pages that do not fit together. */
export function pageCorrupt(key: string, reason: string, cause?: unknown): PlumblineError<'STORE_CORRUPT'> {
  const details = { table: 'state', reason: `page ${key}: ${reason}` };
  return new PlumblineError('STORE_CORRUPT', `stored state, ${details.reason}`, details, { cause });
}

/**
 * The first bytes of SHA-256 over key, version and content. The key is included, so a page under another key is
 * refused.
 */
function checksum(key: string, sealed: Uint8Array): Uint8Array {
  return sha256
    .create()
    .update(new TextEncoder().encode(`${key}\n`))
    .update(sealed)
    .digest()
    .subarray(0, CHECKSUM_BYTES);
}

/** Writes the content of a page. Numbers are big-endian. */
export class PageWriter {
  private bytes = new Uint8Array(1024);
  private length = 0;

  constructor() {
    this.u8(VERSION);
  }

  u8(value: number): this {
    this.reserve(1);
    this.bytes[this.length++] = value;
    return this;
  }

  u32(value: number): this {
    this.reserve(4);
    new DataView(this.bytes.buffer).setUint32(this.length, value);
    this.length += 4;
    return this;
  }

  put(bytes: Uint8Array): this {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  /** The complete page: version, content, checksum of 8 bytes. */
  seal(key: string): Uint8Array {
    return this.put(checksum(key, this.bytes.subarray(0, this.length))).bytes.slice(0, this.length);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(2 * (this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

/** Reads the content of a page. Every method throws `STORE_CORRUPT` if the content is too short. */
export class PageReader {
  private at = 1;
  private readonly end: number;

  /** @throws PlumblineError `STORE_CORRUPT` for a missing or damaged page, `STORE_TOO_NEW` */
  constructor(
    readonly key: string,
    private readonly page: Uint8Array | undefined,
  ) {
    if (page === undefined) throw pageCorrupt(key, 'missing');
    this.end = page.length - CHECKSUM_BYTES;
    if (this.end < 1 || !equalBytes(checksum(key, page.subarray(0, this.end)), page.subarray(this.end))) {
      throw pageCorrupt(key, 'damaged, its checksum does not match');
    }
    if (page[0] !== VERSION) {
      const details = { version: page[0]!, supported: VERSION };
      throw new PlumblineError(
        'STORE_TOO_NEW',
        `page ${key} has format ${page[0]}, this version reads ${VERSION}; use a newer version of plumbline`,
        details,
      );
    }
  }

  get left(): number {
    return this.end - this.at;
  }

  u8(): number {
    return this.take(1)[0]!;
  }

  u32(): number {
    const bytes = this.take(4);
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  }

  /** Returns a copy. */
  take(length: number): Uint8Array {
    if (length > this.left) throw pageCorrupt(this.key, 'too short');
    const bytes = copyBytes(this.page!, this.at, this.at + length);
    this.at += length;
    return bytes;
  }

  finish(): void {
    if (this.left !== 0) throw pageCorrupt(this.key, 'too long');
  }
}

/** Description of the stored state. */
export interface StateHeader {
  readonly scheme: HashScheme;
  readonly block: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** A value as stored in a leaf block. */
export interface StoredValue {
  /** 192 bytes of an account in compact form, or 32 bytes of a slot. */
  readonly value: Uint8Array;
  /** The account has a storage trie, which may be empty. Always false for a slot. */
  readonly hasStorage: boolean;
  /** See `AccountRecord`; false without storage. */
  readonly storageRestarts: boolean;
}

/** A leaf in use. Head and tail have no value. */
export interface StoredLeaf {
  readonly position: number;
  readonly leaf: TrieLeaf;
  readonly stored: StoredValue | undefined;
}

/** A hashed key (32 bytes) and the position of its leaf. */
export interface KeyEntry {
  readonly hkey: Uint8Array;
  readonly position: number;
}

const SCHEMES: readonly HashScheme[] = ['mimc', 'poseidon2'];
const HAS_STORAGE = 1;
const STORAGE_RESTARTS = 2;
const KEY_ENTRY_BYTES = DIGEST_BYTES + 4;

export function encodeHeader({ scheme, block, root }: StateHeader): Uint8Array {
  const page = new PageWriter().u8(SCHEMES.indexOf(scheme));
  return page
    .u32(Math.floor(block / 2 ** 32))
    .u32(block % 2 ** 32)
    .put(root)
    .seal(STATE_KEY);
}

export function decodeHeader(page: Uint8Array | undefined): StateHeader {
  const reader = new PageReader(STATE_KEY, page);
  const scheme = SCHEMES[reader.u8()];
  if (scheme === undefined) throw pageCorrupt(STATE_KEY, 'unknown hash scheme');
  const block = reader.u32() * 2 ** 32 + reader.u32();
  const root = reader.take(DIGEST_BYTES);
  reader.finish();
  return { scheme, block, root };
}

/**
 * @param first - first position of the block.
 * @param leaves - those in use, ascending
 */
export function writeLeaves(page: PageWriter, first: number, leaves: readonly StoredLeaf[]): void {
  let used = 0;
  for (const { position } of leaves) used |= 1 << (position - first);
  page.u32(used >>> 0);
  for (const { leaf, stored } of leaves) {
    page.u32(leaf.prevLeaf).u32(leaf.nextLeaf).put(leaf.hkey).put(leaf.hval);
    if (stored === undefined) continue;
    page.put(stored.value);
    if (stored.value.length !== ACCOUNT_VALUE_BYTES) continue;
    page.u8((stored.hasStorage ? HAS_STORAGE : 0) | (stored.storageRestarts ? STORAGE_RESTARTS : 0));
  }
}

/** Leaves of a leaf block, by position. @throws PlumblineError `STORE_CORRUPT` */
export function readLeaves(page: PageReader, trie: number, nextFreeNode: number, index: number): StoredLeaf[] {
  const first = index * 2 ** LEAF_LEVELS;
  const entries = entryCount(nextFreeNode, LEAF_LEVELS, index);
  const used = page.u32();
  const leaves: StoredLeaf[] = [];
  for (let i = 0; i < 2 ** LEAF_LEVELS; i++) {
    if (((used >>> i) & 1) === 0) continue;
    if (i >= entries) throw pageCorrupt(page.key, 'a leaf after the next free position');
    const position = first + i;
    const [prevLeaf, nextLeaf] = [page.u32(), page.u32()];
    const leaf = { prevLeaf, nextLeaf, hkey: page.take(DIGEST_BYTES), hval: page.take(DIGEST_BYTES) };
    leaves.push({ position, leaf, stored: position <= TAIL_POSITION ? undefined : readValue(page, trie) });
  }
  page.finish();
  return leaves;
}

function readValue(page: PageReader, trie: number): StoredValue {
  if (trie !== ACCOUNT_TRIE) return { value: page.take(DIGEST_BYTES), hasStorage: false, storageRestarts: false };
  const value = page.take(ACCOUNT_VALUE_BYTES);
  const flags = page.u8();
  const hasStorage = (flags & HAS_STORAGE) !== 0;
  const storageRestarts = (flags & STORAGE_RESTARTS) !== 0;
  if (flags > (hasStorage ? HAS_STORAGE | STORAGE_RESTARTS : 0)) throw pageCorrupt(page.key, 'unknown flags');
  return { value, hasStorage, storageRestarts };
}

/** Hashes of the blocks below, 32 bytes each. @throws PlumblineError `STORE_CORRUPT` */
export function readRow(page: PageReader, nextFreeNode: number, level: number, index: number): Uint8Array[] {
  const row = Array.from({ length: entryCount(nextFreeNode, level, index) }, () => page.take(DIGEST_BYTES));
  page.finish();
  return row;
}

/** `nextFreeNode`, the first field of a root page. @throws PlumblineError `STORE_CORRUPT` */
export function readNextFreeNode(page: PageReader): number {
  const next = page.u32();
  if (next < FIRST_FREE_NODE || next === 2 ** 32 - 1) throw pageCorrupt(page.key, 'invalid next free position');
  return next;
}

export function writeKeys(page: PageWriter, keys: readonly KeyEntry[]): void {
  for (const { hkey, position } of keys) page.put(hkey).u32(position);
}

/** Keys of a bucket, ascending. @throws PlumblineError `STORE_CORRUPT` */
export function readKeys(page: PageReader): KeyEntry[] {
  const keys: KeyEntry[] = [];
  while (page.left >= KEY_ENTRY_BYTES) keys.push({ hkey: page.take(DIGEST_BYTES), position: page.u32() });
  page.finish();
  const ordered = keys.every(({ hkey }, i) => i === 0 || compareBytes(keys[i - 1]!.hkey, hkey) < 0);
  if (!ordered) throw pageCorrupt(page.key, 'keys out of order');
  return keys;
}

/** Whether this is the storage root of a trie that was never written to. */
export function isEmptyRoot(scheme: HashScheme, root: Uint8Array): boolean {
  return equalBytes(root, schemeFormat(scheme).emptyRoot);
}

/**
 * Checks that all pages of a stored state are present and undamaged. Their hashes are not compared.
 *
 * @param read - gives a page by its key
 * @throws PlumblineError `STORE_CORRUPT`; `STORE_TOO_NEW`
 */
export function requirePages(read: (key: string) => Uint8Array | undefined): void {
  decodeHeader(read(STATE_KEY));
  for (const { position, stored } of leavesOf(ACCOUNT_TRIE, read)) {
    if (stored?.hasStorage === true) leavesOf(position, read);
  }
}

/** Leaves of a trie, after checking that all its pages are present. */
function leavesOf(trie: number, read: (key: string) => Uint8Array | undefined): StoredLeaf[] {
  const rootKey = pageKey(trie, ROOT);
  const root = new PageReader(rootKey, read(rootKey));
  const nextFreeNode = readNextFreeNode(root);
  const isOnePage = topLevel(nextFreeNode) === LEAF_LEVELS;
  const leaves: StoredLeaf[] = isOnePage ? [...readLeaves(root, trie, nextFreeNode, 0)] : [];
  for (const page of pagesOf(nextFreeNode)) {
    const key = pageKey(trie, page);
    const reader = new PageReader(key, read(key));
    if (page.kind !== 'block' || page.level !== LEAF_LEVELS) continue;
    leaves.push(...readLeaves(reader, trie, nextFreeNode, page.index));
  }
  return leaves;
}
