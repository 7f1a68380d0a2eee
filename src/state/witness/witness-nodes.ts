import { emptyHashes } from '../../accumulator/empty-subtrees.js';
import { MAX_LEAVES, TREE_DEPTH } from '../../accumulator/scheme.js';
import { PlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { copyBytes, equalBytes } from '../../primitives/bytes.js';

/**
 * The known nodes of one trie, under a given sub root.
 *
 * Nodes are numbered: 1 is the sub root, the children of `id` are `2 * id` and `2 * id + 1`, leaf position p is `2^40 +
 * p`. For every known node, its sibling and its parent are known too, and the parent is their hash. So everything known
 * is proved, and a new branch must be hashed only up to the first known node.
 */
export class WitnessNodes {
  private readonly empties: readonly Uint8Array[];

  private constructor(
    private readonly hasher: Hasher,
    private readonly hashes: Map<number, Uint8Array>,
  ) {
    this.empties = emptyHashes(hasher);
  }

  /** A trie of which only the sub root (32 bytes) is known. */
  static under(hasher: Hasher, subRoot: Uint8Array): WitnessNodes {
    return new WitnessNodes(hasher, new Map([[SUB_ROOT, subRoot]]));
  }

  copy(): WitnessNodes {
    return new WitnessNodes(this.hasher, new Map(this.hashes));
  }

  get subRoot(): Uint8Array {
    return this.hashes.get(SUB_ROOT)!;
  }

  /** Hash of a node; undefined if it is not known. */
  hashOf(id: number): Uint8Array | undefined {
    return this.hashes.get(id);
  }

  /**
   * Adds a branch of the current trie. A refused branch adds nothing.
   *
   * @param leafHash - hash of the leaf, 32 bytes; 32 zero bytes for an unused position
   * @param siblings - 40 hashes from level 0 up
   * @throws PlumblineError `WITNESS_CONFLICT` when the branch does not lead to the sub root, or differs from known
   *   nodes
   */
  learn(position: number, leafHash: Uint8Array, siblings: readonly Uint8Array[]): void {
    const added: [number, Uint8Array][] = [];
    let id = leafId(position);
    let hash = leafHash;
    let level = 0;
    for (; !this.hashes.has(id); level++) {
      const sibling = siblings[level]!;
      added.push([id, hash], [siblingId(id), copyBytes(sibling)]);
      hash = this.parentHash(id, level, hash, sibling);
      id = parentId(id);
    }
    if (!equalBytes(hash, this.hashes.get(id)!))
      throw conflict(position, `its branch does not match the known node at level ${level}`);
    for (; level < TREE_DEPTH; level++) {
      const known = this.hashes.get(siblingId(id))!;
      if (!equalBytes(known, siblings[level]!))
        throw conflict(position, `its sibling at level ${level} differs from the known one`);
      id = parentId(id);
    }
    for (const [node, digest] of added) this.hashes.set(node, digest);
  }

  /**
   * Adds the branch of a position if known nodes show that it is empty.
   *
   * @throws PlumblineError `WITNESS_MISSING` if it is neither known nor empty
   */
  expandEmpty(position: number): void {
    let id = leafId(position);
    let level = 0;
    for (; !this.hashes.has(id); level++) id = parentId(id);
    if (level === 0) return;
    if (!equalBytes(this.hashes.get(id)!, this.empties[level]!)) {
      const message = `the branch of leaf position ${position} is not known`;
      throw new PlumblineError('WITNESS_MISSING', message, { part: 'branch', position });
    }
    id = leafId(position);
    for (let below = 0; below < level; below++) {
      this.hashes.set(id, this.empties[below]!);
      this.hashes.set(siblingId(id), this.empties[below]!);
      id = parentId(id);
    }
  }

  /** The 40 siblings of a known position, from level 0 up. */
  siblings(position: number): Uint8Array[] {
    const siblings: Uint8Array[] = [];
    for (let id = leafId(position); id !== SUB_ROOT; id = parentId(id)) siblings.push(this.hashes.get(siblingId(id))!);
    return siblings;
  }

  /** Writes the leaf hash of a known position, and updates the nodes above. @returns the new sub root */
  write(position: number, leafHash: Uint8Array): Uint8Array {
    let id = leafId(position);
    let hash = leafHash;
    this.hashes.set(id, hash);
    for (let level = 0; level < TREE_DEPTH; level++) {
      hash = this.parentHash(id, level, hash, this.hashes.get(siblingId(id))!);
      id = parentId(id);
      this.hashes.set(id, hash);
    }
    return hash;
  }

  private parentHash(id: number, level: number, hash: Uint8Array, sibling: Uint8Array): Uint8Array {
    const empty = this.empties[level]!;
    if (equalBytes(hash, empty) && equalBytes(sibling, empty)) return this.empties[level + 1]!;
    const both = new Uint8Array(64);
    both.set(hash, id % 2 === 0 ? 0 : 32);
    both.set(sibling, id % 2 === 0 ? 32 : 0);
    return this.hasher.hash(both);
  }
}

const SUB_ROOT = 1;

/** Number of the node at a leaf position. */
export function leafId(position: number): number {
  return MAX_LEAVES + position;
}

/** Number of the other child of the same parent. */
export function siblingId(id: number): number {
  return id % 2 === 0 ? id + 1 : id - 1;
}

/** Number of a node's parent. */
export function parentId(id: number): number {
  // Numbers have up to 41 bits, too many for bit operators.
  return Math.floor(id / 2);
}

/** Error for data that contradicts what is known. */
export function conflict(position: number, reason: string): PlumblineError<'WITNESS_CONFLICT'> {
  const message = `leaf position ${position}: ${reason}`;
  return new PlumblineError('WITNESS_CONFLICT', message, { position, reason });
}
