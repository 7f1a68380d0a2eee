import { emptyHashes } from '../accumulator/empty-subtrees.js';
import { encodeLeaf, encodeTop } from '../accumulator/leaf-opening.js';
import { TREE_DEPTH, ZERO_HASH } from '../accumulator/scheme.js';
import type { Hasher } from '../kernel/contracts.js';
import type { TrieFound, TrieKernel, TrieLeaf } from '../kernel/trie-contract.js';
import { compareBytes, concatBytes, equalBytes } from '../primitives/bytes.js';

/** One name for a node: level 0 to 40, index below 2^40. */
const nodeName = (level: number, index: number) => level * 2 ** TREE_DEPTH + index;
const siblingOf = (index: number) => (index % 2 === 0 ? index + 1 : index - 1);
const parentOf = (index: number) => Math.floor(index / 2);

/**
 * One trie as it was after an earlier block, seen through what has been replaced since. Only nodes above changed leaves
 * are hashed again, once; all others are those of the trie as it is now.
 */
export class PastTrie {
  private readonly empties: readonly Uint8Array[];
  private nodes: Map<number, Uint8Array> | undefined;
  private gone: { position: number; leaf: TrieLeaf }[] | undefined;

  /**
   * @param leaves - what changed positions held then, undefined where nothing was
   * @param nextFreeNode - as it was then
   */
  constructor(
    private readonly hasher: Hasher,
    private readonly kernel: TrieKernel,
    private readonly handle: number,
    private readonly leaves: ReadonlyMap<number, TrieLeaf | undefined>,
    readonly nextFreeNode: number,
  ) {
    this.empties = emptyHashes(hasher);
  }

  leaf(position: number): TrieLeaf | undefined {
    return this.leaves.has(position) ? this.leaves.get(position) : this.kernel.leaf(this.handle, position);
  }

  find(hkey: Uint8Array): TrieFound {
    const left = this.floor(hkey);
    const leaf = this.leaf(left)!;
    if (equalBytes(leaf.hkey, hkey)) return { present: true, position: left };
    return { present: false, left, right: leaf.nextLeaf };
  }

  get subRoot(): Uint8Array {
    return this.node(TREE_DEPTH, 0);
  }

  get topRoot(): Uint8Array {
    return this.hasher.hash(this.top());
  }

  branch(position: number): Uint8Array[] {
    const { scheme } = this.hasher;
    const preimages = [this.top()];
    for (let level = TREE_DEPTH - 1; level > 0; level--) {
      const sibling = siblingOf(Math.floor(position / 2 ** level));
      preimages.push(concatBytes(this.node(level - 1, 2 * sibling), this.node(level - 1, 2 * sibling + 1)));
    }
    const beside = this.leaf(siblingOf(position));
    preimages.push(beside === undefined ? ZERO_HASH : encodeLeaf(scheme, beside));
    preimages.push(encodeLeaf(scheme, this.leaf(position)!));
    return preimages;
  }

  private top(): Uint8Array {
    return encodeTop(this.hasher.scheme, this.nextFreeNode, this.subRoot);
  }

  /** Position of the leaf with the largest key not above `hkey`. The head's key is below all. */
  private floor(hkey: Uint8Array): number {
    const now = this.kernel.find(this.handle, hkey);
    let position = now.present ? now.position : now.left;
    // Back over the leaves that were not there yet.
    while (this.leaves.has(position) && this.leaves.get(position) === undefined) {
      position = this.kernel.leaf(this.handle, position)!.prevLeaf;
    }
    const since = this.removedSince().findLast(({ leaf }) => compareBytes(leaf.hkey, hkey) <= 0);
    if (since === undefined) return position;
    return compareBytes(since.leaf.hkey, this.leaf(position)!.hkey) > 0 ? since.position : position;
  }

  /** Leaves that were there then and are not now, by key. */
  private removedSince(): readonly { position: number; leaf: TrieLeaf }[] {
    if (this.gone === undefined) {
      this.gone = [];
      for (const [position, leaf] of this.leaves) {
        if (leaf !== undefined && this.kernel.leaf(this.handle, position) === undefined)
          this.gone.push({ position, leaf });
      }
      this.gone.sort((a, b) => compareBytes(a.leaf.hkey, b.leaf.hkey));
    }
    return this.gone;
  }

  private node(level: number, index: number): Uint8Array {
    this.nodes ??= this.rehash();
    return this.nodes.get(nodeName(level, index)) ?? this.kernel.node(this.handle, level, index);
  }

  /** The nodes above changed leaves, level by level, each hashed once. */
  private rehash(): Map<number, Uint8Array> {
    const { scheme } = this.hasher;
    const nodes = new Map<number, Uint8Array>();
    const used = [...this.leaves].filter((entry): entry is [number, TrieLeaf] => entry[1] !== undefined);
    const openings = used.map(([, leaf]) => encodeLeaf(scheme, leaf));
    const hashes = this.hashAll(openings);
    for (const position of this.leaves.keys()) nodes.set(nodeName(0, position), ZERO_HASH);
    for (const [i, [position]] of used.entries()) nodes.set(nodeName(0, position), hashes[i]!);

    let indices: Iterable<number> = this.leaves.keys();
    for (let level = 1; level <= TREE_DEPTH; level++) {
      const parents = [...new Set([...indices].map(parentOf))];
      const child = (index: number) =>
        nodes.get(nodeName(level - 1, index)) ?? this.kernel.node(this.handle, level - 1, index);
      const preimages = parents.map((parent) => concatBytes(child(2 * parent), child(2 * parent + 1)));
      const empty = this.empties[level - 1]!;
      const emptyPreimage = concatBytes(empty, empty);
      const isEmpty = preimages.map((preimage) => equalBytes(preimage, emptyPreimage));
      const fresh = this.hashAll(preimages.filter((_, i) => !isEmpty[i]));
      let next = 0;
      for (const [i, parent] of parents.entries()) {
        nodes.set(nodeName(level, parent), isEmpty[i] ? this.empties[level]! : fresh[next++]!);
      }
      indices = parents;
    }
    return nodes;
  }

  /** @param inputs - all of one length */
  private hashAll(inputs: readonly Uint8Array[]): Uint8Array[] {
    if (inputs.length === 0) return [];
    const digests = this.hasher.hashMany(concatBytes(...inputs), inputs[0]!.length);
    return inputs.map((_, i) => digests.subarray(32 * i, 32 * i + 32));
  }
}
