import { emptyHashes } from '../../accumulator/empty-subtrees.js';
import { hashAccountValue, hashWord } from '../../accumulator/keys.js';
import { encodeLeaf, encodeTop } from '../../accumulator/leaf-opening.js';
import { schemeFormat, TREE_DEPTH, ZERO_HASH } from '../../accumulator/scheme.js';
import { isPlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import type { TrieFound } from '../../kernel/trie.js';
import { compareBytes, concatBytes, equalBytes } from '../../primitives/bytes.js';
import {
  ACCOUNT_TRIE,
  bucketAt,
  bucketCount,
  bucketOf,
  LEAF_LEVELS,
  pageKey,
  ROOT,
  ROW_LEVELS,
  topLevel,
} from './geometry.js';
import type { PageCache } from './page-cache.js';
import { PageReader, pageCorrupt } from './page-codec.js';
import {
  type KeyEntry,
  readKeys,
  readLeaves,
  readNextFreeNode,
  readRow,
  type StoredLeaf,
  type StoredValue,
} from './page-content.js';
import { leafBlock, rowBlock, type VerifiedBlock } from './verified-block.js';

interface Top {
  readonly nextFreeNode: number;
  readonly block: VerifiedBlock;
  readonly subRoot: Uint8Array;
}

/**
 * One trie, read from its pages. Every block is hashed and compared with the block above it, from the trie's root down,
 * so results do not depend on correct pages. For use within `PageCache.run`.
 */
export class PagedTrie {
  private readonly blocks = new Map<string, VerifiedBlock>();
  private readonly buckets = new Map<string, readonly KeyEntry[]>();
  private readonly checkedValues = new Set<number>();
  private knownTop: Top | undefined;

  /**
   * @param name - `ACCOUNT_TRIE`, or the position of the account whose storage this is
   * @param root - expected top root, 32 bytes
   */
  constructor(
    private readonly hasher: Hasher,
    private readonly cache: PageCache,
    private readonly name: number,
    readonly root: Uint8Array,
  ) {}

  get nextFreeNode(): number {
    return this.top().nextFreeNode;
  }

  /** @throws PlumblineError `STORE_CORRUPT` if the pages show neither the key nor the two leaves around it */
  find(hkey: Uint8Array): TrieFound {
    const left = this.floor(hkey);
    const leaf = left === undefined ? undefined : this.leaf(left)?.leaf;
    if (left === undefined || leaf === undefined || compareBytes(leaf.hkey, hkey) > 0) throw this.brokenIndex();
    if (equalBytes(leaf.hkey, hkey)) return { present: true, position: left };
    const right = this.leaf(leaf.nextLeaf)?.leaf;
    if (right === undefined || compareBytes(right.hkey, hkey) <= 0) throw this.brokenIndex();
    return { present: false, left, right: leaf.nextLeaf };
  }

  /** The value at a used position other than head and tail, checked against its hash. */
  value(position: number): StoredValue | undefined {
    const { leaf, stored } = this.leaf(position) ?? {};
    if (stored === undefined || this.checkedValues.has(position)) return stored;
    const key = this.keyOf(LEAF_LEVELS, Math.floor(position / 2 ** LEAF_LEVELS));
    const hash = this.name === ACCOUNT_TRIE ? hashAccountValue : hashWord;
    if (
      !equalBytes(
        corruptIfRefused(key, () => hash(this.hasher, stored.value)),
        leaf!.hval,
      )
    ) {
      throw pageCorrupt(key, `the value at position ${position} does not match its hash`);
    }
    this.checkedValues.add(position);
    return stored;
  }

  /** The 42 preimages for a used position, from the top down. */
  branch(position: number): Uint8Array[] {
    const { scheme } = this.hasher;
    const { nextFreeNode, subRoot } = this.top();
    const preimages = [encodeTop(scheme, nextFreeNode, subRoot)];
    for (let level = TREE_DEPTH - 1; level > 0; level--) {
      const sibling = siblingOf(Math.floor(position / 2 ** level));
      preimages.push(concatBytes(this.node(level - 1, 2 * sibling), this.node(level - 1, 2 * sibling + 1)));
    }
    const sibling = this.leaf(siblingOf(position));
    preimages.push(sibling === undefined ? ZERO_HASH : encodeLeaf(scheme, sibling.leaf));
    preimages.push(encodeLeaf(scheme, this.leaf(position)!.leaf));
    return preimages;
  }

  private leaf(position: number): StoredLeaf | undefined {
    if (position >= this.nextFreeNode) return undefined;
    return this.block(LEAF_LEVELS, Math.floor(position / 2 ** LEAF_LEVELS)).leaves.get(position);
  }

  /** A node beside a used branch: at and above the level of the top block, these are empty. */
  private node(level: number, index: number): Uint8Array {
    if (index * 2 ** level >= this.nextFreeNode) return emptyHashes(this.hasher)[level]!;
    let above = LEAF_LEVELS;
    while (above <= level) above += ROW_LEVELS;
    return this.block(above, Math.floor(index / 2 ** (above - level))).node(level, index);
  }

  /** Position that the index gives for the largest key that is at most `hkey`. */
  private floor(hkey: Uint8Array): number | undefined {
    const { nextFreeNode, block } = this.top();
    const count = bucketCount(nextFreeNode);
    if (count === 0) {
      const leaves = [...block.leaves.values()].filter(({ leaf }) => compareBytes(leaf.hkey, hkey) <= 0);
      leaves.sort((a, b) => compareBytes(a.leaf.hkey, b.leaf.hkey));
      return leaves.at(-1)?.position;
    }
    const { tailKey } = schemeFormat(this.hasher.scheme);
    for (let i = bucketOf(count, hkey, tailKey); i >= 0; i--) {
      const key = pageKey(this.name, bucketAt(count, i));
      const keys = this.buckets.get(key) ?? readKeys(new PageReader(key, this.cache.page(key)));
      this.buckets.set(key, keys);
      const entry = keys.findLast((held) => compareBytes(held.hkey, hkey) <= 0);
      if (entry !== undefined) return entry.position;
    }
    return undefined;
  }

  private top(): Top {
    if (this.knownTop !== undefined) return this.knownTop;
    const key = pageKey(this.name, ROOT);
    const page = new PageReader(key, this.cache.page(key));
    const nextFreeNode = readNextFreeNode(page);
    const top = corruptIfRefused(key, () => {
      const block = this.readBlock(page, nextFreeNode, topLevel(nextFreeNode), 0);
      let subRoot = block.root;
      for (let level = block.level; level < TREE_DEPTH; level++) {
        subRoot = this.hasher.hash(concatBytes(subRoot, emptyHashes(this.hasher)[level]!));
      }
      const root = this.hasher.hash(encodeTop(this.hasher.scheme, nextFreeNode, subRoot));
      if (!equalBytes(root, this.root)) throw pageCorrupt(key, 'does not lead to the root');
      return { nextFreeNode, block, subRoot };
    });
    this.knownTop = top;
    return top;
  }

  private block(level: number, index: number): VerifiedBlock {
    const { nextFreeNode, block: top } = this.top();
    if (level === top.level) return top;
    const key = this.keyOf(level, index);
    const known = this.blocks.get(key);
    if (known !== undefined) return known;
    // Request all pages on the way at once.
    const above: string[] = [];
    for (let at = level + ROW_LEVELS; at < top.level; at += ROW_LEVELS) {
      above.push(this.keyOf(at, Math.floor(index / 2 ** (at - level))));
    }
    const bytes = this.cache.page(key, above);
    const parent = this.block(level + ROW_LEVELS, Math.floor(index / 2 ** ROW_LEVELS));
    const block = corruptIfRefused(key, () => this.readBlock(new PageReader(key, bytes), nextFreeNode, level, index));
    if (!equalBytes(block.root, parent.node(level, index))) throw pageCorrupt(key, 'does not match the page above');
    this.blocks.set(key, block);
    return block;
  }

  private readBlock(page: PageReader, nextFreeNode: number, level: number, index: number): VerifiedBlock {
    if (level > LEAF_LEVELS) return rowBlock(this.hasher, level, index, readRow(page, nextFreeNode, level, index));
    return leafBlock(this.hasher, index, readLeaves(page, this.name, nextFreeNode, index));
  }

  /** Key of the page that contains a block. */
  private keyOf(level: number, index: number): string {
    const inRoot = level === topLevel(this.nextFreeNode);
    return pageKey(this.name, inRoot ? ROOT : { kind: 'block', level, index });
  }

  private brokenIndex(): Error {
    return pageCorrupt(pageKey(this.name, ROOT), 'the key index does not match the leaves');
  }
}

function siblingOf(index: number): number {
  return index % 2 === 0 ? index + 1 : index - 1;
}

/** Data that cannot be hashed was damaged. */
function corruptIfRefused<Result>(key: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw pageCorrupt(key, error.message, error);
    throw error;
  }
}
