import { compareBytes, equalBytes } from '../primitives/bytes.js';
import type { TrieFound, TrieKernel, TrieLeaf } from './trie-contract.js';
import { ENTRY, NODE, NONE } from './trie-exports.js';

const DEPTH = 40;

/** Content of one trie before the commits of a record. */
interface TrieBefore {
  nextFreeNode?: number;
  readonly leaves: Map<number, TrieLeaf | undefined>;
  /** By `nodeKey`. */
  readonly nodes: Map<number, Uint8Array>;
}

/** Content of tries before some commits, by handle: records of `takeUndo` and `takeNodes` of one moment, indexed. */
export type TriesBefore = ReadonlyMap<number, TrieBefore>;

/** A branch of an earlier trie. With its leaves encoded, these are the 42 preimages of docs/spec/state-trie.md 7.3. */
export interface PastBranch {
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  /** Preimages of the sibling nodes, levels 39 to 1: 39 of 64 bytes. */
  readonly pairs: readonly Uint8Array[];
  /** Sibling leaf; undefined if unused. */
  readonly beside: TrieLeaf | undefined;
  readonly leaf: TrieLeaf;
}

/** A level below 2^6 and an index below 2^32 in one number. */
function nodeKey(level: number, index: number): number {
  return level * 2 ** 32 + index;
}

/**
 * Indexes records. Both are kept, not copied.
 *
 * @param undo - from `takeUndo`.
 * @param nodes - from `takeNodes` directly before or after it
 */
export function readTriesBefore(undo: Uint8Array, nodes: Uint8Array): TriesBefore {
  const tries = new Map<number, TrieBefore>();
  const of = (trie: number): TrieBefore => {
    const known = tries.get(trie) ?? { leaves: new Map(), nodes: new Map() };
    tries.set(trie, known);
    return known;
  };
  const words = new DataView(undo.buffer, undo.byteOffset, undo.length);
  // From last to first, so that the earliest entry of a position or node counts.
  for (let at = undo.length - ENTRY.bytes; at >= 0; at -= ENTRY.bytes) {
    const before = of(words.getUint32(at + ENTRY.trie, true));
    const position = words.getUint32(at + ENTRY.position, true);
    const prevLeaf = words.getUint32(at + ENTRY.prevLeaf, true);
    const hash = (offset: number) => undo.subarray(at + offset, at + offset + 32);
    if (position === NONE) before.nextFreeNode = prevLeaf;
    else if (prevLeaf === NONE) before.leaves.set(position, undefined);
    else {
      const nextLeaf = words.getUint32(at + ENTRY.nextLeaf, true);
      before.leaves.set(position, { prevLeaf, nextLeaf, hkey: hash(ENTRY.hkey), hval: hash(ENTRY.hval) });
    }
  }
  const places = new DataView(nodes.buffer, nodes.byteOffset, nodes.length);
  for (let at = nodes.length - NODE.bytes; at >= 0; at -= NODE.bytes) {
    const key = nodeKey(places.getUint32(at + NODE.level, true), places.getUint32(at + NODE.index, true));
    const hash = nodes.subarray(at + NODE.hash, at + NODE.hash + 32);
    of(places.getUint32(at + NODE.trie, true)).nodes.set(key, hash);
  }
  return tries;
}

/**
 * The tries of a kernel at an earlier moment, read through the changes since. Nothing is copied or hashed. Valid until
 * the kernel's tries change. Tries that did not exist then show their current content.
 */
export class PastTries {
  readonly #kernel: TrieKernel;
  readonly #records: readonly TriesBefore[];

  /** @param records - of everything that was committed since, oldest first */
  constructor(kernel: TrieKernel, records: readonly TriesBefore[]) {
    this.#kernel = kernel;
    this.#records = records;
  }

  nextFreeNode(trie: number): number {
    for (const record of this.#records) {
      const next = record.get(trie)?.nextFreeNode;
      if (next !== undefined) return next;
    }
    return this.#kernel.nextFreeNode(trie);
  }

  /** 32 bytes. */
  subRoot(trie: number): Uint8Array {
    return this.#node(trie, DEPTH, 0) ?? this.#kernel.subRoot(trie);
  }

  leaf(trie: number, position: number): TrieLeaf | undefined {
    for (const record of this.#records) {
      const leaves = record.get(trie)?.leaves;
      if (leaves?.has(position)) return leaves.get(position);
    }
    return this.#kernel.leaf(trie, position);
  }

  /** As `TrieKernel.find`. */
  find(trie: number, hkey: Uint8Array): TrieFound {
    const now = this.#kernel.find(trie, hkey);
    let position = now.present ? now.position : now.left;
    let leaf = this.leaf(trie, position);
    // Skip leaves inserted since, to the left; then find leaves removed since, to the right, up to the tail: it is next to itself.
    while (leaf === undefined || compareBytes(leaf.hkey, hkey) > 0) {
      position = this.#kernel.leaf(trie, position)!.prevLeaf;
      leaf = this.leaf(trie, position);
    }
    while (leaf.nextLeaf !== position) {
      const next: TrieLeaf = this.leaf(trie, leaf.nextLeaf)!;
      if (compareBytes(next.hkey, hkey) > 0) break;
      position = leaf.nextLeaf;
      leaf = next;
    }
    if (equalBytes(leaf.hkey, hkey)) return { present: true, position };
    return { present: false, left: position, right: leaf.nextLeaf };
  }

  /** Undefined if the position was unused. */
  branch(trie: number, position: number): PastBranch | undefined {
    const leaf = this.leaf(trie, position);
    if (leaf === undefined) return undefined;
    const pairs = this.#kernel.siblingPairs(trie, position);
    for (const [i, pair] of pairs.entries()) {
      const level = DEPTH - 1 - i;
      const index = Math.floor(position / 2 ** level);
      const child = 2 * (index % 2 === 0 ? index + 1 : index - 1);
      for (const side of [0, 1]) {
        const hash = this.#node(trie, level - 1, child + side);
        if (hash !== undefined) pair.set(hash, 32 * side);
      }
    }
    const beside = this.leaf(trie, position % 2 === 0 ? position + 1 : position - 1);
    return { nextFreeNode: this.nextFreeNode(trie), subRoot: this.subRoot(trie), pairs, beside, leaf };
  }

  #node(trie: number, level: number, index: number): Uint8Array | undefined {
    const key = nodeKey(level, index);
    for (const record of this.#records) {
      const hash = record.get(trie)?.nodes.get(key);
      if (hash !== undefined) return hash;
    }
    return undefined;
  }
}
