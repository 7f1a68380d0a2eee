import { ACCOUNT_VALUE_BYTES } from '../../accumulator/account-value.js';
import { FIRST_FREE_NODE, schemeFormat, TAIL_POSITION } from '../../accumulator/scheme.js';
import { DIGEST_BYTES, type HashScheme } from '../../kernel/contracts.js';
import type { TrieLeaf } from '../../kernel/trie.js';
import { compareBytes, equalBytes } from '../../primitives/bytes.js';
import { ACCOUNT_TRIE, entryCount, LEAF_LEVELS, STATE_KEY } from './geometry.js';
import { PageReader, PageWriter, pageCorrupt } from './page-codec.js';

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
