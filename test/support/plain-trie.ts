import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import type { ProofItemJson } from '../../src/accumulator/proof-shape.js';
import { TREE_DEPTH, ZERO_HASH } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { compareBytes, concatBytes, equalBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { BranchProof, StepTrie, TrieStep } from '../../src/state/trace.js';

interface PlainLeaf extends LeafOpening {
  readonly value: Uint8Array;
}

type Step<Type extends TrieStep['type']> = Extract<TrieStep, { type: Type }>;

/**
 * The twin of a trie: a list of leaves by position, searched from end to end, every node hashed from its leaves when it is
 * asked for. It follows docs/spec/state-trie.md 2 to 4 and shares nothing with the tries under test. Steps have branches
 * and sub roots only when `traced`; otherwise these are empty.
 */
export class PlainTrie implements StepTrie {
  readonly hasher: Hasher;
  readonly traced: boolean;
  /** How often a key was inserted, changed or removed, here and in the tries it was copied from. */
  operations = 0;
  private leaves: (PlainLeaf | undefined)[];
  private root: Uint8Array | undefined;

  constructor(hasher: Hasher, traced: boolean, leaves?: readonly (PlainLeaf | undefined)[]) {
    this.hasher = hasher;
    this.traced = traced;
    const ends = [headLeaf(), tailLeaf(hasher.scheme)];
    this.leaves = leaves === undefined ? ends.map((leaf) => ({ ...leaf, value: ZERO_HASH })) : [...leaves];
  }

  copy(): PlainTrie {
    const copy = new PlainTrie(this.hasher, this.traced, this.leaves);
    copy.operations = this.operations;
    return copy;
  }

  get nextFreeNode(): number {
    return this.leaves.length;
  }

  get subRoot(): Uint8Array {
    this.root ??= this.node(TREE_DEPTH, 0);
    return this.root;
  }

  get topRoot(): Uint8Array {
    return this.hasher.hash(encodeTop(this.hasher.scheme, this.nextFreeNode, this.subRoot));
  }

  /** Value of a key, undefined when it is absent. */
  value(hkey: Uint8Array): Uint8Array | undefined {
    return this.leaves.find((leaf) => leaf && equalBytes(leaf.hkey, hkey))?.value;
  }

  positionOf(hkey: Uint8Array): number {
    return this.leaves.findIndex((leaf) => leaf && equalBytes(leaf.hkey, hkey));
  }

  read(hkey: Uint8Array): Step<'read'> | Step<'read-zero'> {
    const now = { nextFreeNode: this.nextFreeNode, subRoot: this.shownRoot() };
    const position = this.positionOf(hkey);
    if (position >= 0) {
      const leaf = this.leaves[position]!;
      return { type: 'read', ...now, leaf: opening(leaf), proof: this.branch(position), value: leaf.value };
    }
    const [left, right] = this.neighbours(hkey);
    return {
      type: 'read-zero',
      ...now,
      leftLeaf: opening(this.leaves[left]!),
      rightLeaf: opening(this.leaves[right]!),
      leftProof: this.branch(left),
      rightProof: this.branch(right),
    };
  }

  put({ hkey, hval, value }: Pick<PlainLeaf, 'hkey' | 'hval' | 'value'>): Step<'insert'> | Step<'update'> {
    this.operations++;
    const oldSubRoot = this.shownRoot();
    const present = this.positionOf(hkey);
    if (present >= 0) {
      const old = this.leaves[present]!;
      const proof = this.write(present, { ...old, hval, value });
      const after = { newNextFreeNode: this.nextFreeNode, oldSubRoot, newSubRoot: this.shownRoot() };
      const values = { oldValue: old.value, newValue: value };
      return { type: 'update', ...after, proof, ...values, priorUpdatedLeaf: opening(old) };
    }
    const position = this.nextFreeNode;
    const [left, right] = this.neighbours(hkey);
    const [leftLeaf, rightLeaf] = [this.leaves[left]!, this.leaves[right]!];
    const leftProof = this.write(left, { ...leftLeaf, nextLeaf: position });
    const newProof = this.write(position, { prevLeaf: left, nextLeaf: right, hkey, hval, value });
    const rightProof = this.write(right, { ...rightLeaf, prevLeaf: position });
    return {
      type: 'insert',
      newNextFreeNode: this.nextFreeNode,
      oldSubRoot,
      newSubRoot: this.shownRoot(),
      leftProof,
      newProof,
      rightProof,
      value,
      priorLeftLeaf: opening(leftLeaf),
      priorRightLeaf: opening(rightLeaf),
    };
  }

  remove(hkey: Uint8Array): Step<'delete'> {
    this.operations++;
    const position = this.positionOf(hkey);
    const removed = this.leaves[position];
    if (removed === undefined) throw new Error('a key to be removed is not there');
    const [left, right] = [this.leaves[removed.prevLeaf]!, this.leaves[removed.nextLeaf]!];
    const oldSubRoot = this.shownRoot();
    const leftProof = this.write(removed.prevLeaf, { ...left, nextLeaf: removed.nextLeaf });
    const deletedProof = this.write(position, undefined);
    const rightProof = this.write(removed.nextLeaf, { ...right, prevLeaf: removed.prevLeaf });
    return {
      type: 'delete',
      newNextFreeNode: this.nextFreeNode,
      oldSubRoot,
      newSubRoot: this.shownRoot(),
      leftProof,
      deletedProof,
      rightProof,
      priorLeftLeaf: opening(left),
      priorDeletedLeaf: opening(removed),
      priorRightLeaf: opening(right),
      deletedValue: removed.value,
    };
  }

  /** Item of `linea_getProof` (docs/spec/state-trie.md 7.3). @param key - as it is repeated */
  prove(hkey: Uint8Array, key: Uint8Array): ProofItemJson {
    const item = (position: number) => ({
      value: bytesToHex(this.leaves[position]!.value),
      proofRelatedNodes: this.preimages(position).map(bytesToHex),
    });
    const position = this.positionOf(hkey);
    if (position >= 0) return { key: bytesToHex(key), leafIndex: position, proof: item(position) };
    const [left, right] = this.neighbours(hkey);
    return {
      key: bytesToHex(key),
      leftLeafIndex: left,
      rightLeafIndex: right,
      leftProof: item(left),
      rightProof: item(right),
    };
  }

  private neighbours(hkey: Uint8Array): [number, number] {
    let left = 0;
    for (const [position, leaf] of this.leaves.entries()) {
      if (leaf === undefined || compareBytes(leaf.hkey, hkey) > 0) continue;
      if (compareBytes(leaf.hkey, this.leaves[left]!.hkey) > 0) left = position;
    }
    return [left, this.leaves[left]!.nextLeaf];
  }

  private write(position: number, leaf: PlainLeaf | undefined): BranchProof {
    const proof = this.branch(position);
    this.leaves[position] = leaf;
    this.root = undefined;
    return proof;
  }

  private shownRoot(): Uint8Array {
    return this.traced ? this.subRoot : ZERO_HASH;
  }

  private branch(leafIndex: number): BranchProof {
    const levels = this.traced ? TREE_DEPTH : 0;
    return {
      leafIndex,
      siblings: Array.from({ length: levels }, (_, level) => this.node(level, beside(leafIndex, level))),
    };
  }

  private preimages(position: number): Uint8Array[] {
    const { scheme } = this.hasher;
    const nodes = [encodeTop(scheme, this.nextFreeNode, this.subRoot)];
    for (let level = TREE_DEPTH - 1; level > 0; level--) nodes.push(this.children(level, beside(position, level)));
    const [sibling, own] = [this.leaves[beside(position, 0)], this.leaves[position]!];
    return [...nodes, sibling === undefined ? ZERO_HASH : encodeLeaf(scheme, sibling), encodeLeaf(scheme, own)];
  }

  private node(level: number, index: number): Uint8Array {
    if (index * 2 ** level >= this.leaves.length) return this.empty(level);
    if (level > 0) return this.hasher.hash(this.children(level, index));
    const leaf = this.leaves[index];
    return leaf === undefined ? ZERO_HASH : this.hasher.hash(encodeLeaf(this.hasher.scheme, leaf));
  }

  private children(level: number, index: number): Uint8Array {
    return concatBytes(this.node(level - 1, 2 * index), this.node(level - 1, 2 * index + 1));
  }

  private empty(level: number): Uint8Array {
    let empties = emptySubtrees.get(this.hasher);
    if (empties === undefined) {
      empties = [ZERO_HASH];
      for (let l = 1; l <= TREE_DEPTH; l++)
        empties.push(this.hasher.hash(concatBytes(empties[l - 1]!, empties[l - 1]!)));
      emptySubtrees.set(this.hasher, empties);
    }
    return empties[level]!;
  }
}

const emptySubtrees = new WeakMap<Hasher, Uint8Array[]>();

const beside = (position: number, level: number): number => {
  const index = Math.floor(position / 2 ** level);
  return index % 2 === 0 ? index + 1 : index - 1;
};

function opening({ prevLeaf, nextLeaf, hkey, hval }: LeafOpening): LeafOpening {
  return { prevLeaf, nextLeaf, hkey, hval };
}
