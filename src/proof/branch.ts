import { emptyHashes } from '../accumulator/empty-subtrees.js';
import { decodeIndex, decodeLeaf, type LeafOpening } from '../accumulator/leaf-opening.js';
import { MAX_LEAVES, schemeFormat, TREE_DEPTH, ZERO_HASH } from '../accumulator/scheme.js';
import { isPlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { equalBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import type { BranchAnswer } from './linea-answer.js';
import { strictHash } from './strict-hash.js';
import { Refusal } from './verdict.js';

/** A leaf shown to be in the tree. */
export interface VerifiedLeaf {
  readonly index: number;
  readonly leaf: LeafOpening;
  readonly nextFreeNode: number;
}

/** A branch that was verified, with the node hashes on its way up: entry `l` is at level `l`. */
interface KnownBranch {
  readonly index: number;
  readonly nodes: readonly Uint8Array[];
  readonly pathHashes: readonly Uint8Array[];
  readonly nextFreeNode: number;
}

const NODE_BYTES = 64;
/** Entry of `proofRelatedNodes` that describes the sibling at a level. */
const entryAt = (level: number) => TREE_DEPTH - level;

/**
 * Checks branches against the top root of one tree (spec/state-trie.md 8, "branch check").
 *
 * Two things are looked up instead of hashed. A sibling preimage of two empty subtrees is compared with the known ones.
 * And where two branches meet, the second stops climbing if it lists the same nodes above as the one before: neighbours
 * of an absent key and slots of one account share most of their upper nodes.
 */
export class TreeVerifier {
  readonly #hasher: Hasher;
  readonly #root: Uint8Array;
  #previous: KnownBranch | undefined;

  /** @param root - top root, 32 bytes */
  constructor(hasher: Hasher, root: Uint8Array) {
    this.#hasher = hasher;
    this.#root = root;
  }

  /** The leaf at `index`. Throws a `Refusal` when the branch does not lead from it to the root. */
  verify(index: number, indexAt: string, branch: BranchAnswer): VerifiedLeaf {
    if (index < 0 || index >= MAX_LEAVES) {
      throw new Refusal('INDEX_OUT_OF_RANGE', indexAt, `leaf index ${index} is not below 2^40`);
    }
    const { nodes } = branch;
    const at = (entry: number) => `${branch.at}.proofRelatedNodes[${entry}]`;
    const nextFreeNode = this.#top(nodes[0]!, at(0));
    const leaf = this.#leaf(nodes[41]!, at(41), nextFreeNode);
    if (nodes[40]!.length !== ZERO_HASH.length) this.#leaf(nodes[40]!, at(40), nextFreeNode);

    const meeting = this.#meeting(index, nodes);
    const siblings = this.#siblings(nodes, meeting, at);
    const pathHashes = this.#climb(index, strictHash(this.#hasher, nodes[41]!, at(41)), siblings, meeting);
    const subRoot = nodes[0]!.subarray(schemeFormat(this.#hasher.scheme).indexBytes);
    if (!equalBytes(pathHashes[meeting]!, meeting === TREE_DEPTH ? subRoot : this.#previous!.pathHashes[meeting]!)) {
      throw new Refusal(
        'PATH_MISMATCH',
        `${branch.at}.proofRelatedNodes`,
        'leaf and siblings do not give the sub root',
      );
    }
    if (index >= nextFreeNode) {
      throw new Refusal('INDEX_OUT_OF_RANGE', indexAt, `leaf index ${index} is not below nextFreeNode ${nextFreeNode}`);
    }
    for (let level = meeting + 1; level <= TREE_DEPTH; level++) pathHashes.push(this.#previous!.pathHashes[level]!);
    this.#previous = { index, nodes, pathHashes, nextFreeNode };
    return { index, leaf, nextFreeNode };
  }

  /** nextFreeNode of the top node, whose hash is the root. */
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

  /** Level from which on this branch repeats the one before: 40 when it does not, or there is none. */
  #meeting(index: number, nodes: readonly Uint8Array[]): number {
    const known = this.#previous;
    if (known === undefined) return TREE_DEPTH;
    let level = 0;
    for (let [a, b] = [index, known.index]; a !== b; level++) [a, b] = [Math.floor(a / 2), Math.floor(b / 2)];
    for (let entry = 0; entry <= entryAt(level); entry++) {
      if (!equalBytes(nodes[entry]!, known.nodes[entry]!)) return TREE_DEPTH;
    }
    return level;
  }

  /** Hashes of the siblings of levels 0 to `levels - 1`. */
  #siblings(nodes: readonly Uint8Array[], levels: number, at: (entry: number) => string): Uint8Array[] {
    const hasher = this.#hasher;
    const empty = emptyHashes(hasher);
    const hashes: Uint8Array[] = [];
    const unknown: number[] = [];
    for (let level = 0; level < levels; level++) {
      const node = nodes[entryAt(level)]!;
      if (level === 0)
        hashes.push(node.length === ZERO_HASH.length ? ZERO_HASH : strictHash(hasher, node, at(entryAt(0))));
      else if (isPair(node, empty[level - 1]!)) hashes.push(empty[level]!);
      else {
        unknown.push(level);
        hashes.push(ZERO_HASH);
      }
    }
    if (unknown.length === 0) return hashes;
    const inputs = new Uint8Array(unknown.length * NODE_BYTES);
    for (let i = 0; i < unknown.length; i++) inputs.set(nodes[entryAt(unknown[i]!)]!, i * NODE_BYTES);
    const digests = hashAll(hasher, inputs, (i) => at(entryAt(unknown[i]!)));
    for (let i = 0; i < unknown.length; i++) hashes[unknown[i]!] = digests.subarray(32 * i, 32 * i + 32);
    return hashes;
  }

  /** Node hashes of levels 0 to `levels` above the leaf hash; bit `l` of the index says on which side the path is. */
  #climb(index: number, leafHash: Uint8Array, siblings: readonly Uint8Array[], levels: number): Uint8Array[] {
    const path = [leafHash];
    const node = new Uint8Array(NODE_BYTES);
    let position = index;
    for (let level = 0; level < levels; level++) {
      const right = position % 2;
      node.set(path[level]!, right === 1 ? 32 : 0);
      node.set(siblings[level]!, right === 1 ? 0 : 32);
      path.push(this.#hasher.hash(node));
      position = Math.floor(position / 2);
    }
    return path;
  }
}

function isPair(node: Uint8Array, half: Uint8Array): boolean {
  for (let i = 0; i < 32; i++) if (node[i] !== half[i] || node[32 + i] !== half[i]) return false;
  return true;
}

/** Digests of nodes laid end to end. When one is not canonical they are tried one by one, to name it. */
function hashAll(hasher: Hasher, inputs: Uint8Array, at: (i: number) => string): Uint8Array {
  try {
    return hasher.hashMany(inputs, NODE_BYTES);
  } catch (error) {
    if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
    for (let i = 0; i * NODE_BYTES < inputs.length; i++) {
      strictHash(hasher, inputs.subarray(i * NODE_BYTES, (i + 1) * NODE_BYTES), at(i));
    }
    throw error;
  }
}
