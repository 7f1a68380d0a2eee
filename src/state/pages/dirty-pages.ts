import { schemeFormat } from '../../accumulator/scheme.js';
import { readUndo, type UndoneChange } from '../../kernel/trie.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { Page, PageChanges } from '../page-source.js';
import type { BlockUndo, StateTries } from '../tries/state-tries.js';
import { buildPage } from './build-page.js';
import {
  ACCOUNT_TRIE,
  bucketAt,
  bucketCount,
  bucketOf,
  hasPage,
  LEAF_LEVELS,
  type PageId,
  pageKey,
  pagesOf,
  ROOT,
  ROW_LEVELS,
  STATE_KEY,
  splitOf,
  topLevel,
} from './geometry.js';
import { encodeHeader } from './page-content.js';

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
