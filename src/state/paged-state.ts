/**
 * A stored state that is read page by page, without being loaded: what a proof needs is fetched, and hashed before it is used.
 *
 * The reading code is synchronous. Where a page is missing it stops with `PagesNeeded`; `PageCache` fetches what it named and runs it
 * again. Of each page, the block is hashed once and kept (`VerifiedBlock`).
 */

import { type AccountValue, decodeAccountValue } from '../accumulator/account-value.js';
import { emptyHashes } from '../accumulator/empty-subtrees.js';
import { hashAccountValue, hashWord } from '../accumulator/keys.js';
import { encodeLeaf, encodeTop } from '../accumulator/leaf-opening.js';
import type { LineaProofJson } from '../accumulator/proof-shape.js';
import { schemeFormat, TREE_DEPTH, ZERO_HASH } from '../accumulator/scheme.js';
import { isPlumblineError } from '../errors.js';
import type { Hasher, HashScheme } from '../kernel/contracts.js';
import type { TrieFound } from '../kernel/trie.js';
import { compareBytes, concatBytes, copyBytes, equalBytes, joinBytes } from '../primitives/bytes.js';
import { KeyHashes } from './hash-cache.js';
import {
  ACCOUNT_TRIE,
  bucketAt,
  bucketCount,
  bucketOf,
  decodeHeader,
  isEmptyRoot,
  type KeyEntry,
  LEAF_LEVELS,
  PageReader,
  type PageSource,
  pageCorrupt,
  pageKey,
  ROOT,
  ROW_LEVELS,
  readKeys,
  readLeaves,
  readNextFreeNode,
  readRow,
  rowLevel,
  STATE_KEY,
  type StateHeader,
  type StoredLeaf,
  type StoredValue,
  topLevel,
} from './page-format.js';
import { AccountRecord, proveAccount, SlotValues, type StateView } from './state-tries.js';

/**
 * A stored state whose pages are read on demand. Every answer is proved by hashing up to `root`, or refused with
 * PlumblineError `STORE_CORRUPT`. Errors of the source are passed on.
 */
export interface PagedState {
  readonly scheme: HashScheme;
  /** Block of the stored state. */
  readonly block: number;
  /** State root, 32 bytes. */
  readonly root: Uint8Array;
  /** Number of pages read so far, header page included. */
  readonly pagesRead: number;
  /** As `WorldState.account`. */
  account(address: Uint8Array): Promise<AccountValue | undefined>;
  /** As `WorldState.slot`. */
  slot(address: Uint8Array, key: Uint8Array): Promise<Uint8Array>;
  /** As `WorldState.prove`. */
  prove(address: Uint8Array, storageKeys: readonly Uint8Array[]): Promise<LineaProofJson>;
}

/** Header of the stored state; undefined if there is none. @throws PlumblineError `STORE_CORRUPT`; `STORE_TOO_NEW` */
export async function storedState(source: PageSource): Promise<StateHeader | undefined> {
  const [page] = await source.getMany([STATE_KEY]);
  return page === undefined ? undefined : decodeHeader(page);
}

/** @throws PlumblineError `STORE_CORRUPT` also if there is no state, or one of the other scheme; `STORE_TOO_NEW` */
export async function requireStoredState(scheme: HashScheme, source: PageSource): Promise<StateHeader> {
  const header = await storedState(source);
  if (header === undefined) throw pageCorrupt(STATE_KEY, 'missing');
  if (header.scheme !== scheme)
    throw pageCorrupt(STATE_KEY, `the stored state has hash scheme ${header.scheme}, expected ${scheme}`);
  return header;
}

/**
 * Opens a stored state for reading. Almost nothing is read before the first query.
 *
 * @param hasher - of the scheme of the stored state
 * @throws PlumblineError `STORE_CORRUPT` also if there is no state, or one of the other scheme; `STORE_TOO_NEW`
 *
 * @example
 * ```ts
 * import { hexToBytes, loadHasher, openPagedState, openState } from 'plumbline-l2/state';
 *
 * const stored = new Map<string, Uint8Array>(); // or a database, such as that of `openStatePages`
 * const pages = { getMany: async (keys: readonly string[]) => keys.map((key) => stored.get(key)) };
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const state = await openState({ scheme: 'poseidon2', pages });
 * state.applyBlock(0, [{ address, after: { nonce: 1n, balance: 5n }, destroyed: false, slots: [] }]);
 * for (const { key, value } of state.takePages().puts) stored.set(key, value);
 *
 * const paged = await openPagedState(await loadHasher('poseidon2'), pages);
 * (await paged.account(address))?.balance; // => 5n
 * ```
 */
export async function openPagedState(hasher: Hasher, source: PageSource): Promise<PagedState> {
  const { scheme, block, root } = await requireStoredState(hasher.scheme, source);
  const keys = new KeyHashes(hasher);
  const storageTries = new Map<number, PagedTrie>();
  const cache = new PageCache(source, () => {
    accounts = new PagedTrie(hasher, cache, ACCOUNT_TRIE, root);
    storageTries.clear();
  });
  let accounts = new PagedTrie(hasher, cache, ACCOUNT_TRIE, root);

  function record(position: number): AccountRecord | undefined {
    const stored = accounts.value(position);
    if (stored === undefined) return undefined;
    const { value, hasStorage, storageRestarts } = stored;
    const { storageRoot } = decodeAccountValue(value);
    if (!hasStorage && !isEmptyRoot(scheme, storageRoot)) {
      throw pageCorrupt(pageKey(position, ROOT), 'the account has a storage root, but no storage is stored');
    }
    if (hasStorage && !storageTries.has(position)) {
      storageTries.set(position, new PagedTrie(hasher, cache, position, storageRoot));
    }
    // Slot values are read from the pages, by the name of the trie.
    const storage = hasStorage ? { handle: position, values: new SlotValues() } : undefined;
    return new AccountRecord(value, storage, storageRestarts);
  }

  function trie(name: number): PagedTrie {
    return name === ACCOUNT_TRIE ? accounts : storageTries.get(name)!;
  }

  const view: StateView = {
    tries: {
      topRoot: (name) => trie(name).root,
      find: (name, hkey) => trie(name).find(hkey),
      branch: (name, position) => trie(name).branch(position),
    },
    record,
    slotValue: (storage, position) => trie(storage.handle).value(position)?.value,
  };

  function find(hkey: Uint8Array): AccountRecord | undefined {
    const found = accounts.find(hkey);
    return found.present ? record(found.position) : undefined;
  }

  return {
    scheme,
    block,
    root,

    get pagesRead() {
      return 1 + cache.pagesRead;
    },

    async account(address) {
      const { hkey } = keys.hashedAddress(address);
      const found = await cache.run(() => find(hkey));
      return found && decodeAccountValue(found.value);
    },

    async slot(address, key) {
      const account = keys.hashedAddress(address);
      const { hkey } = keys.hashedSlots([key])[0]!;
      return cache.run(() => {
        const storage = find(account.hkey)?.storage;
        if (storage === undefined) return ZERO_HASH.slice();
        const found = trie(storage.handle).find(hkey);
        return copyBytes(found.present ? view.slotValue(storage, found.position)! : ZERO_HASH);
      });
    },

    async prove(address, storageKeys) {
      const account = keys.hashedAddress(address);
      const slots = keys.hashedSlots(storageKeys);
      return cache.run(() => {
        const storage = find(account.hkey)?.storage;
        if (storage !== undefined && !isEmptyRoot(scheme, trie(storage.handle).root)) {
          // Finding a key reads most of what its proof needs.
          cache.together(
            slots.map(
              ({ hkey }) =>
                () =>
                  trie(storage.handle).find(hkey),
            ),
          );
        }
        return proveAccount(scheme, view, ACCOUNT_TRIE, account, slots);
      });
    },
  };
}

interface Top {
  readonly nextFreeNode: number;
  readonly block: VerifiedBlock;
  readonly subRoot: Uint8Array;
}

/**
 * One trie, read from its pages. Every block is hashed and compared with the block above it, from the trie's root down,
 * so results do not depend on correct pages. For use within `PageCache.run`.
 */
class PagedTrie {
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

/** Maximum number of pages kept between requests. The cache is cleared when a request begins with more. */
const MAX_PAGES = 8192;

/** Signals that pages must be loaded before the reading can continue. Not a failure. */
class PagesNeeded extends Error {
  constructor(readonly keys: readonly string[]) {
    super('pages needed');
  }
}

/**
 * Runs synchronous reading code over an asynchronous source: it is run again when the pages it needs have been loaded.
 */
export class PageCache {
  private readonly pages = new Map<string, Uint8Array | undefined>();
  private read = 0;

  /**
   * @param source - pages of one commit.
   * @param onClear - called when pages are dropped, so that data derived from them is dropped too
   */
  constructor(
    private readonly source: PageSource,
    private readonly onClear: () => void,
  ) {}

  /** Number of pages read from the source so far. */
  get pagesRead(): number {
    return this.read;
  }

  /** A loaded page; undefined if it does not exist. Only within `run`. @param ahead - pages that will be needed next */
  page(key: string, ahead: readonly string[] = []): Uint8Array | undefined {
    if (this.pages.has(key)) return this.pages.get(key);
    throw new PagesNeeded([key, ...ahead.filter((other) => !this.pages.has(other))]);
  }

  /** Runs independent readings, so that their pages are loaded together. Only within `run`. */
  together(readings: readonly (() => void)[]): void {
    const needed = new Set<string>();
    for (const reading of readings) {
      try {
        reading();
      } catch (error) {
        if (!(error instanceof PagesNeeded)) throw error;
        for (const key of error.keys) needed.add(key);
      }
    }
    if (needed.size > 0) throw new PagesNeeded([...needed]);
  }

  /** @param reading - depends on pages only; may be run many times */
  async run<Result>(reading: () => Result): Promise<Result> {
    if (this.pages.size > MAX_PAGES) {
      this.pages.clear();
      this.onClear();
    }
    for (;;) {
      try {
        return reading();
      } catch (error) {
        if (!(error instanceof PagesNeeded)) throw error;
        const pages = await this.source.getMany(error.keys);
        this.read += error.keys.length;
        for (const [i, key] of error.keys.entries()) this.pages.set(key, pages[i]);
      }
    }
  }
}

/** A block and all its nodes, hashed from its entries. */
interface VerifiedBlock {
  readonly level: number;
  readonly index: number;
  /** Leaves by position; empty above the leaf level. */
  readonly leaves: ReadonlyMap<number, StoredLeaf>;
  /** 32 bytes. */
  readonly root: Uint8Array;
  /**
   * Hash of a node in the block.
   *
   * @param level - from that of the entries to that of the block
   * @param index - in the trie
   */
  node(level: number, index: number): Uint8Array;
}

function leafBlock(hasher: Hasher, index: number, leaves: readonly StoredLeaf[]): VerifiedBlock {
  const hashes = new Array<Uint8Array>(2 ** LEAF_LEVELS).fill(ZERO_HASH);
  const digests = hashAll(
    hasher,
    leaves.map(({ leaf }) => encodeLeaf(hasher.scheme, leaf)),
  );
  for (const [i, { position }] of leaves.entries()) hashes[position % hashes.length] = digests[i]!;
  return block(hasher, LEAF_LEVELS, index, hashes, new Map(leaves.map((leaf) => [leaf.position, leaf])));
}

/** @param row - hashes of the blocks below; those after the trie's end are left out */
function rowBlock(hasher: Hasher, level: number, index: number, row: readonly Uint8Array[]): VerifiedBlock {
  const below = rowLevel(level);
  const empty = emptyHashes(hasher)[below]!;
  const hashes = Array.from({ length: 2 ** (level - below) }, (_, i) => row[i] ?? empty);
  return block(hasher, level, index, hashes, new Map());
}

function block(
  hasher: Hasher,
  level: number,
  index: number,
  entries: readonly Uint8Array[],
  leaves: ReadonlyMap<number, StoredLeaf>,
): VerifiedBlock {
  const empties = emptyHashes(hasher);
  const bottom = rowLevel(level);
  const rows = [entries];
  for (let at = bottom; at < level; at++) {
    const children = rows.at(-1)!;
    const pairs = Array.from(
      { length: children.length / 2 },
      (_, i) => [children[2 * i]!, children[2 * i + 1]!] as const,
    );
    const filled = pairs.filter(([a, b]) => !equalBytes(a, empties[at]!) || !equalBytes(b, empties[at]!));
    const digests = hashAll(
      hasher,
      filled.map(([a, b]) => concatBytes(a, b)),
    );
    const hashOf = new Map(filled.map((pair, i) => [pair, digests[i]!]));
    rows.push(pairs.map((pair) => hashOf.get(pair) ?? empties[at + 1]!));
  }
  return {
    level,
    index,
    leaves,
    root: rows.at(-1)![0]!,
    node: (at, i) => rows[at - bottom]![i - index * 2 ** (level - at)]!,
  };
}

/** @param inputs - all of one length */
function hashAll(hasher: Hasher, inputs: readonly Uint8Array[]): Uint8Array[] {
  if (inputs.length === 0) return [];
  const digests = hasher.hashMany(joinBytes(inputs), inputs[0]!.length);
  return inputs.map((_, i) => digests.slice(32 * i, 32 * i + 32));
}
