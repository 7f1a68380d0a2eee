import { emptyHashes } from '../../accumulator/empty-subtrees.js';
import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../accumulator/leaf-opening.js';
import {
  FIRST_FREE_NODE,
  HEAD_POSITION,
  MAX_LEAVES,
  schemeFormat,
  TAIL_POSITION,
  TREE_DEPTH,
  ZERO_HASH,
} from '../../accumulator/scheme.js';
import { PlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { copyBytes, equalBytes, isZeroBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import {
  type BranchProof,
  type DeleteStep,
  type InsertStep,
  type ReadStep,
  type ReadZeroStep,
  type StepTrie,
  traceValueHash,
  type UpdateStep,
} from '../trace.js';
import { BROKEN_LIST, type PlacedOpening, WitnessLeaves } from './witness-leaves.js';
import { conflict, leafId, WitnessNodes } from './witness-nodes.js';

/** Empty tries, one per hasher, to be copied. */
const emptyTries = new WeakMap<Hasher, WitnessTrie>();

/**
 * A trie of which only some branches are known, from proofs or traces. It can read and change what they cover, and
 * refuses everything else. A refused operation changes nothing.
 *
 * Everything that is added is checked against the sub root, so a trie opened with a trusted root holds only proved
 * data.
 *
 * @source docs/spec/state-trie.md 2 to 4
 */
export class WitnessTrie implements StepTrie {
  private constructor(
    private readonly hasher: Hasher,
    private free: number,
    private readonly nodes: WitnessNodes,
    private readonly leaves = new WitnessLeaves(),
  ) {}

  /**
   * A trie of which only the root is known.
   *
   * @param nextFreeNode - at the same block as the sub root
   * @param subRoot - 32 bytes
   */
  static open(hasher: Hasher, nextFreeNode: number, subRoot: Uint8Array): WitnessTrie {
    return new WitnessTrie(hasher, nextFreeNode, WitnessNodes.under(hasher, copyBytes(subRoot)));
  }

  /** A complete empty trie: head, tail, and all other positions empty. */
  static empty(hasher: Hasher): WitnessTrie {
    let whole = emptyTries.get(hasher);
    if (whole === undefined) {
      const nodes = WitnessNodes.under(hasher, emptyHashes(hasher)[TREE_DEPTH]!);
      nodes.expandEmpty(HEAD_POSITION);
      whole = new WitnessTrie(hasher, FIRST_FREE_NODE, nodes);
      whole.write(HEAD_POSITION, headLeaf(), ZERO_HASH);
      whole.write(TAIL_POSITION, tailLeaf(hasher.scheme), ZERO_HASH);
      emptyTries.set(hasher, whole);
    }
    return whole.copy();
  }

  /** An independent copy. */
  copy(): WitnessTrie {
    return new WitnessTrie(this.hasher, this.free, this.nodes.copy(), this.leaves.copy());
  }

  get nextFreeNode(): number {
    return this.free;
  }

  get subRoot(): Uint8Array {
    return this.nodes.subRoot;
  }

  get topRoot(): Uint8Array {
    return this.hasher.hash(encodeTop(this.hasher.scheme, this.free, this.subRoot));
  }

  /** The leaf at a position; undefined if none is known. */
  leafAt(position: number): LeafOpening | undefined {
    return this.leaves.at(position)?.opening;
  }

  /** Hash of a known node, by the numbers of `WitnessNodes`. */
  nodeHash(id: number): Uint8Array | undefined {
    return this.nodes.hashOf(id);
  }

  /**
   * Adds a branch of the current trie. Known parts are compared. A refused branch adds nothing.
   *
   * @param leaf - undefined for an unused position
   * @param siblings - 40 hashes from level 0 up
   * @param value - compact form, if known; for head and tail 32 zero bytes
   * @throws PlumblineError `WITNESS_CONFLICT` for a branch that does not lead to the root, a value that does not match
   *   its hash, a key that is already at another position; `HASH_INPUT_NOT_CANONICAL`
   */
  learn(position: number, leaf: LeafOpening | undefined, siblings: readonly Uint8Array[], value?: Uint8Array): void {
    const known = this.leaves.at(position);
    if (leaf !== undefined) {
      const elsewhere = this.leaves.positionOf(leaf.hkey) ?? position;
      if (elsewhere !== position) throw conflict(position, `its key is already at leaf position ${elsewhere}`);
      const isValid =
        value === undefined || (known?.value ? equalBytes(known.value, value) : this.isValueOf(leaf, value));
      if (!isValid) throw conflict(position, 'its value does not match the hash in the leaf');
    }
    this.nodes.learn(position, this.leafHash(leaf), siblings);
    if (leaf === undefined) return;
    this.leaves.set(position, { opening: copyLeaf(leaf), value: known?.value ?? (value && copyBytes(value)) });
  }

  /**
   * Adds the value of a known leaf.
   *
   * @returns false if the value does not belong to that leaf, or no leaf is known there
   */
  learnValue(position: number, value: Uint8Array): boolean {
    const known = this.leaves.at(position);
    if (known === undefined) return false;
    if (known.value !== undefined) return equalBytes(known.value, value);
    if (!this.isValueOf(known.opening, value)) return false;
    this.leaves.set(position, { opening: known.opening, value: copyBytes(value) });
    return true;
  }

  /** @throws PlumblineError `WITNESS_MISSING` */
  read(hkey: Uint8Array): ReadStep | ReadZeroStep {
    const found = this.leaves.find(hkey);
    const now = { nextFreeNode: this.free, subRoot: this.subRoot };
    if ('left' in found) {
      const { left, right } = found;
      return {
        type: 'read-zero',
        ...now,
        leftLeaf: left.opening,
        rightLeaf: right.opening,
        leftProof: this.branch(left.position),
        rightProof: this.branch(right.position),
      };
    }
    const { position, opening } = found;
    return { type: 'read', ...now, leaf: opening, proof: this.branch(position), value: this.leaves.valueAt(position) };
  }

  /**
   * @throws PlumblineError `WITNESS_MISSING`; `OUT_OF_RANGE` when the trie is full, and for the keys of head and tail;
   *   `HASH_INPUT_NOT_CANONICAL`
   */
  put(content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array }): InsertStep | UpdateStep {
    this.requireNotReserved(content.hkey);
    const own = { hkey: copyBytes(content.hkey), hval: copyBytes(content.hval), value: copyBytes(content.value) };
    const found = this.leaves.find(own.hkey);
    return 'left' in found ? this.insert(own, found.left, found.right) : this.update(own, found);
  }

  /**
   * @throws PlumblineError `WITNESS_MISSING`; `STATE_MISMATCH` if the key is not in the trie; `OUT_OF_RANGE` as `put`
   */
  remove(hkey: Uint8Array): DeleteStep {
    this.requireNotReserved(hkey);
    const found = this.leaves.find(hkey);
    if ('left' in found) {
      const details = { what: `key of hash ${bytesToHex(hkey)}`, expected: 'none', actual: 'to be removed' };
      throw new PlumblineError('STATE_MISMATCH', 'a key to remove is not in the trie', details);
    }
    const { position, opening } = found;
    const deletedValue = this.leaves.valueAt(position);
    const left = this.leaves.openingAt(opening.prevLeaf);
    const right = this.leaves.openingAt(opening.nextLeaf);
    if (left.nextLeaf !== position || right.prevLeaf !== position) throw conflict(position, BROKEN_LIST);
    const oldSubRoot = this.subRoot;
    const leftProof = this.write(opening.prevLeaf, { ...left, nextLeaf: opening.nextLeaf });
    const deletedProof = this.write(position, undefined);
    const rightProof = this.write(opening.nextLeaf, { ...right, prevLeaf: opening.prevLeaf });
    return {
      type: 'delete',
      newNextFreeNode: this.free,
      oldSubRoot,
      newSubRoot: this.subRoot,
      deletedValue,
      leftProof,
      deletedProof,
      rightProof,
      priorLeftLeaf: left,
      priorDeletedLeaf: opening,
      priorRightLeaf: right,
    };
  }

  private update(content: { hval: Uint8Array; value: Uint8Array }, { position, opening }: PlacedOpening): UpdateStep {
    const oldValue = this.leaves.valueAt(position);
    const oldSubRoot = this.subRoot;
    const proof = this.write(position, { ...opening, hval: content.hval }, content.value);
    return {
      type: 'update',
      newNextFreeNode: this.free,
      oldSubRoot,
      newSubRoot: this.subRoot,
      proof,
      oldValue,
      newValue: content.value,
      priorUpdatedLeaf: opening,
    };
  }

  private insert(
    { hkey, hval, value }: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array },
    left: PlacedOpening,
    right: PlacedOpening,
  ): InsertStep {
    const position = this.free;
    if (position >= MAX_LEAVES) {
      const details = { what: 'leaf position', value: String(position), limit: '2^40 - 1' };
      throw new PlumblineError('OUT_OF_RANGE', 'the trie is full', details);
    }
    this.nodes.expandEmpty(position);
    if (!isZeroBytes(this.nodes.hashOf(leafId(position))!))
      throw conflict(position, 'the next free position is in use');
    const opening = { prevLeaf: left.position, nextLeaf: right.position, hkey, hval };
    // Hashed before the first write, because it may not be canonical.
    const leafHash = this.leafHash(opening);
    const oldSubRoot = this.subRoot;
    const leftProof = this.write(left.position, { ...left.opening, nextLeaf: position });
    const newProof = this.write(position, opening, value, leafHash);
    const rightProof = this.write(right.position, { ...right.opening, prevLeaf: position });
    this.free = position + 1;
    return {
      type: 'insert',
      newNextFreeNode: this.free,
      oldSubRoot,
      newSubRoot: this.subRoot,
      leftProof,
      newProof,
      rightProof,
      value,
      priorLeftLeaf: left.opening,
      priorRightLeaf: right.opening,
    };
  }

  private branch(position: number): BranchProof {
    return { leafIndex: position, siblings: this.nodes.siblings(position) };
  }

  /**
   * Writes one leaf at a known position; undefined empties it.
   *
   * @returns its branch, which is the same before and after
   */
  private write(
    position: number,
    leaf: LeafOpening | undefined,
    value?: Uint8Array,
    leafHash: Uint8Array = this.leafHash(leaf),
  ): BranchProof {
    const proof = this.branch(position);
    this.nodes.write(position, leafHash);
    if (leaf === undefined) this.leaves.remove(position);
    else this.leaves.set(position, { opening: leaf, value: value ?? this.leaves.at(position)?.value });
    return proof;
  }

  private leafHash(leaf: LeafOpening | undefined): Uint8Array {
    return leaf === undefined ? ZERO_HASH : this.hasher.hash(encodeLeaf(this.hasher.scheme, leaf));
  }

  private requireNotReserved(hkey: Uint8Array): void {
    if (!this.isReserved(hkey)) return;
    const details = { what: 'hkey', value: 'that of head or tail', limit: 'between the keys of head and tail' };
    throw new PlumblineError('OUT_OF_RANGE', `${details.what} is ${details.value}`, details);
  }

  /** Whether this is the key of head or tail. */
  private isReserved(hkey: Uint8Array): boolean {
    return isZeroBytes(hkey) || equalBytes(hkey, schemeFormat(this.hasher.scheme).tailKey);
  }

  private isValueOf({ hkey, hval }: LeafOpening, value: Uint8Array): boolean {
    if (this.isReserved(hkey)) return isZeroBytes(hval) && isZeroBytes(value);
    return equalBytes(hval, traceValueHash(this.hasher, value));
  }
}

function copyLeaf({ prevLeaf, nextLeaf, hkey, hval }: LeafOpening): LeafOpening {
  return { prevLeaf, nextLeaf, hkey: copyBytes(hkey), hval: copyBytes(hval) };
}
