/**
 * A trie of which only some branches are known: the witness of a block, or of an answer of `linea_getProof`. Every known node has led
 * to the root once. A write changes what is known, and what it would need beyond that is `WITNESS_MISSING`.
 *
 * `WitnessNodes` has the hashes of nodes, `WitnessLeaves` the leaves that are known, found by position and by key.
 */

import { emptyHashes } from '../accumulator/empty-subtrees.js';
import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../accumulator/leaf-opening.js';
import {
  FIRST_FREE_NODE,
  HEAD_POSITION,
  MAX_LEAVES,
  schemeFormat,
  TAIL_POSITION,
  TREE_DEPTH,
  ZERO_HASH,
} from '../accumulator/scheme.js';
import { PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { compareBytes, copyBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import {
  type BranchProof,
  type DeleteStep,
  type InsertStep,
  type ReadStep,
  type ReadZeroStep,
  type StepTrie,
  traceValueHash,
  type UpdateStep,
} from './trace.js';

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

const BROKEN_LIST = 'its neighbours in the list of leaves do not link back to it';

interface KnownLeaf {
  readonly opening: LeafOpening;
  /** Compact form; undefined if only its hash is known. */
  readonly value: Uint8Array | undefined;
}

/** A leaf with its position. */
interface PlacedOpening {
  readonly position: number;
  readonly opening: LeafOpening;
}

/** The known leaves of a trie, by position and in key order. Unknown ones throw `WITNESS_MISSING`. */
class WitnessLeaves {
  constructor(
    private readonly leaves = new Map<number, KnownLeaf>(),
    private index?: KeyIndex | undefined,
  ) {}

  copy(): WitnessLeaves {
    return new WitnessLeaves(new Map(this.leaves), this.index);
  }

  at(position: number): KnownLeaf | undefined {
    return this.leaves.get(position);
  }

  openingAt(position: number): LeafOpening {
    const leaf = this.leaves.get(position);
    if (leaf !== undefined) return leaf.opening;
    throw new PlumblineError('WITNESS_MISSING', `leaf ${position} is not known; add its branch`, {
      part: 'leaf',
      position,
    });
  }

  valueAt(position: number): Uint8Array {
    const value = this.leaves.get(position)?.value;
    if (value !== undefined) return value;
    throw new PlumblineError('WITNESS_MISSING', `the value of leaf ${position} is not known; add it`, {
      part: 'value',
      position,
    });
  }

  /** Position of a key, if its leaf is known. */
  positionOf(hkey: Uint8Array): number | undefined {
    const floor = floorEntry(this.index, hkey);
    return floor !== undefined && equalBytes(floor.hkey, hkey) ? floor.position : undefined;
  }

  /** Sets a leaf. The key at a position must not change. */
  set(position: number, leaf: KnownLeaf): void {
    if (!this.leaves.has(position)) this.index = withKey(this.index, { hkey: leaf.opening.hkey, position });
    this.leaves.set(position, leaf);
  }

  remove(position: number): void {
    const leaf = this.leaves.get(position);
    if (leaf === undefined) return;
    this.leaves.delete(position);
    this.index = withoutKey(this.index, leaf.opening.hkey);
  }

  /** The leaf of a key, or the two leaves around it if it is absent. */
  find(hkey: Uint8Array): PlacedOpening | { left: PlacedOpening; right: PlacedOpening } {
    const floor = floorEntry(this.index, hkey);
    if (floor === undefined) throw missingKey(hkey);
    const { position } = floor;
    const opening = this.openingAt(position);
    if (equalBytes(floor.hkey, hkey)) return { position, opening };
    const right = this.leaves.get(opening.nextLeaf)?.opening;
    if (right === undefined) throw missingKey(hkey);
    // In an intact list, a right leaf that is not above the key would have been the floor.
    if (right.prevLeaf !== position || compareBytes(right.hkey, hkey) <= 0) throw conflict(position, BROKEN_LIST);
    return { left: { position, opening }, right: { position: opening.nextLeaf, opening: right } };
  }
}

function missingKey(hkey: Uint8Array): PlumblineError<'WITNESS_MISSING'> {
  const name = bytesToHex(hkey);
  const message = `neither the leaf of key hash ${name} nor both its neighbours are known`;
  return new PlumblineError('WITNESS_MISSING', message, { part: 'leaf', hkey: name });
}

/**
 * Ordered index from `hkey` to leaf position: a trie over the 64 half bytes of the key. It is immutable: `withKey` and
 * `withoutKey` return a new index that shares every unchanged node, so past blocks keep theirs without copies. Keys are
 * digests, so the trie is balanced: about log16(n) nodes on a path.
 */
export type KeyIndex = IndexEntry | IndexBranch;

/** One key (32 bytes) and the position of its leaf. */
interface IndexEntry {
  readonly hkey: Uint8Array;
  readonly position: number;
}

/** Subtrees by the next half byte, 16 entries. */
type IndexBranch = readonly (KeyIndex | undefined)[];

function isBranch(node: KeyIndex): node is IndexBranch {
  return Array.isArray(node);
}

function halfByte(hkey: Uint8Array, depth: number): number {
  const byte = hkey[depth >> 1]!;
  return depth % 2 === 0 ? byte >> 4 : byte & 15;
}

function largest(node: KeyIndex): IndexEntry {
  return isBranch(node) ? largest(node.findLast((child) => child !== undefined)!) : node;
}

/** The entry with the largest key that is at most `hkey` (32 bytes). */
export function floorEntry(index: KeyIndex | undefined, hkey: Uint8Array, depth = 0): IndexEntry | undefined {
  if (index === undefined) return undefined;
  if (!isBranch(index)) return compareBytes(index.hkey, hkey) <= 0 ? index : undefined;
  const place = halfByte(hkey, depth);
  const inside = floorEntry(index[place], hkey, depth + 1);
  if (inside !== undefined) return inside;
  for (let lower = place - 1; lower >= 0; lower--) {
    const child = index[lower];
    if (child !== undefined) return largest(child);
  }
  return undefined;
}

/** The index with an entry added, or replaced if the key exists. */
export function withKey(index: KeyIndex | undefined, entry: IndexEntry, depth = 0): KeyIndex {
  if (index === undefined) return entry;
  if (!isBranch(index)) {
    if (equalBytes(index.hkey, entry.hkey)) return entry;
    const split = new Array<KeyIndex | undefined>(16).fill(undefined);
    split[halfByte(index.hkey, depth)] = index;
    return withKey(split, entry, depth);
  }
  const place = halfByte(entry.hkey, depth);
  return index.with(place, withKey(index[place], entry, depth + 1));
}

/** The index without a key; the same index if the key does not exist. */
export function withoutKey(index: KeyIndex | undefined, hkey: Uint8Array, depth = 0): KeyIndex | undefined {
  if (index === undefined) return undefined;
  if (!isBranch(index)) return equalBytes(index.hkey, hkey) ? undefined : index;
  const place = halfByte(hkey, depth);
  const child = withoutKey(index[place], hkey, depth + 1);
  if (child === index[place]) return index;
  const changed = index.with(place, child);
  const left = changed.filter((other) => other !== undefined);
  // A single entry needs no branch above it. So a branch always has two keys, and one is left here.
  return left.length === 1 && !isBranch(left[0]!) ? left[0] : changed;
}

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
