import { expect } from 'vitest';
import { encodeLeaf, encodeTop } from '../../src/accumulator/leaf-opening.js';
import { ZERO_HASH } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { PastTries, readTriesBefore, type TrieKernel, type TriesBefore } from '../../src/kernel/trie.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { commitDrafts, emptyTree, type Tree, TreeDraft } from '../support/plain-tree/tree.js';
import { proveKey } from '../support/plain-tree/tree-proof.js';

interface Twin {
  readonly handle: number;
  draft: TreeDraft;
  tree: Tree;
}

interface Mark {
  readonly trees: readonly Tree[];
  /** Undo records taken since, oldest first, and the same with replaced hashes, to look back. */
  readonly records: Uint8Array[];
  readonly past: TriesBefore[];
}

/** Several tries held twice: in the kernel, and in the persistent trees of the first engine, hashed by a given hasher. */
export class TriePair {
  readonly kernel: TrieKernel;
  readonly hasher: Hasher;
  readonly twins: readonly Twin[];
  readonly marks: Mark[] = [];

  constructor(kernel: TrieKernel, hasher: Hasher, tries: number) {
    this.kernel = kernel;
    this.hasher = hasher;
    const empty = emptyTree(hasher);
    this.twins = Array.from({ length: tries }, () => ({
      handle: kernel.createTrie(),
      draft: new TreeDraft(empty),
      tree: empty,
    }));
  }

  put(trie: number, hkey: Uint8Array, hval: Uint8Array): void {
    const { handle, draft } = this.twins[trie]!;
    const { effect, leafIndex } = draft.put({ hkey, hval, value: ZERO_HASH });
    expect(this.kernel.put(handle, hkey, hval)).toEqual({ effect, position: leafIndex });
  }

  remove(trie: number, hkey: Uint8Array): void {
    const { handle, draft } = this.twins[trie]!;
    const { effect, leafIndex } = draft.remove(hkey);
    const expected = leafIndex === undefined ? { effect } : { effect, position: leafIndex };
    expect(this.kernel.remove(handle, hkey)).toEqual(expected);
  }

  find(trie: number, hkey: Uint8Array): void {
    const { handle, draft } = this.twins[trie]!;
    const found = draft.find(hkey);
    const expected = found.present
      ? { present: true, position: found.at.position }
      : { present: false, left: found.left.position, right: found.right.position };
    expect(this.kernel.find(handle, hkey)).toEqual(expected);
  }

  commit(): void {
    this.kernel.commit();
    const trees = commitDrafts(
      this.hasher,
      this.twins.map(({ draft }) => draft),
    );
    for (const [i, twin] of this.twins.entries()) this.#turnTo(twin, trees[i]!);
    this.#keepRecords(this.marks);
    this.compareRoots();
  }

  #keepRecords(marks: readonly Mark[]): void {
    const record = this.kernel.takeUndo();
    const before = readTriesBefore(record, this.kernel.takeNodes());
    for (const { records, past } of marks) {
      records.push(record);
      past.push(before);
    }
  }

  mark(): void {
    this.marks.push({ trees: this.twins.map(({ tree }) => tree), records: [], past: [] });
  }

  /** Back to a mark, which stays. Later marks are forgotten. */
  rollback(mark: number): void {
    const { trees, records, past } = this.marks[mark]!;
    this.marks.length = mark + 1;
    for (const record of records.toReversed()) this.kernel.undo(record);
    this.kernel.commit();
    for (const [i, twin] of this.twins.entries()) this.#turnTo(twin, trees[i]!);
    // What was put back changes things once more, for the marks before.
    records.length = 0;
    past.length = 0;
    this.#keepRecords(this.marks.slice(0, mark));
    this.compareRoots();
  }

  /** Back to the last commit whose record was taken, by what the kernel itself keeps. @param hashed - commit first */
  takeBack(hashed: boolean): void {
    if (hashed) this.kernel.commit();
    this.kernel.takeBack();
    for (const twin of this.twins) this.#turnTo(twin, twin.tree);
    this.compareRoots();
    expect([this.kernel.takeUndo().length, this.kernel.takeNodes().length]).toEqual([0, 0]);
  }

  compareRoots(): void {
    for (const { handle, tree } of this.twins) {
      const { kernel } = this;
      expect(kernel.nextFreeNode(handle)).toBe(tree.nextFreeNode);
      expect(bytesToHex(kernel.subRoot(handle))).toBe(bytesToHex(tree.subRoot));
      expect(bytesToHex(kernel.topRoot(handle))).toBe(bytesToHex(tree.topRoot));
    }
  }

  /** The proof of a key, or of its absence, with the positions it stands at, and the siblings of those. */
  compareProof(trie: number, hkey: Uint8Array): void {
    const { handle, tree } = this.twins[trie]!;
    const item = proveKey(this.hasher, tree, hkey, hkey);
    const sides =
      'proof' in item
        ? [{ position: item.leafIndex, proof: item.proof }]
        : [
            { position: item.leftLeafIndex, proof: item.leftProof },
            { position: item.rightLeafIndex, proof: item.rightProof },
          ];
    this.find(trie, hkey);
    for (const { position, proof } of sides) {
      const preimages = this.kernel.gatherProof(handle, position);
      expect(preimages.map(bytesToHex)).toEqual(proof.proofRelatedNodes);
      const siblings = preimages.slice(1, 41).map((preimage) => {
        return preimage.length === 32 ? preimage : this.hasher.hash(preimage);
      });
      expect(this.kernel.siblings(handle, position).map(bytesToHex)).toEqual(siblings.reverse().map(bytesToHex));
    }
  }

  /** The proof of a key as it was at a mark, from what was kept since; the kernel hashes nothing for it. */
  comparePastProof(mark: number, trie: number, hkey: Uint8Array): void {
    const { trees, past } = this.marks[mark]!;
    const { handle } = this.twins[trie]!;
    const { scheme } = this.hasher;
    const item = proveKey(this.hasher, trees[trie]!, hkey, hkey);
    const before = this.kernel.statistics().compressions;
    const tries = new PastTries(this.kernel, past);
    const nodes = (position: number) => {
      const branch = tries.branch(handle, position)!;
      const beside = branch.beside === undefined ? ZERO_HASH : encodeLeaf(scheme, branch.beside);
      const top = encodeTop(scheme, branch.nextFreeNode, branch.subRoot);
      return [top, ...branch.pairs, beside, encodeLeaf(scheme, branch.leaf)].map(bytesToHex);
    };
    const found = tries.find(handle, hkey);
    if (found.present) {
      expect(item).toMatchObject({ leafIndex: found.position, proof: { proofRelatedNodes: nodes(found.position) } });
    } else {
      const { left, right } = found;
      expect(item).toMatchObject({ leftLeafIndex: left, leftProof: { proofRelatedNodes: nodes(left) } });
      expect(item).toMatchObject({ rightLeafIndex: right, rightProof: { proofRelatedNodes: nodes(right) } });
    }
    expect(this.kernel.statistics().compressions).toBe(before);
  }

  #turnTo(twin: Twin, tree: Tree): void {
    twin.tree = tree;
    twin.draft = new TreeDraft(tree);
  }
}

/** A pool of digests to be keys or values; about a third share their first words, so that the order needs the last ones. */
export function digestPool(hasher: Hasher, count: number, random: (bound: number) => number): Uint8Array[] {
  const pool: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const digest = hasher.hash(Uint8Array.of(...new Uint8Array(30), random(128), random(256)));
    const shared = random(3) === 0 && pool.length > 0 ? pool[random(pool.length)]!.slice() : digest;
    // A last word below that of either modulus keeps the digest canonical.
    shared.set([random(16), random(256), random(256), random(256)], 28);
    pool.push(shared);
  }
  return pool;
}

/** One random sequence of `steps` operations on a pair, with commits, proofs, marks and rollbacks in between. */
export function playRandomly(
  pair: TriePair,
  pool: readonly Uint8Array[],
  steps: number,
  random: (n: number) => number,
) {
  const any = () => pool[random(pool.length)]!;
  pair.mark();
  for (let step = 0; step < steps; step++) {
    const trie = random(pair.twins.length);
    const kind = random(17);
    if (kind < 7) pair.put(trie, any(), any());
    else if (kind < 10) pair.remove(trie, any());
    else if (kind === 10) pair.find(trie, any());
    else if (kind < 14) {
      pair.commit();
      pair.compareProof(trie, any());
      pair.comparePastProof(random(pair.marks.length), trie, any());
    } else if (kind === 14) {
      pair.commit();
      pair.mark();
    } else if (kind === 15) {
      pair.commit();
      pair.rollback(random(pair.marks.length));
      pair.compareProof(trie, any());
    } else {
      pair.takeBack(random(2) === 0);
      pair.compareProof(trie, any());
    }
  }
  pair.commit();
  for (const trie of pair.twins.keys()) for (let i = 0; i < 4; i++) pair.compareProof(trie, any());
  pair.rollback(0);
}
