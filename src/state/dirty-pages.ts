/** The pages that blocks have changed since they were last written, and their bytes. */

import { schemeFormat, TAIL_POSITION } from '../accumulator/scheme.js';
import { readUndo, type UndoneChange } from '../kernel/trie.js';
import { equalBytes } from '../primitives/bytes.js';
import {
  ACCOUNT_TRIE,
  type BucketId,
  bucketAt,
  bucketCount,
  bucketOf,
  encodeHeader,
  entryCount,
  hasPage,
  type KeyEntry,
  LEAF_LEVELS,
  lowestKey,
  type Page,
  type PageChanges,
  type PageId,
  PageWriter,
  pageKey,
  pagesOf,
  ROOT,
  ROW_LEVELS,
  rowLevel,
  STATE_KEY,
  type StoredLeaf,
  type StoredValue,
  splitOf,
  topLevel,
  writeKeys,
  writeLeaves,
} from './page-format.js';
import type { BlockUndo, StateTries } from './state-tries.js';

/** Tracks the pages that changed since `take` was last called. Only their keys are kept. */
export class DirtyPages {
  private readonly dirty = new Map<string, { readonly trie: number; readonly page: PageId }>();
  private readonly tailKey: Uint8Array;

  /** @param saved - whether all pages of the state are stored already */
  constructor(
    private readonly tries: StateTries,
    saved: boolean,
  ) {
    this.tailKey = schemeFormat(tries.hasher.scheme).tailKey;
    if (!saved) this.markAll(ACCOUNT_TRIE, tries.accounts);
  }

  /** Marks what a block changes. Call it after the block was sealed, or before it is undone. */
  mark(block: BlockUndo): void {
    const byTrie = new Map<number, UndoneChange[]>();
    for (const change of readUndo(block.tries)) {
      const changes = byTrie.get(change.trie);
      if (changes === undefined) byTrie.set(change.trie, [change]);
      else changes.push(change);
    }
    this.markChanges(ACCOUNT_TRIE, this.tries.accounts, byTrie.get(this.tries.accounts) ?? []);
    for (const [position, record] of block.accounts) {
      const before = record?.storage;
      const now = this.tries.records.get(position)?.storage;
      for (const storage of new Set([before, now])) {
        if (storage === undefined) continue;
        if (before === now) this.markChanges(position, storage.handle, byTrie.get(storage.handle) ?? []);
        else this.markAll(position, storage.handle);
      }
    }
  }

  /** The current content of all pages changed since the last call, and the header page. */
  take(block: number, root: Uint8Array): PageChanges {
    const { hasher, kernel } = this.tries;
    const puts: Page[] = [{ key: STATE_KEY, value: encodeHeader({ scheme: hasher.scheme, block, root }) }];
    const deletes: string[] = [];
    for (const [key, { trie, page }] of this.dirty) {
      const handle = trie === ACCOUNT_TRIE ? this.tries.accounts : this.tries.records.get(trie)?.storage?.handle;
      const exists = handle !== undefined && hasPage(kernel.nextFreeNode(handle), page);
      if (exists) puts.push({ key, value: buildPage(this.tries, trie, page) });
      else deletes.push(key);
    }
    this.dirty.clear();
    return { puts, deletes };
  }

  private add(trie: number, page: PageId): void {
    this.dirty.set(pageKey(trie, page), { trie, page });
  }

  private markAll(trie: number, handle: number): void {
    for (const page of pagesOf(this.tries.kernel.nextFreeNode(handle))) this.add(trie, page);
  }

  private markChanges(trie: number, handle: number, changes: readonly UndoneChange[]): void {
    if (changes.length === 0) return;
    let lowest = this.tries.kernel.nextFreeNode(handle);
    let highest = lowest;
    for (const change of changes) {
      if (!('nextFreeNode' in change)) continue;
      lowest = Math.min(lowest, change.nextFreeNode);
      highest = Math.max(highest, change.nextFreeNode);
    }
    this.add(trie, ROOT);
    const [fewest, buckets] = [bucketCount(lowest), bucketCount(highest)];
    for (let count = Math.max(1, fewest); count < buckets; count++) {
      for (const page of splitOf(count)) this.add(trie, page);
    }
    for (const change of changes) {
      if (!('position' in change)) continue;
      const { position, leaf } = change;
      // This also marks a block that leaves the root page of a growing trie: it contains the neighbours of the new
      // leaf.
      for (let level = LEAF_LEVELS; level < topLevel(highest); level += ROW_LEVELS) {
        this.add(trie, { kind: 'block', level, index: Math.floor(position / 2 ** level) });
      }
      const now = this.tries.kernel.leaf(handle, position);
      if (leaf !== undefined && now !== undefined && equalBytes(leaf.hkey, now.hkey)) continue;
      for (const held of [leaf, now]) {
        if (held === undefined) continue;
        for (const count of new Set([fewest, buckets])) {
          if (count > 0) this.add(trie, bucketAt(count, bucketOf(count, held.hkey, this.tailKey)));
        }
      }
    }
  }
}

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
