import { decodeIndex, decodeLeaf, type LeafOpening } from '../../accumulator/leaf-opening.js';
import { MAX_LEAVES, schemeFormat, TREE_DEPTH, ZERO_HASH } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { concatBytes, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { Refusal } from '../verdict.js';
import { type ClimbedPaths, climbBranches, entryAt, HASH_BYTES } from './branch-path.js';
import type { BranchAnswer } from './linea-answer.js';
import { strictHash } from './strict-hash.js';

/** A leaf that was proved to be in the tree. */
export interface VerifiedLeaf {
  readonly index: number;
  readonly leaf: LeafOpening;
  readonly nextFreeNode: number;
}

/** A branch that was verified. */
interface KnownBranch {
  readonly index: number;
  readonly nodes: readonly Uint8Array[];
  /** Node hashes on its path, 32 bytes each, from level 1 to level 40. */
  readonly path: Uint8Array;
  readonly nextFreeNode: number;
}

/**
 * Checks branches against the top root of one tree (docs/spec/state-trie.md 8, "branch check").
 *
 * Two things are compared, not hashed. Sibling preimages of two empty subtrees are compared with the known ones. And if a
 * branch joins the path of the previous one, its upper nodes are compared with those: neighbours of an absent key and slots of one
 * account share most of their upper nodes.
 */
export class TreeVerifier {
  readonly #hasher: Hasher;
  readonly #root: Uint8Array;
  readonly #ahead: ClimbedPaths | undefined;
  #previous: KnownBranch | undefined;

  /**
   * @param root - top root, 32 bytes
   * @param ahead - paths of branches that were computed before
   */
  constructor(hasher: Hasher, root: Uint8Array, ahead?: ClimbedPaths) {
    this.#hasher = hasher;
    this.#root = root;
    this.#ahead = ahead;
  }

  /** Verifies the leaf at `index`. Throws a `Refusal` if the branch does not lead from it to the root. */
  verify(index: number, indexAt: string, branch: BranchAnswer): VerifiedLeaf {
    if (index < 0 || index >= MAX_LEAVES) {
      throw new Refusal('INDEX_OUT_OF_RANGE', indexAt, `leaf index ${index} is not below 2^40`);
    }
    const { nodes } = branch;
    const at = (entry: number) => `${branch.at}.proofRelatedNodes[${entry}]`;
    const nextFreeNode = this.#top(nodes[0]!, at(0));
    const leaf = this.#leaf(nodes[41]!, at(41), nextFreeNode);
    if (nodes[40]!.length !== ZERO_HASH.length) this.#leaf(nodes[40]!, at(40), nextFreeNode);

    const joinLevel = this.#joinLevel(index, nodes);
    const ahead = this.#ahead?.get(branch);
    const climbed =
      ahead?.index === index ? ahead.path : climbBranches(this.#hasher, [{ index, branch }], joinLevel)[0]!;
    const known = joinLevel === TREE_DEPTH ? undefined : this.#previous!.path;
    const expected = known === undefined ? nodes[0]!.subarray(-HASH_BYTES) : nodeHash(known, joinLevel);
    if (!equalBytes(nodeHash(climbed, joinLevel), expected)) {
      throw new Refusal(
        'PATH_MISMATCH',
        `${branch.at}.proofRelatedNodes`,
        'leaf and siblings do not lead to the sub root',
      );
    }
    if (index >= nextFreeNode) {
      throw new Refusal('INDEX_OUT_OF_RANGE', indexAt, `leaf index ${index} is not below nextFreeNode ${nextFreeNode}`);
    }
    const path =
      climbed.length === TREE_DEPTH * HASH_BYTES
        ? climbed
        : concatBytes(climbed, known!.subarray(joinLevel * HASH_BYTES));
    this.#previous = { index, nodes, path, nextFreeNode };
    return { index, leaf, nextFreeNode };
  }

  /** `nextFreeNode` in the top node. The hash of the top node must be the root. */
  #top(node: Uint8Array, at: string): number {
    const known = this.#previous;
    if (known !== undefined && equalBytes(known.nodes[0]!, node)) return known.nextFreeNode;
    const root = strictHash(this.#hasher, node, at);
    if (!equalBytes(root, this.#root)) {
      throw new Refusal('ROOT_MISMATCH', at, `hashes to ${bytesToHex(root)}, the root is ${bytesToHex(this.#root)}`);
    }
    const { scheme } = this.#hasher;
    const nextFreeNode = decodeIndex(scheme, node.subarray(0, schemeFormat(scheme).indexBytes));
    if (nextFreeNode === undefined || nextFreeNode > MAX_LEAVES) {
      throw new Refusal('INDEX_OUT_OF_RANGE', at, 'nextFreeNode is not a position up to 2^40');
    }
    return nextFreeNode;
  }

  #leaf(opening: Uint8Array, at: string, nextFreeNode: number): LeafOpening {
    const leaf = decodeLeaf(this.#hasher.scheme, opening);
    if (leaf === undefined || leaf.prevLeaf >= nextFreeNode || leaf.nextLeaf >= nextFreeNode) {
      throw new Refusal('INDEX_OUT_OF_RANGE', at, 'a neighbour of the leaf is not a position below nextFreeNode');
    }
    return leaf;
  }

  /** Level from which on this branch equals the previous one; 40 if it does not, or there is no previous one. */
  #joinLevel(index: number, nodes: readonly Uint8Array[]): number {
    const known = this.#previous;
    if (known === undefined) return TREE_DEPTH;
    // At least level 1, so that the leaf itself is always hashed and compared.
    let level = 1;
    for (let [a, b] = [Math.floor(index / 2), Math.floor(known.index / 2)]; a !== b; level++)
      [a, b] = [Math.floor(a / 2), Math.floor(b / 2)];
    for (let entry = 0; entry <= entryAt(level); entry++) {
      if (!equalBytes(nodes[entry]!, known.nodes[entry]!)) return TREE_DEPTH;
    }
    return level;
  }
}

/** The `n`-th hash of a path, counted from 1: the node at level `n`. */
function nodeHash(hashes: Uint8Array, n: number): Uint8Array {
  return hashes.subarray((n - 1) * HASH_BYTES, n * HASH_BYTES);
}
