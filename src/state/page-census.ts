import {
  ACCOUNT_TRIE,
  decodeHeader,
  LEAF_LEVELS,
  PageReader,
  pageKey,
  pagesOf,
  ROOT,
  readLeaves,
  readNextFreeNode,
  STATE_KEY,
  type StoredLeaf,
  topLevel,
} from './page-format.js';

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
