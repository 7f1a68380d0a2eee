import { emptyHashes } from '../../src/accumulator/empty-subtrees.js';
import { encodeIndex, encodeLeaf, type LeafOpening } from '../../src/accumulator/leaf-opening.js';
import { TREE_DEPTH } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';

/** What a position holds: a leaf opening, or the raw bytes of one, and the value to show with it. */
export interface HostileLeaf {
  readonly opening: LeafOpening | Uint8Array;
  readonly value: Uint8Array;
}

/** A tree with any leaves anywhere, whether or not they follow the rules, and the branches of its leaves. */
export class HostileTree {
  readonly #hasher: Hasher;
  readonly #leaves: ReadonlyMap<number, HostileLeaf>;
  readonly #top: Uint8Array;

  /** @param nextFreeNode - a number, or the bytes that stand for it */
  constructor(hasher: Hasher, leaves: Readonly<Record<number, HostileLeaf>>, nextFreeNode: number | Uint8Array) {
    this.#hasher = hasher;
    this.#leaves = new Map(Object.entries(leaves).map(([position, leaf]) => [Number(position), leaf]));
    const index = typeof nextFreeNode === 'number' ? encodeIndex(hasher.scheme, nextFreeNode) : nextFreeNode;
    this.#top = concatBytes(index, this.#node(TREE_DEPTH, 0));
  }

  get root(): Uint8Array {
    return this.#hasher.hash(this.#top);
  }

  branch(position: number) {
    const nodes = [this.#top];
    for (let level = TREE_DEPTH - 1; level >= 0; level--) {
      const index = Math.floor(position / 2 ** level);
      const sibling = index % 2 === 0 ? index + 1 : index - 1;
      nodes.push(level === 0 ? (this.#opening(sibling) ?? new Uint8Array(32)) : this.#preimage(level, sibling));
    }
    nodes.push(this.#opening(position)!);
    return { value: bytesToHex(this.#leaves.get(position)!.value), proofRelatedNodes: nodes.map(bytesToHex) };
  }

  #opening(position: number): Uint8Array | undefined {
    const opening = this.#leaves.get(position)?.opening;
    return opening === undefined || opening instanceof Uint8Array ? opening : encodeLeaf(this.#hasher.scheme, opening);
  }

  #preimage(level: number, index: number): Uint8Array {
    return concatBytes(this.#node(level - 1, 2 * index), this.#node(level - 1, 2 * index + 1));
  }

  #node(level: number, index: number): Uint8Array {
    const used = [...this.#leaves.keys()].some((position) => Math.floor(position / 2 ** level) === index);
    if (!used) return emptyHashes(this.#hasher)[level]!;
    return this.#hasher.hash(level === 0 ? this.#opening(index)! : this.#preimage(level, index));
  }
}
