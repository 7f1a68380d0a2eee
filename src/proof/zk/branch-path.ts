import { emptySiblings } from '../../accumulator/empty-subtrees.js';
import { MAX_LEAVES, schemeFormat, TREE_DEPTH } from '../../accumulator/scheme.js';
import { isPlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { equalBytes, joinBytes } from '../../primitives/bytes.js';
import { Refusal } from '../verdict.js';
import type { BranchAnswer } from './linea-answer.js';
import { strictHash } from './strict-hash.js';

/** Bytes of a digest. */
export const HASH_BYTES = 32;
const NODE_BYTES = 64;

/** Entry of `proofRelatedNodes` that describes the sibling at a level. */
export const entryAt = (level: number): number => TREE_DEPTH - level;

/** A branch, and its claimed leaf position. */
export interface PlacedBranch {
  readonly index: number;
  readonly branch: BranchAnswer;
}

/**
 * Node hashes of branches above their leaves, 32 bytes each, from level 1 to `levels`. Several branches at once are faster,
 * because their hashes share SIMD lanes. Sibling preimages of empty subtrees are looked up, not hashed.
 *
 * Throws a `Refusal` for a word that is not canonical.
 *
 * @param levels - 1 to 40
 */
export function climbBranches(hasher: Hasher, branches: readonly PlacedBranch[], levels: number): Uint8Array[] {
  const { leafBytes } = schemeFormat(hasher.scheme);
  const empty = emptySiblings(hasher);
  const openings = new HashBatch(leafBytes);
  const preimages = new HashBatch(NODE_BYTES);
  const leaves = new Uint8Array(branches.length * HASH_BYTES);
  const height = levels * HASH_BYTES;
  const siblings = new Uint8Array(branches.length * height);
  for (const [i, { branch }] of branches.entries()) {
    const { nodes } = branch;
    siblings.set(empty.hashes.subarray(0, height), i * height);
    openings.add(branch, 41, leaves, i * HASH_BYTES);
    if (nodes[40]!.length === leafBytes) openings.add(branch, 40, siblings, i * height);
    for (let level = 1; level < levels; level++) {
      if (isSame(nodes[entryAt(level)]!, empty.preimages[level - 1]!.bytes)) continue;
      preimages.add(branch, entryAt(level), siblings, i * height + level * HASH_BYTES);
    }
  }
  openings.hash(hasher);
  preimages.hash(hasher);
  const paths = hasher.climb(
    leaves,
    branches.map(({ index }) => index),
    siblings,
  );
  return branches.map((_, i) => paths.subarray(i * height, (i + 1) * height));
}

/** Paths from leaf to sub root that were computed together, before the branches are checked one by one. */
export type ClimbedPaths = ReadonlyMap<BranchAnswer, { readonly index: number; readonly path: Uint8Array }>;

/**
 * Computes the paths of several branches together. If one of them is irregular, it returns none: the check of that branch then
 * reports the failure.
 */
export function climbAhead(hasher: Hasher, branches: readonly PlacedBranch[]): ClimbedPaths {
  if (branches.length < 2 || branches.some(({ index }) => index < 0 || index >= MAX_LEAVES)) return new Map();
  try {
    const paths = climbBranches(hasher, branches, TREE_DEPTH);
    return new Map(branches.map(({ index, branch }, i) => [branch, { index, path: paths[i]! }]));
  } catch (error) {
    if (error instanceof Refusal) return new Map();
    throw error;
  }
}

/** `readBranch` returns the known preimages themselves, so most comparisons are of references. */
function isSame(node: Uint8Array, known: Uint8Array): boolean {
  return node === known || equalBytes(node, known);
}

/** Entries of one length to hash together, with the target of each hash. */
class HashBatch {
  private readonly entries: { branch: BranchAnswer; entry: number; target: Uint8Array; offset: number }[] = [];

  constructor(private readonly length: number) {}

  add(branch: BranchAnswer, entry: number, target: Uint8Array, offset: number): void {
    this.entries.push({ branch, entry, target, offset });
  }

  /** Hashes all entries. If one is not canonical, they are hashed one by one to find it. */
  hash(hasher: Hasher): void {
    const { entries, length } = this;
    if (entries.length === 0) return;
    let digests: Uint8Array;
    try {
      digests = hasher.hashMany(joinBytes(entries.map(({ branch, entry }) => branch.nodes[entry]!)), length);
    } catch (error) {
      if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
      for (const { branch, entry } of entries) {
        strictHash(hasher, branch.nodes[entry]!, `${branch.at}.proofRelatedNodes[${entry}]`);
      }
      throw error;
    }
    for (let i = 0; i < entries.length; i++) {
      const { target, offset } = entries[i]!;
      target.set(digests.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES), offset);
    }
  }
}
