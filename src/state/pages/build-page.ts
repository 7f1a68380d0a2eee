import { schemeFormat, TAIL_POSITION } from '../../accumulator/scheme.js';
import type { StateTries } from '../tries/state-tries.js';
import {
  ACCOUNT_TRIE,
  type BucketId,
  bucketCount,
  bucketOf,
  entryCount,
  LEAF_LEVELS,
  lowestKey,
  type PageId,
  pageKey,
  rowLevel,
  topLevel,
} from './geometry.js';
import { PageWriter } from './page-codec.js';
import { type KeyEntry, type StoredLeaf, type StoredValue, writeKeys, writeLeaves } from './page-content.js';

/**
 * Builds a page of the current state.
 *
 * @param trie - `ACCOUNT_TRIE`, or the position of an account with a storage trie
 * @param page - one that the trie has
 */
export function buildPage(tries: StateTries, trie: number, page: PageId): Uint8Array {
  const writer = new PageWriter();
  const handle = handleOf(tries, trie);
  if (page.kind === 'keys') writeKeys(writer, keysOf(tries, handle, page));
  else if (page.kind === 'block') writeBlock(writer, tries, trie, page.level, page.index);
  else {
    const nextFreeNode = tries.kernel.nextFreeNode(handle);
    writeBlock(writer.u32(nextFreeNode), tries, trie, topLevel(nextFreeNode), 0);
  }
  return writer.seal(pageKey(trie, page));
}

function handleOf(tries: StateTries, trie: number): number {
  return trie === ACCOUNT_TRIE ? tries.accounts : tries.records.get(trie)!.storage!.handle;
}

function writeBlock(writer: PageWriter, tries: StateTries, trie: number, level: number, index: number): void {
  const { kernel } = tries;
  const handle = handleOf(tries, trie);
  const first = index * 2 ** (level - rowLevel(level));
  const entries = entryCount(kernel.nextFreeNode(handle), level, index);
  if (level > LEAF_LEVELS) {
    for (let i = 0; i < entries; i++) writer.put(kernel.node(handle, rowLevel(level), first + i));
    return;
  }
  const leaves: StoredLeaf[] = [];
  for (let position = first; position < first + entries; position++) {
    const leaf = kernel.leaf(handle, position);
    if (leaf !== undefined) leaves.push({ position, leaf, stored: storedValue(tries, trie, position) });
  }
  writeLeaves(writer, first, leaves);
}

function storedValue(tries: StateTries, trie: number, position: number): StoredValue | undefined {
  if (position <= TAIL_POSITION) return undefined;
  if (trie === ACCOUNT_TRIE) {
    const { value, storage, storageRestarts } = tries.records.get(position)!;
    const hasStorage = storage !== undefined;
    // Without storage there is nothing to restart from, whatever the record says.
    return { value, hasStorage, storageRestarts: hasStorage && storageRestarts };
  }
  const value = tries.records.get(trie)!.storage!.values.get(position)!;
  return { value, hasStorage: false, storageRestarts: false };
}

/** Keys of a bucket, found by following the leaves from its lowest key. */
function keysOf({ kernel, hasher }: StateTries, handle: number, bucket: BucketId): KeyEntry[] {
  const { tailKey } = schemeFormat(hasher.scheme);
  const count = bucketCount(kernel.nextFreeNode(handle));
  const lowest = lowestKey(bucket, tailKey);
  const number = bucketOf(count, lowest, tailKey);
  const keys: KeyEntry[] = [];
  const found = kernel.find(handle, lowest);
  let position = found.present ? found.position : found.right;
  for (;;) {
    const { hkey, nextLeaf } = kernel.leaf(handle, position)!;
    if (bucketOf(count, hkey, tailKey) !== number) return keys;
    keys.push({ hkey, position });
    if (position === TAIL_POSITION) return keys;
    position = nextLeaf;
  }
}
